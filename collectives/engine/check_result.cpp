#include "collectives/engine/check_result.hpp"

namespace collbench::collectives {

void CheckResult::add(const std::optional<Mismatch>& found) {
  if (!found) return;
  if (wrong_elements_ == 0) {
    first_index_ = found->first_index;
    found->expected.copy(expected_.data(), expected_.size() - 1);
    found->got.copy(got_.data(), got_.size() - 1);
  }
  wrong_elements_ += found->count;
}

MeasuredBlock CheckResult::gathered(launch::Ranks& ranks, const std::vector<std::string>& hosts) const {
  MeasuredBlock block;
  block.wrong_elements = 0;
  std::array<double, 1> any{wrong_elements_ > 0 ? 1.0 : 0.0};
  ranks.reduce(any, launch::RankAggregate::maximum);
  if (any[0] == 0) return block;
  const std::vector<CheckResult> all = launch::all_gather_values(ranks, *this);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].wrong_elements_ == 0) continue;
    block.wrong.push_back({.rank = ranks.number_in_run(static_cast<int>(rank)),
                           .host = hosts[rank],
                           .count = all[rank].wrong_elements_,
                           .first_index = all[rank].first_index_,
                           .expected = all[rank].expected_.data(),
                           .got = all[rank].got_.data()});
    *block.wrong_elements += block.wrong.back().count;
  }
  return block;
}

}  // namespace collbench::collectives
