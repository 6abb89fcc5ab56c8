#pragma once
#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// Of what others measured, which cannot be measured again: who may have lost kMustBeSeen is not tested, by
/// what its pairs took where the parts of nodes scatter by so much, and by its own rate or its group's.
void hold_back_unseen(const BurninRecord& record, Attribution& found);

}  // namespace collbench::analysis
