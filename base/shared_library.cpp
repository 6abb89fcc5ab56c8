#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <stdexcept>

namespace collbench {

SharedLibrary::SharedLibrary(const std::string& name, SymbolScope scope)
    : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_NODELETE |
                                         (scope == SymbolScope::everybody ? RTLD_GLOBAL : RTLD_LOCAL))),
      path_(name) {
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
                                           std::string& unsupported_reason, SymbolScope scope) {
  unsupported_reason.clear();
  for (const std::string& name : names) {
    try {
      return SharedLibrary(name, scope);
    } catch (const std::runtime_error& error) {
      if (unsupported_reason.empty()) unsupported_reason = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace collbench
