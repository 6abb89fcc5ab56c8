#pragma once

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
/// the others.
#if defined(COLLBENCH_ADDRESS_SANITIZER) || defined(COLLBENCH_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace collbench
