#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/doctor/checks.hpp"
#include "topology/doctor/log_line.hpp"

namespace collbench::topology {

/// nccl_messages.txt; its blocks without the noise are log_message_checks() of checks.hpp.
[[nodiscard]] std::string_view nccl_messages_text();

/// The versions of NCCL, as NCCL_VERSION_CODE, all of whose wordings are in it.
inline constexpr int kFirstKnownNccl = 21803;
inline constexpr int kLastKnownNccl = 23199;

/// The code of the block whose wording fits first; "noise"; empty where none fits.
[[nodiscard]] std::string_view message_code(std::string_view line, const LogLine& parts);

/// Of each wording that is looked for in all lines its longest part: a line without any of them fits none.
[[nodiscard]] std::vector<std::string_view> texts_of_all_lines();

/// What all lines of a job's log say.
struct LogMessages {
  /// By code of log_message_checks(): one for each kind of message, and how often, when and on which ranks.
  std::map<std::string_view, std::vector<DoctorObservation>> said;
  std::size_t unknown_lines = 0;  ///< warnings and errors that no wording fits, of those in `said`
  /// Whether every wording of the log's version is known, and it warned of nothing without a known cause:
  /// only then what NCCL did not say is not there.
  bool is_understood = false;
};
[[nodiscard]] LogMessages read_log_messages(const Evidence& evidence);

}  // namespace collbench::topology
