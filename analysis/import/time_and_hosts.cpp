#include "analysis/import/import_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// The hosts of a run by node; empty where it names none.
std::vector<std::string> hosts_by_node(const Run& run) {
  std::vector<std::string> hosts(static_cast<std::size_t>(node_count(run.ranks)));
  bool any = false;
  for (const Identity& rank : run.ranks) {
    hosts[static_cast<std::size_t>(rank.node)] = rank.host;
    any = any || !rank.host.empty();
  }
  return any ? hosts : std::vector<std::string>{};
}

}  // namespace

std::optional<std::string> utc_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  constexpr std::string_view kMidnight = "T00:00:00Z";
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kMinutes = 16;
  std::string time(text);
  if (time.size() > kDate && time[kDate] == ' ') time[kDate] = 'T';
  if (time.ends_with('Z')) time.pop_back();
  if (time.size() == kDate || time.size() == kMinutes || time.size() + 1 == kShape.size())
    time += kMidnight.substr(time.size() - kDate);
  if (time.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = time[i] >= '0' && time[i] <= '9';
    if (kShape[i] == '0' ? !digit : time[i] != kShape[i]) return std::nullopt;
  }
  const auto part = [&time](std::size_t at, std::size_t length) {
    return static_cast<int>(*parse_integer(time.substr(at, length), 0, 9999));
  };
  const std::chrono::year_month_day day{std::chrono::year(part(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  if (!day.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 59) return std::nullopt;
  return time;
}

void set_time_and_hosts(Run& run, const std::string& started, const std::vector<std::string>& hosts) {
  const std::string file = run.log ? run.log->file : "the record";
  if (!started.empty() && !run.started.empty() && run.started != started) {
    throw usage_error("--date", fmt::format("{} says that it began at {}", file, run.started),
                      "leave --date out");
  }
  if (!started.empty()) run.started = started;
  if (hosts.empty()) return;
  const std::vector<std::string> known = hosts_by_node(run);
  if (known == hosts) return;
  const bool says_localhost =
      std::ranges::all_of(known, [](const std::string& host) { return is_same_host(host, "localhost"); });
  if (!known.empty() && !says_localhost) {
    throw usage_error("--host", fmt::format("{} names its hosts: {}", file, fmt::join(known, ", ")),
                      "leave --host out");
  }
  if (std::cmp_not_equal(hosts.size(), node_count(run.ranks))) {
    throw usage_error("--host",
                      fmt::format("{} given, and {} ran on {}", counted(hosts.size(), "host"), file,
                                  counted(node_count(run.ranks), "node")),
                      "name one host for each node, in the order of the ranks");
  }
  for (Identity& rank : run.ranks) rank.host = hosts[static_cast<std::size_t>(rank.node)];
  if (!run.log) return;
  if (!known.empty())
    run.log->notes.push_back(fmt::format("it calls its host {}; {} is given", known.front(), hosts.front()));
  run.log->hosts = {hosts, 0};
  run.log->nodes = {static_cast<int>(hosts.size()), 0};
}

}  // namespace collbench::analysis
