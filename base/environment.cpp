#include "base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

namespace collbench {

void change_variable(const std::string& name, const std::optional<std::string>& value) {
  static std::mutex mutex;
  const std::lock_guard turn(mutex);
  const std::string start = name + "=";
  std::vector<char*> entries;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with(start)) entries.push_back(*each);
  if (value) entries.push_back(::strdup((start + *value).c_str()));
  entries.push_back(nullptr);
  auto** const list = new char*[entries.size()];  // NOLINT(cppcoreguidelines-owning-memory): never freed
  std::copy(entries.begin(), entries.end(), list);
  std::atomic_ref<char**>(environ).store(list, std::memory_order_release);
}

}  // namespace collbench
