#include "launch/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/text_input.hpp"

namespace collbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kPage = 4096;

/// How the two versions name the same things (Linux, Documentation/admin-guide: cgroup-v1/memory.rst,
/// cgroup-v2.rst). Version 1 counts the groups below as well in what begins with "total_".
struct Naming {
  std::string_view limit;
  std::string_view used;
  std::string_view cached_prefix;
};
constexpr Naming kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};
constexpr Naming kVersion2{"memory.max", "memory.current", ""};

/// One hierarchy of groups, as far as this process sees it.
struct Hierarchy {
  Naming naming;
  fs::path mounted_at;
  fs::path top;    ///< the group that is seen there: in a container its own, or one above
  fs::path group;  ///< of this process
};

/// The number in a file; none for "max", and where there is none. Version 1 writes no limit as the largest
/// multiple of a page below 2^63.
std::uint64_t bytes_in(const fs::path& path) {
  const auto bytes = parse_integer(trim(first_line(path)), 0, std::numeric_limits<std::int64_t>::max());
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 2;
  return bytes && *bytes < kUnlimited ? static_cast<std::uint64_t>(*bytes) : kNoLimit;
}

/// In bytes; active and inactive ones.
std::uint64_t cached_files(const fs::path& folder, std::string_view prefix) {
  std::ifstream file(folder / "memory.stat");
  std::uint64_t cached = 0;
  std::string key;
  std::uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (!key.starts_with(prefix)) continue;
    const std::string_view kind = std::string_view(key).substr(prefix.size());
    if (kind == "inactive_file" || kind == "active_file") cached += bytes;
  }
  return cached;
}

/// What the group of `folder` has left of its own limit.
std::uint64_t left_in(const fs::path& folder, const Naming& naming) {
  const std::uint64_t limit = bytes_in(folder / naming.limit);
  const std::uint64_t current = bytes_in(folder / naming.used);
  if (limit == kNoLimit || current == kNoLimit) return limit;
  const std::uint64_t used = current - std::min(current, cached_files(folder, naming.cached_prefix));
  return limit > used ? std::max(limit - used, kPage) : kPage;
}

/// proc_pid_mountinfo(5): a blank in a path is \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    const bool is_octal = text[i] == '\\' && digits.size() == 3 &&
                          digits.find_first_not_of("01234567") == std::string_view::npos;
    plain += is_octal ? static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0')
                      : text[i];
    if (is_octal) i += digits.size();
  }
  return plain;
}

bool has_word(std::string_view list, std::string_view word) {
  const std::vector<std::string> words = split_cells(list, ',');
  return std::ranges::find(words, word) != words.end();
}

/// This process's group, by a line "ID:CONTROLLERS:PATH" of /proc/self/cgroup; version 2 has no controllers.
std::optional<fs::path> own_group(const fs::path& root, bool is_version_2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (is_version_2 ? controllers.empty() : has_word(controllers, "memory")) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// proc_pid_mountinfo(5): "36 35 98:0 ROOT MOUNTED_AT OPTIONS FIELDS… - TYPE SOURCE OPTIONS".
std::vector<Hierarchy> hierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split_words(line);
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const bool is_version_2 = dash[1] == "cgroup2";
    if (!is_version_2 && (dash[1] != "cgroup" || !has_word(dash[3], "memory"))) continue;
    const auto group = own_group(root, is_version_2);
    if (!group) continue;
    found.push_back({is_version_2 ? kVersion2 : kVersion1,
                     root / fs::path(unescaped(words[4])).relative_path(), unescaped(words[3]), *group});
  }
  return found;
}

/// Of the process's group and all above it that are seen.
std::uint64_t least_left(const Hierarchy& hierarchy) {
  const fs::path below = hierarchy.group.lexically_relative(hierarchy.top);
  // Outside of what is mounted, as in a container without a namespace of its own: what is mounted is its own.
  const bool is_seen = !below.empty() && *below.begin() != "..";
  fs::path folder = (is_seen ? hierarchy.mounted_at / below : hierarchy.mounted_at).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  std::uint64_t least = kNoLimit;
  while (true) {
    least = std::min(least, left_in(folder, hierarchy.naming));
    if (folder == hierarchy.mounted_at || !folder.has_relative_path()) return least;
    folder = folder.parent_path();
    // Version 1 may be told to count each group by itself; Linux 5.11 and later have no such groups.
    if (first_line(folder / "memory.use_hierarchy") == "0") return least;
  }
}

std::uint64_t host_bytes(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

}  // namespace

std::uint64_t available_memory_bytes(const fs::path& root) {
  std::uint64_t least = host_bytes(root);
  for (const Hierarchy& hierarchy : hierarchies(root)) {
    const std::uint64_t left = least_left(hierarchy);
    if (left != kNoLimit) least = least == 0 ? left : std::min(least, left);
  }
  return least;
}

}  // namespace collbench::launch
