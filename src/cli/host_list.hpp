#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench::program {

/// The hosts that a text names: joined by commas, with Slurm's brackets ("node[01-30,35]", as many as four in
/// one name), or @FILE with one such name a line, of which anything behind it ("slots=8") and behind # is
/// left out. Throws Error (usage), naming `option` and the word: for a file that cannot be read or that lacks
/// its @, brackets that say nothing or are more than four, addresses (ranks are told apart by the names that
/// hosts call themselves), a name of more than 253 letters, a host that is there twice, and more than
/// 100,000.
[[nodiscard]] std::vector<std::string> parse_hosts(const std::string& text, std::string_view option);

}  // namespace collbench::program
