#include "tools/probe/processor/processor_cores.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/text_input.hpp"
#include "topology/graph/cpu_list.hpp"

namespace collbench::collectives {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxCpu = 1'000'000;

/// The first line of a file of sysfs; empty where there is none.
std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The folders of `parent` that are called `prefix` and a number.
std::vector<std::pair<int, fs::path>> numbered(const fs::path& parent, std::string_view prefix) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code failure;
  for (const fs::path& entry : entries_of(parent, failure)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(prefix)) continue;
    if (const auto number = parse_integer(std::string_view(name).substr(prefix.size()), 0, kMaxCpu))
      found.emplace_back(static_cast<int>(*number), entry);
  }
  return found;
}

/// "32768K", "1M" in bytes; 0 for anything else.
std::uint64_t cache_bytes(std::string text) {
  if (text.empty()) return 0;
  const std::uint64_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 0;
  text.pop_back();
  return unit * static_cast<std::uint64_t>(parse_integer(text, 0, kMaxCpu * 1000).value_or(0));
}

/// What /proc/cpuinfo says of `key` first; empty: nothing.
std::string_view value_of(std::string_view cpuinfo, std::string_view key) {
  std::size_t at = cpuinfo.find(key);
  if (at == std::string_view::npos) return {};
  at = cpuinfo.find(": ", at);
  const std::size_t end = cpuinfo.find('\n', at);
  if (at == std::string_view::npos || end == std::string_view::npos) return {};
  return cpuinfo.substr(at + 2, end - at - 2);
}

}  // namespace

std::vector<ProbeCore> cores_with_nodes(const std::vector<int>& cpus, const fs::path& root) {
  std::map<int, int> node_of;
  for (const auto& [node, folder] : numbered(root / "node", "node")) {
    const auto listed = topology::parse_cpu_list(first_line(folder / "cpulist"));
    for (const int cpu : listed.value_or(std::vector<int>())) node_of[cpu] = node;
  }
  std::vector<ProbeCore> cores;
  for (const int cpu : cpus) {
    const auto node = node_of.find(cpu);
    cores.push_back({cpu, node == node_of.end() ? 0 : node->second});
  }
  return cores;
}

std::optional<std::uint64_t> last_level_cache_bytes(const std::vector<ProbeCore>& cores,
                                                    const fs::path& root) {
  std::map<std::string, std::uint64_t> caches;  // by the processors that share one
  for (const ProbeCore& core : cores) {
    const auto indices = numbered(root / "cpu" / ("cpu" + std::to_string(core.cpu)) / "cache", "index");
    const auto last = std::ranges::max_element(indices, [](const auto& a, const auto& b) {
      return first_line(a.second / "level") < first_line(b.second / "level");
    });
    if (last == indices.end()) return std::nullopt;
    caches[first_line(last->second / "shared_cpu_list")] = cache_bytes(first_line(last->second / "size"));
  }
  std::uint64_t sum = 0;
  for (const auto& [sharing, bytes] : caches) sum += bytes;
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::string processor_name(std::string_view cpuinfo) {
  const std::string_view name = value_of(cpuinfo, "model name");
  if (!name.empty()) return std::string(name);
  const std::string implementer(value_of(cpuinfo, "CPU implementer"));
  const std::string part(value_of(cpuinfo, "CPU part"));
  return implementer.empty() || part.empty() ? "" : "Arm implementer " + implementer + ", part " + part;
}

}  // namespace collbench::collectives
