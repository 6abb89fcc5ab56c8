#include <cstdint>
#include <cstdlib>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "base/record/run_stream.hpp"

/// What the readers of a run's record and of its stream owe for any bytes: an Error with a message, or a run
/// that can be reported in every format, saved and read back as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Run run = run_from_text(text, "input");
    if (run.ranks.size() > 4096) return 0;  // slow to write, not wrong
    for (const char* format : {"text", "csv", "md"}) (void)analysis::report(run, format);
    const std::string saved = to_json_text(run);
    if (to_json_text(run_from_json_text(saved, "saved")) != saved) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
