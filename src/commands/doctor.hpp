#pragma once
#include <vector>

#include "analysis/doctor/doctor_report.hpp"

namespace collbench::program {

/// What `collbench doctor` finds on this machine, now.
[[nodiscard]] std::vector<analysis::DoctorPage> doctor_pages_of_this_machine();

}  // namespace collbench::program
