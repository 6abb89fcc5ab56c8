#include "base/environment.hpp"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

namespace collbench {
namespace {

struct EnvironmentList {
  std::string changed;  // the entry that is this list's own
  std::vector<char*> entries;
};

}  // namespace

void change_variable(const std::string& name, const std::optional<std::string>& value) {
  static std::mutex mutex;
  // Never freed, since readers may keep what is replaced; reachable, so that nobody calls it a leak.
  static auto& lists = *new std::deque<EnvironmentList>;  // NOLINT(cppcoreguidelines-owning-memory)
  const std::lock_guard turn(mutex);
  const std::string start = name + "=";
  EnvironmentList& list = lists.emplace_back();
  for (char** each = environ; each != nullptr && *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with(start)) list.entries.push_back(*each);
  if (value) {
    list.changed = start + *value;
    list.entries.push_back(list.changed.data());
  }
  list.entries.push_back(nullptr);
  std::atomic_ref<char**>(environ).store(list.entries.data(), std::memory_order_release);
}

}  // namespace collbench
