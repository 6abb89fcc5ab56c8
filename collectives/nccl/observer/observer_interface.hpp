#pragma once
#include <array>

// What the observer library (observer/) offers to the process that NCCL loads it into: to watch what NCCL
// says of the operations that are issued meanwhile. Plain data, because the library is another object than
// the program.

namespace collbench::collectives {

/// Raised whenever anything below changes: a library of another number is refused.
inline constexpr int kObserverInterface = 1;

/// NCCL's names in lower case, which are those of --algo and --proto; cut to what fits, and ended by a zero.
using ObservedAlgorithm = std::array<char, 24>;
using ObservedProtocol = std::array<char, 8>;

/// What NCCL expects of one algorithm and protocol.
struct ObservedCost {
  ObservedAlgorithm algorithm{};
  ObservedProtocol protocol{};
  double microseconds = 0;
};

/// Of the last operation that was watched.
struct Observation {
  ObservedAlgorithm algorithm{};  ///< empty: NCCL did not say; "p2p" for sends and receives
  ObservedProtocol protocol{};
  int channels = 0;  ///< 0: NCCL did not say; before 2.27 the most that it may take
  int costs = 0;     ///< of `cost`, those that NCCL has
  std::array<ObservedCost, 32> cost{};
};

/// The versions of its interfaces by which NCCL has loaded the library; 0: it has not.
struct ObserverLoaded {
  int profiler = 0;
  int tuner = 0;
};

/// int collbench_observer_interface(): kObserverInterface of the library.
using ObserverInterface = int();
/// void collbench_observer_loaded(ObserverLoaded*).
using ObserverLoadedCall = void(ObserverLoaded*);
/// void collbench_observer_begin(): watch from now on. Until then, and after the end, NCCL is asked for
/// nothing, and what it tells is not looked at.
using ObserverBegin = void();
/// void collbench_observer_end(Observation*): no longer; and what was seen.
using ObserverEnd = void(Observation*);

}  // namespace collbench::collectives
