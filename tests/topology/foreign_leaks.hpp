#pragma once

// g++ says it by __SANITIZE_ADDRESS__, clang by __has_feature, which g++ does not know.
#if defined(__SANITIZE_ADDRESS__)
#define COLLBENCH_FINDS_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COLLBENCH_FINDS_LEAKS
#endif
#endif

/// While one of these lives, the leak sanitizer looks away. hwloc's PCI plugin asks libpciaccess, which never
/// frees some 1 KB of its own, and both are unloaded before a suppression could name them.
#ifdef COLLBENCH_FINDS_LEAKS
#include <sanitizer/lsan_interface.h>
using ForeignLeaks = __lsan::ScopedDisabler;
#else
struct [[maybe_unused]] ForeignLeaks {};
#endif
