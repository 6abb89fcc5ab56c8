#pragma once
#include <chrono>

#include "base/clock.hpp"

namespace collbench::launch {

/// This machine's, where MPI has none; by any thread.
class SteadySeconds : public Clock {
 public:
  [[nodiscard]] double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace collbench::launch
