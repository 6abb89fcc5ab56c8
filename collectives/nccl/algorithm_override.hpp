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
struct ForcedChoice {
  std::string algorithm;
  std::string protocol;

  bool operator==(const ForcedChoice&) const = default;
};

/// The names for `operation` beside "auto": "ring", "ring/ll128", "auto/simple". Empty for an operation that
/// NCCL builds of sends and receives.
[[nodiscard]] std::vector<std::string> forced_names(OperationId operation);

/// What to set for one of forced_names; none for "auto" and for what is no such name.
[[nodiscard]] std::optional<ForcedChoice> forced_choice(std::string_view name);

/// Sets the variables while it lives, and puts back what was there.
class ForcedEnvironment {
 public:
  explicit ForcedEnvironment(const ForcedChoice& choice);
  ForcedEnvironment(const ForcedEnvironment&) = delete;
  ForcedEnvironment& operator=(const ForcedEnvironment&) = delete;
  ForcedEnvironment(ForcedEnvironment&&) = delete;
  ForcedEnvironment& operator=(ForcedEnvironment&&) = delete;
  ~ForcedEnvironment();

 private:
  struct Before {
    const char* variable;
    std::optional<std::string> value;
  };
  std::vector<Before> before_;
};

}  // namespace collbench::collectives
