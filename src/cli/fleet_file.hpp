#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/doctor/fleet_check.hpp"

namespace collbench::program {

inline constexpr std::size_t kMaxFleetBytes = std::size_t{1} << 20U;

/// Hosts and what is expected of them, as TOML: `hosts` and keys of fleet_keys() at the top, of all; a
/// section such as ["node[03-04]"] of these hosts, over what stands at the top. Of a list any will do. Throws
/// Error (usage) with the line: for what is no TOML, unknown keys, values of another kind, a host that is
/// named in two sections, one of which nothing is expected, more than 100,000 hosts, and a file without any.
[[nodiscard]] std::vector<analysis::ExpectedHost> parse_fleet_file(std::string_view text,
                                                                   const std::string& file);

}  // namespace collbench::program
