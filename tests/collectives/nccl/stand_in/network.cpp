#include "tests/collectives/nccl/stand_in/network.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/collectives/nccl/stand_in/injected_fault.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"

namespace collbench::collectives {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The plugin that this process was told of.
struct Plugin {
  std::mutex mutex;
  std::string file = variable("NCCL_NET_PLUGIN");  // as a path; empty: none, or forgotten
  void* library = nullptr;
  long references = stand_in_number("NCCL_NET_PLUGIN_REF_COUNT", stand_in_version() / 100 == 227 ? 1 : 0);
};

Plugin& plugin() {
  static Plugin named;
  return named;
}

/// The name that a plugin's table of functions begins with; null where it is none for networks.
const char* name_in(void* library) {
  const auto* const table = static_cast<const char* const*>(::dlsym(library, "ncclNetPlugin_v10"));
  return table == nullptr ? nullptr : *table;
}

}  // namespace

void stand_in_log(const std::string& text) {
  if (variable("NCCL_DEBUG") != "INFO") return;
  static std::FILE* const log = std::fopen(variable("NCCL_DEBUG_FILE").c_str(), "w");
  if (log == nullptr) return;
  std::fprintf(log, "host:%d:%d [0] %s\n", ::getpid(), ::getpid(), text.c_str());
  std::fflush(log);
}

Network::Network() {
  Plugin& named = plugin();
  const std::lock_guard lock(named.mutex);
  if (named.library == nullptr && !named.file.empty())
    named.library = ::dlopen(named.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const name = named.library == nullptr ? nullptr : name_in(named.library);
  by_plugin_ = name != nullptr;
  if (by_plugin_) ++named.references;
  stand_in_log(std::string("NCCL INFO Using network ") + (by_plugin_ ? name : "Socket"));
}

Network::~Network() {
  Plugin& named = plugin();
  const std::lock_guard lock(named.mutex);
  if (!by_plugin_ || --named.references > 0) return;
  ::dlclose(named.library);
  named.library = nullptr;
  if (stand_in_version() >= 22800 && stand_in_version() < 23000) named.file.clear();
}

}  // namespace collbench::collectives
