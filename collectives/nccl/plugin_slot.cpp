#include "collectives/nccl/plugin_slot.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/shared_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

namespace collbench::collectives {

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

namespace {

constexpr int kNewestSymbol = 9;  // some more than NCCL 2.30 has, which ends at 6

bool loads_and_offers(const std::string& name, const std::string& symbol) {
  std::string unsupported_reason;
  const auto library = first_library({name}, unsupported_reason);
  if (!library) return false;
  if (symbol.empty()) return true;
  for (int version = 1; version <= kNewestSymbol; ++version) {
    void (*any)() = nullptr;
    library->find(any, (symbol + std::to_string(version)).c_str());
    if (any != nullptr) return true;
  }
  return false;
}

/// The files that NCCL tries for the network: NCCL_NET_PLUGIN is a list of names or paths.
std::vector<std::string> network_plugins(const PluginSearchEnvironment& environment) {
  std::istringstream names(environment.setting("NCCL_NET_PLUGIN").value_or(""));
  std::vector<std::string> files;
  for (std::string name; std::getline(names, name, ',');) {
    files.push_back(name);
    files.push_back(fmt::format("libnccl-net-{}.so", name));
  }
  if (files.empty()) files.emplace_back("libnccl-net.so");
  return files;
}

}  // namespace

PluginSearchEnvironment plugin_search_environment() {
  return {.setting = nccl_setting, .offers = loads_and_offers};
}

std::string plugin_slot_conflict(const PluginSlot& slot, int version,
                                 const PluginSearchEnvironment& environment) {
  if (version < slot.first_nccl) {
    return fmt::format("NCCL {} does not give a {} the data that is needed; {}.{} is the first that does",
                       nccl_version_text(version), slot.name, slot.first_nccl / 10000,
                       slot.first_nccl / 100 % 100);
  }
  const auto taken = [&](const std::string& by) {
    return fmt::format("the {} slot is taken: {}", slot.name, by);
  };
  if (const auto named = environment.setting(slot.variable)) {
    return taken(fmt::format("{}={}", slot.variable, *named));
  }
  if (environment.offers(slot.file, "")) return taken(slot.file);
  for (const std::string& file : network_plugins(environment)) {
    if (environment.offers(file, slot.symbol))
      return taken(fmt::format("{}, a network plugin that is also a {}", file, slot.name));
  }
  return {};
}

}  // namespace collbench::collectives
