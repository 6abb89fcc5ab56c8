#pragma once
#include "analysis/report_text.hpp"
#include "src/run_options.hpp"

namespace collbench {

/// Whether something for a person's eyes is shown, given what `automatic` would be.
[[nodiscard]] bool decide(When when, bool automatic);

/// As wide as the terminal that stdout ends in, and coloured when a person looks there and NO_COLOR is not
/// set. `launched`: under mpirun it is mpirun's stdout that counts.
[[nodiscard]] TextOptions text_options(When colour, bool launched);

}  // namespace collbench
