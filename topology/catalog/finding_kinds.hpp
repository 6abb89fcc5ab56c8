#pragma once
#include <span>
#include <string_view>

namespace collbench::topology {

/// How bad a difference is, the worst first.
enum class Severity {
  broken,    ///< something that should work does not work at all
  degraded,  ///< it works, and slower than it should
  differs,   ///< may change what is measured; which of the two is right is not known
  cosmetic,  ///< changes no measurement
};

/// "broken", "degraded", "differs", "cosmetic".
[[nodiscard]] std::string_view severity_name(Severity severity);

/// One kind of difference between two machines.
struct FindingKind {
  std::string_view code;  ///< never renamed: scripts go by it
  Severity severity;
  std::string_view reason;      ///< why it matters, a sentence
  std::string_view confirm;     ///< the command that would confirm it on the machine
  std::string_view attributes;  ///< what it is read from, blank-separated: "GPU.mig NIC.firmware"
};

/// All of them, as docs/notes/findings.md lists them.
[[nodiscard]] std::span<const FindingKind> finding_kinds();

/// By code. Throws std::out_of_range for a code that is not listed.
[[nodiscard]] const FindingKind& finding_kind(std::string_view code);

/// Whether `attribute` is one of those that findings of the kind are read from.
[[nodiscard]] bool reads(const FindingKind& kind, std::string_view attribute);

}  // namespace collbench::topology
