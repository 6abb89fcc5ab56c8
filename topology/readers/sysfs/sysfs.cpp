#include "topology/readers/sysfs/sysfs.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/text_input.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxText = 4096;  // a page, the most that a file of sysfs gives

/// A copy of /sys may hold any bytes, in names too; the kernel's own are printable ASCII.
bool is_plain(const std::string& name) { return excerpt(name, kMaxText) == name; }

}  // namespace

std::optional<std::string> sysfs_text(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  // Some files answer EINVAL when read (speed of a port that is down): that is no text either.
  if (!in || !std::getline(in, line)) return std::nullopt;
  const std::string_view text = trim(line);
  if (text.empty()) return std::nullopt;
  return excerpt(text, kMaxText);
}

std::optional<int> sysfs_integer(const fs::path& file) {
  const auto value = parse_integer(sysfs_text(file).value_or(""), -(1LL << 31), (1LL << 31) - 1);
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::vector<std::string> sysfs_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder, ignored))
    if (const std::string name = entry.filename(); is_plain(name)) names.push_back(name);
  return names;
}

std::vector<std::string> sysfs_pci_way(const fs::path& device) {
  std::error_code ignored;
  std::vector<std::string> way;
  for (const fs::path& part : fs::weakly_canonical(device, ignored)) {
    const std::string name = part.string();
    if (name.size() < 12 || name.find('.') == std::string::npos) continue;
    if (auto address = canonical_pci_address(name)) way.push_back(std::move(*address));
  }
  return way;
}

std::optional<std::string> sysfs_host_bridge(const fs::path& device) {
  std::error_code ignored;
  for (const fs::path& part : fs::weakly_canonical(device, ignored)) {
    const std::string name = part.string();
    if (name.size() >= 10 && name.substr(0, 3) == "pci" && name.find(':') != std::string::npos &&
        is_plain(name))
      return name.substr(3);
  }
  return std::nullopt;
}

std::optional<std::string> sysfs_link_name(const fs::path& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) return std::nullopt;
  return excerpt(target.filename().string(), kMaxText);
}

Host read_system(const fs::path& sysfs) {
  Host host;
  host.sources.push_back(kSystemReader.source("live"));
  host.name.value = own_host_name();
  host.driver_version.value = sysfs_text(sysfs / "module/nvidia/version");
  return host;
}

constexpr TopologyReader kSystemReader{
    .name = "system",
    .coverage = {.gpus = false, .nics = false, .nvswitches = false},
};

}  // namespace collbench::topology
