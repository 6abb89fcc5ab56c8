#pragma once
#include <cstdlib>

/// Which sanitizer this build has: g++ says it by __SANITIZE_ADDRESS__ and __SANITIZE_THREAD__, clang 19 by
/// __has_feature, which g++ 12 does not know.
#if defined(__SANITIZE_ADDRESS__)
#define COLLBENCH_ADDRESS_SANITIZER
#elif defined(__SANITIZE_THREAD__)
#define COLLBENCH_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COLLBENCH_ADDRESS_SANITIZER
#elif __has_feature(thread_sanitizer)
#define COLLBENCH_THREAD_SANITIZER
#endif
#endif

namespace collbench {

/// Such a build is ten times slower and looks for errors of memory: a share among many draws is counted by
/// the others. scripts/nightly asks for all.
inline bool few_draws() {
#if defined(COLLBENCH_ADDRESS_SANITIZER) || defined(COLLBENCH_THREAD_SANITIZER)
  return std::getenv("COLLBENCH_ALL_DRAWS") == nullptr;  // NOLINT(concurrency-mt-unsafe)
#else
  return false;
#endif
}

}  // namespace collbench
