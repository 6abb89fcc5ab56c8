#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/operation.hpp"

namespace collbench::collectives {

// Algorithms, protocols and CTAs that a user asks for by --algo, --proto and --ctas. NCCL takes them with
// each call from 2.31 on. Older ones read them when a communicator is made, so each choice has one of its
// own.

/// One choice, in NCCL's words.
struct AlgorithmOverride {
  std::string algorithm;  ///< NCCL_ALGO; empty: left to NCCL, or to what the user has set
  std::string protocol;   ///< NCCL_PROTO; likewise
  std::string selection;  ///< both, as ncclCollConfig_t's algSelection has them; empty: left to NCCL
  int ctas = 0;           ///< as many, no fewer and no more; 0: left to NCCL

  bool operator==(const AlgorithmOverride&) const = default;
};

/// How NCCL learns of a choice.
enum class OverrideBy { communicator, call };

/// The names for `operation` beside "auto", without CTAs: "ring", "ring/ll128", "auto/simple". Empty for an
/// operation that NCCL builds of sends and receives.
[[nodiscard]] std::vector<std::string> override_names(OperationId operation, OverrideBy by);

/// Whether `name` is "auto" or one of them, with CTAs or without.
[[nodiscard]] bool has_override(OperationId operation, OverrideBy by, std::string_view name);

/// What to set for one of these names; none for "auto" and for what is no such name.
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
