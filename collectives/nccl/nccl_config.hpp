#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "collectives/nccl/loader/nccl_library.hpp"

// What a user sets of the configuration that each communicator is made with (--nccl-config, -x). NCCL's own
// environment variables, where they are set, win over it.

namespace collbench::collectives {

/// A field that a benchmark may want to set, by NCCL's name.
struct NcclConfigField {
  std::string_view name;  ///< "maxCTAs"
  int since;              ///< the first NCCL that has it
  int NcclConfig::* member;
  int minimum;  ///< that NCCL accepts
  int maximum;
};

/// Whether a timed call waits for the one before: nccl-tests' -z, by its numbers.
enum class CallWait {
  none,             ///< as many as fit are issued, and the GPU runs one after the other
  with_all,         ///< each is over on all ranks before the next is issued, and that is in its time
  alone,            ///< each is over on its rank before that issues the next
  then_for_others,  ///< likewise, and over on all ranks, which is not timed: they begin together
};

[[nodiscard]] std::span<const NcclConfigField> nccl_config_fields();

/// By the names of nccl_config_fields.
using NcclConfigValues = std::map<std::string, int>;

/// "maxCTAs=8,nvlinkCentricSched=1", of `option`. Throws Error (usage) for what is no such list, and for
/// values that NCCL refuses.
[[nodiscard]] NcclConfigValues parse_nccl_settings(std::string_view text, const std::string& option);

/// The CTAPolicy that nccl-tests' -x means: 0 or default, 1 or efficiency, 2 or zero. Throws Error (usage).
[[nodiscard]] int parse_cta_policy(std::string_view text, const std::string& option);

/// Throws Error (not_here) that names a setting which NCCL of `version` does not have: it would ignore it.
void require_settings(const NcclConfigValues& settings, int version);

/// "CTAPolicy=1, maxCTAs=8"; empty where nothing is set.
[[nodiscard]] std::string settings_text(const NcclConfigValues& settings);

/// What a communicator is made with; settings of nccl_config_fields only.
[[nodiscard]] NcclConfig nccl_config(const NcclConfigValues& settings);

}  // namespace collbench::collectives
