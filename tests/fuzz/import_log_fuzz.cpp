#include "analysis/import/import_log.hpp"

#include <cstdint>
#include <cstdlib>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "tests/analysis/import/read_text.hpp"

/// What the reader of logs owes for any bytes: an Error with a message, or a run that can be written,
/// reported and read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Run run = analysis::import_log(text, "input", {});
    if (run.ranks.size() > 4096) return 0;  // slow to write, not wrong
    (void)analysis::report(run, "text");
    if (run_from_json_text(to_json_text(run), "saved").rows.size() != run.rows.size()) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
