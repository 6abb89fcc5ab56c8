#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"

/// What the reader of pairs owes for any bytes: an Error with a message, or finite times between known nodes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const collbench::analysis::BurninRecord record = collbench::analysis::burnin_from_pairs(
        std::string(reinterpret_cast<const char*>(data), size), "input", {});
    for (const auto& time : record.table.times) {
      const int nodes = static_cast<int>(record.table.nodes.size());
      if (!std::isfinite(time.seconds) || time.from >= nodes || time.to >= nodes) std::abort();
    }
  } catch (const collbench::Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
