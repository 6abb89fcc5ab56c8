#include "launch/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace collbench::launch {
namespace {

/// What describe() says of an exception that is no Error, as an Error that describe() says the same of.
Error error_from(const std::exception& failure) {
  constexpr std::string_view kProgram = "collbench: ";
  constexpr std::string_view kBeforeNextStep = "; ";
  std::string line = describe(failure);
  if (line.starts_with(kProgram)) line.erase(0, kProgram.size());
  const std::size_t end = line.rfind(kBeforeNextStep);
  if (end == std::string::npos) return {exit_status(failure), "", line, ""};
  return {exit_status(failure), "", line.substr(0, end), line.substr(end + kBeforeNextStep.size())};
}

/// The Error that `work` fails with; none when it does not.
std::optional<Error> error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return usage_error("", "out of memory", "give a smaller -e, or fewer ranks on this host");
  } catch (const std::exception& error) {
    return error_from(error);
  }
  return std::nullopt;
}

}  // namespace

void agree(Ranks& ranks, const std::string& host, const std::optional<Error>& mine) {
  constexpr int kNone = -1;
  const std::vector<int> statuses = all_gather_values(ranks, mine ? static_cast<int>(mine->status()) : kNone);
  const auto failed = std::count_if(statuses.begin(), statuses.end(), [](int s) { return s != kNone; });
  if (failed == 0) return;
  const auto first = static_cast<std::size_t>(
      std::find_if(statuses.begin(), statuses.end(), [](int s) { return s != kNone; }) - statuses.begin());
  const auto text_of_first = [&](const std::string& text) { return ranks.all_gather(text)[first]; };
  const std::string where = text_of_first(mine ? mine->where() : "");
  std::string what = text_of_first(mine ? mine->what() : "");
  const std::string next_step = text_of_first(mine ? mine->next_step() : "");
  const std::string its_host = text_of_first(host);
  if (std::cmp_less(failed, statuses.size())) {
    what = fmt::format("rank {} on {}: {}", first, its_host, what);
    if (failed > 1) what += fmt::format(" (and {} more of {} ranks)", failed - 1, statuses.size());
  }
  throw AgreedError(static_cast<ExitStatus>(statuses[first]), where, what, next_step);
}

void agreed(Ranks& ranks, const std::string& host, const std::function<void()>& work) {
  agree(ranks, host, error_of(work));
}

void RootErrors::attempt(const std::function<void(OnRoot)>& work) {
  keep(error_of([&] { work(OnRoot()); }));
}

void RootErrors::keep(const std::optional<Error>& error) {
  if (!first_) first_ = error;
}

void RootErrors::agree(Ranks& ranks, const std::string& host) const { launch::agree(ranks, host, first_); }

}  // namespace collbench::launch
