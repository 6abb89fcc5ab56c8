#pragma once
#include <string>

#include "base/files.hpp"
#include "tests/source_folder.hpp"

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

}  // namespace collbench::topology
