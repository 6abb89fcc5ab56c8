#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace collbench {
namespace {

/// Where glibc looks in a part of its search path: below it first, for libraries that are built for this CPU.
/// Those below tls and the like are of glibc before 2.37; each combination of them in this order.
std::vector<std::filesystem::path> searched_below(const std::filesystem::path& part) {
  std::vector<std::filesystem::path> folders{part};
  for (const char* level : {"tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "x86_64"}) {
    for (std::size_t i = 0, n = folders.size(); i < n; ++i) folders.push_back(folders[i] / level);
  }
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    folders.push_back(part / "glibc-hwcaps" / level);
  return folders;
}

}  // namespace

std::string in_current_folder(std::string_view name, std::string_view search_path) {
  if (name.find('/') != std::string_view::npos || search_path.empty()) return {};
  // The loader separates by both (ld.so(8)), and takes an empty part for the current folder.
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find_first_of(":;", begin), search_path.size());
    const std::string_view part = search_path.substr(begin, end - begin);
    begin = end + 1;
    if (part.starts_with('/') || part.starts_with("$ORIGIN") || part.starts_with("${ORIGIN}")) continue;
    for (const std::filesystem::path& folder : searched_below(part)) {
      std::error_code none;
      if (std::filesystem::exists(folder / name, none)) return (folder / name).string();
    }
  }
  return {};
}

std::string why_refused(std::string_view name) {
  const char* const search_path = std::getenv("LD_LIBRARY_PATH");
  const std::string file = in_current_folder(name, search_path == nullptr ? "" : search_path);
  if (file.empty()) return {};
  return fmt::format(
      "{} lies in the current folder, to which an empty or relative part of LD_LIBRARY_PATH leads, and is "
      "not loaded from there: take that part out",
      file);
}

SharedLibrary::SharedLibrary(const std::string& name) : path_(name) {
  if (const std::string why = why_refused(name); !why.empty()) throw std::runtime_error(why);
  handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_ == nullptr) {
    const char* const words = ::dlerror();
    throw std::runtime_error(words == nullptr ? name + " cannot be loaded" : words);
  }
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map->l_name[0] != '\0') {
    path_ = map->l_name;
  }
}

void* SharedLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

std::optional<SharedLibrary> first_library(const std::vector<std::string>& names,
                                           std::string& unsupported_reason) {
  unsupported_reason.clear();
  for (const std::string& name : names) {
    if (const std::string why = why_refused(name); !why.empty()) {
      unsupported_reason = why;
      return std::nullopt;  // and not silently another than the one that is meant
    }
    try {
      return SharedLibrary(name);
    } catch (const std::runtime_error& error) {
      if (unsupported_reason.empty()) unsupported_reason = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace collbench
