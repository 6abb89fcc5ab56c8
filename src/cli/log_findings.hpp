#pragma once
#include <string>
#include <vector>

namespace collbench::program {

/// What the checks of `collbench doctor` find in logs, below what else is said of them: as text for a person,
/// else as notes.
void append_log_findings(const std::vector<std::string>& files, bool for_a_person, std::string& text,
                         std::vector<std::string>& notes);

}  // namespace collbench::program
