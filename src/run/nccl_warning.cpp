#include "src/run/nccl_warning.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "topology/doctor/nccl_messages.hpp"

namespace collbench::program {

Error with_doctors_advice(const Error& error) {
  if (error.where() != "NCCL") return error;
  // A line for each warning, as in a log.
  std::string log = error.what();
  constexpr std::string_view kBetween = "; NCCL WARN";
  for (std::size_t at = log.find(kBetween); at != std::string::npos; at = log.find(kBetween, at))
    log.replace(at, 2, "\n");
  topology::Evidence evidence;
  static_cast<void>(topology::add_evidence(evidence, log, "NCCL", "nccl-log"));
  const topology::LogMessages messages = topology::read_log_messages(evidence);
  for (const topology::DoctorCheck& check : topology::log_message_checks()) {
    const bool is_cause = check.code != "log-cause-unknown" && check.code != "log-unknown-warning";
    if (!is_cause || !messages.said.contains(check.code)) continue;
    return {error.status(), error.where(), error.what(),
            fmt::format("{} ({}, as collbench doctor calls it: {}); {}", check.fix, check.code, check.reason,
                        error.next_step())};
  }
  return error;
}

}  // namespace collbench::program
