#include "collectives/nccl/nccl_settings.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace collbench {

std::optional<std::string> setting_in(std::string_view file, std::string_view name) {
  while (!file.empty()) {
    const std::string_view line = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(file.size(), line.size() + 1));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return std::string(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::vector<std::string> nccl_setting_files() {
  std::vector<std::string> files;
  const char* const named = std::getenv("NCCL_CONF_FILE");
  if (named != nullptr && *named != '\0') {
    files.emplace_back(named);
  } else if (const passwd* const user = ::getpwuid(::getuid())) {
    files.push_back(std::string(user->pw_dir) + "/.nccl.conf");
  }
  files.emplace_back("/etc/nccl.conf");
  return files;
}

std::optional<std::string> nccl_setting(const std::string& name) {
  if (const char* const value = std::getenv(name.c_str())) return value;
  for (const std::string& path : nccl_setting_files()) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (auto value = setting_in(text, name)) return value;
  }
  return std::nullopt;
}

}  // namespace collbench
