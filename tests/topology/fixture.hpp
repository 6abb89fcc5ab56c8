#pragma once
#include <string>
#include <vector>

#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A file of tests/topology/fixtures: one imaginary machine in every format. Two sockets; on each a GPU and a
/// NIC below a PCIe switch; on the second also a card of two functions below another host bridge.
inline std::string fixture(const std::string& name) {
  return read_file(source_folder() + "/tests/topology/fixtures/" + name);
}

/// `text` with the first `what` replaced.
inline std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? "the fixture has no " + what : text.replace(at, what.size(), instead);
}

inline std::vector<std::string> texts(const std::vector<HostNote>& notes) {
  std::vector<std::string> texts;
  for (const HostNote& note : notes) texts.push_back(note.text);
  return texts;
}

}  // namespace collbench::topology
