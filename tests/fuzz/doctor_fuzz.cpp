#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "topology/doctor/checks.hpp"

/// What the doctor owes for any bytes: each check says something, or that nothing is known.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const std::string_view source : {"", "limits", "kernel-log", "lsmod", "status", "ibv_devinfo"}) {
      Evidence evidence;
      add_evidence(evidence, text, "input", source);
      const Diagnosis diagnosis = diagnose(evidence);
      if (diagnosis.findings.size() + diagnosis.healthy.size() + diagnosis.not_known.size() !=
          doctor_checks().size())
        std::abort();
    }
  } catch (const collbench::Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
