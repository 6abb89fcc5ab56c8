#include "launch/agreement.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace collbench::launch {
namespace {

std::string encoded(const std::string& host, const std::optional<Error>& error) {
  if (!error) return {};
  return nlohmann::json{{"host", host},
                        {"status", static_cast<int>(error->status())},
                        {"where", error->where()},
                        {"what", error->what()},
                        {"next_step", error->next_step()}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void agree(Ranks& ranks, const std::string& host, const std::optional<Error>& mine) {
  const std::vector<std::string> errors = ranks.all_gather(encoded(host, mine));
  std::size_t failed = 0;
  std::size_t first = errors.size();
  for (std::size_t rank = errors.size(); rank-- > 0;) {
    if (errors[rank].empty()) continue;
    ++failed;
    first = rank;
  }
  if (failed == 0) return;
  const auto error = nlohmann::json::parse(errors[first]);
  auto what = error.at("what").get<std::string>();
  if (failed < errors.size()) {
    what = fmt::format("rank {} on {}: {}", first, error.at("host").get<std::string>(), what);
    if (failed > 1) what += fmt::format(" (and {} more of {} ranks)", failed - 1, errors.size());
  }
  throw AgreedError(static_cast<ExitStatus>(error.at("status").get<int>()),
                    error.at("where").get<std::string>(), what, error.at("next_step").get<std::string>());
}

void agreed(Ranks& ranks, const std::string& host, const std::function<void()>& work) {
  std::optional<Error> mine;
  try {
    work();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::bad_alloc&) {
    mine = usage_error("", "out of memory", "give a smaller -e, or fewer ranks on this host");
  } catch (const std::exception& error) {
    mine = Error(ExitStatus::rank_lost, "", error.what(), "please report this");
  }
  agree(ranks, host, mine);
}

}  // namespace collbench::launch
