#pragma once

#include "tests/sanitizers.hpp"

/// While one of these lives, the leak sanitizer looks away. hwloc's PCI plugin asks libpciaccess, which never
/// frees some 1 KB of its own, and both are unloaded before a suppression could name them.
#ifdef COLLBENCH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
using ForeignLeaks = __lsan::ScopedDisabler;
#else
struct [[maybe_unused]] ForeignLeaks {};
#endif
