#include "launch/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

namespace collbench::launch {
namespace {

/// The Error that `work` fails with; none when it does not.
std::optional<Error> error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    return usage_error("", "out of memory", "give a smaller -e, or fewer ranks on this host");
  } catch (const std::exception& error) {
    return as_error(error);
  }
  return std::nullopt;
}

/// Throws the error of the lowest rank that has one on all; with `host`, it says which and how many failed.
void throw_lowest(Ranks& ranks, const std::string* host, const std::optional<Error>& mine) {
  // One number over a tree where nobody failed, which is almost always: by rank only where somebody did.
  std::array<double, 1> lowest{static_cast<double>(mine ? ranks.rank() : ranks.size())};
  ranks.reduce(lowest, RankAggregate::minimum);
  if (lowest[0] == ranks.size()) return;
  constexpr int kNone = -1;
  const std::vector<int> statuses = all_gather_values(ranks, mine ? static_cast<int>(mine->status()) : kNone);
  const auto failed = std::ranges::count_if(statuses, [](int s) { return s != kNone; });
  const auto first = static_cast<std::size_t>(lowest[0]);
  const auto text_of_first = [&](const std::string& text) { return ranks.all_gather(text)[first]; };
  const std::string where = text_of_first(mine ? mine->where() : "");
  std::string what = text_of_first(mine ? mine->what() : "");
  const std::string next_step = text_of_first(mine ? mine->next_step() : "");
  const std::string its_host = text_of_first(host == nullptr ? "" : *host);
  if (host != nullptr && std::cmp_less(failed, statuses.size())) {
    what = fmt::format("rank {} on {}: {}", ranks.number_in_run(static_cast<int>(first)), its_host, what);
    if (failed > 1) what += fmt::format(" (and {} more of {} ranks)", failed - 1, statuses.size());
  }
  throw AgreedError(static_cast<ExitStatus>(statuses[first]), where, what, next_step);
}

}  // namespace

void agree(Ranks& ranks, const std::string& host, const std::optional<Error>& mine) {
  throw_lowest(ranks, &host, mine);
}

void agree_on_groups(Ranks& ranks, const std::optional<Error>& mine) { throw_lowest(ranks, nullptr, mine); }

void agreed(Ranks& ranks, const std::string& host, const std::function<void()>& work) {
  agree(ranks, host, error_of(work));
}

std::vector<std::string> agreed_texts(Ranks& ranks, std::vector<std::string> mine) {
  std::vector<double> lowest(mine.size(), ranks.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!mine[i].empty()) lowest[i] = ranks.rank();
  }
  ranks.reduce(lowest, RankAggregate::minimum);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (lowest[i] < ranks.size()) mine[i] = broadcast_text(ranks, mine[i], static_cast<int>(lowest[i]));
  }
  return mine;
}

void RootErrors::attempt(const std::function<void(OnRoot)>& work) {
  keep(error_of([&] { work(OnRoot()); }));
}

void RootErrors::keep(const std::optional<Error>& error) {
  if (!first_) first_ = error;
}

void RootErrors::agree(Ranks& ranks, const std::string& host) const { launch::agree(ranks, host, first_); }

}  // namespace collbench::launch
