#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/operation.hpp"

namespace collbench::collectives {

// Algorithms and protocols that a user asks for by --algo and --proto. NCCL reads them from its environment
// when a communicator is made, so each choice has a communicator of its own.

/// What NCCL_ALGO and NCCL_PROTO are set to; empty: left to NCCL, or to what the user has set.
struct AlgorithmOverride {
  std::string algorithm;
  std::string protocol;

  bool operator==(const AlgorithmOverride&) const = default;
};

/// The names for `operation` beside "auto": "ring", "ring/ll128", "auto/simple". Empty for an operation that
/// NCCL builds of sends and receives.
[[nodiscard]] std::vector<std::string> override_names(OperationId operation);

/// What to set for one of override_names; none for "auto" and for what is no such name.
[[nodiscard]] std::optional<AlgorithmOverride> algorithm_override(std::string_view name);

/// Sets the variables while it lives, and puts back what was there.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const AlgorithmOverride& choice);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  struct Before {
    const char* variable = nullptr;
    std::optional<std::string> value;
  };
  std::vector<Before> before_;
};

}  // namespace collbench::collectives
