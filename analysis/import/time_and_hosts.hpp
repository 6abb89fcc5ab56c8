#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// A time in UTC as people write it ("2026-11-20", "2026-11-20 02:00", "2026-11-20T02:00:00Z"), as records
/// have it ("2026-11-20T02:00:00Z"); none for anything else, such as the 30th of February.
[[nodiscard]] std::optional<std::string> utc_time(std::string_view text);

/// What the user says of when and where an imported run was, where its log does not: `started` as utc_time
/// makes it, `hosts` one for each node in the order of the ranks; empty: nothing is said. Throws Error
/// (usage) where the log says otherwise, and for another number of hosts than nodes. "localhost" is no name,
/// and what is given in its place is noted.
void set_time_and_hosts(Run& run, const std::string& started, const std::vector<std::string>& hosts);

}  // namespace collbench::analysis
