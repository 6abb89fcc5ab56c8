#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "analysis/counters/counter_rises.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/commands/registry.hpp"
#include "topology/telemetry/error_counters.hpp"

namespace collbench::program {
namespace {

struct CountersCommand {
  std::string root;   ///< a copy of /sys; empty: this host with all that counts errors
  std::string since;  ///< an earlier look, as JSON; empty: none
  std::string format = "text";
};

topology::ErrorCounters look_now(const CountersCommand& options) {
  if (options.root.empty()) return topology::live_error_counters();
  topology::ErrorCounters counters = topology::read_error_counters(options.root);
  counters.host = legal_host_name(options.root);
  return counters;
}

/// Throws Error (usage) where the earlier look was at another host: its counters are others.
void require_same_host(const CountersCommand& options, const topology::ErrorCounters& before,
                       const topology::ErrorCounters& now) {
  if (!options.root.empty() || is_same_host(before.host, now.host)) return;
  throw usage_error(
      options.since, fmt::format("is a look at {}, and this is {}", before.host, now.host),
      fmt::format("run it on {}, or look at this host first: collbench counters --format json", before.host));
}

/// What went up since the earlier look; status 1 where it is more than operators leave alone, and where a
/// part that was looked at then is gone.
CommandResult since(const std::string& since_path, const topology::ErrorCounters& before,
                    const topology::ErrorCounters& now) {
  CommandResult result;
  for (analysis::CounterRise rise : analysis::counter_rises(before, now, "")) {
    if (before.unix_seconds <= 0 || now.unix_seconds <= 0) rise.seconds = -1;  // a copy of /sys has no date
    result.text += one_line(rise_words(rise)) + "\n";
    if (grade_of(rise) != analysis::RiseGrade::noted) result.status = ExitStatus::low;
  }
  const auto [fell, gone] = analysis::counters_without_answer(before, now);
  if (result.text.empty())
    result.text = fmt::format(
        "{}: of {} {}{}\n", now.host, counted(now.counts.size(), "error counter"),
        fell.empty() ? "none went up" : "none is known to have gone up",
        gone.empty() ? "" : fmt::format("; of {} of the earlier look nothing is known", gone.size()));
  if (before.unix_seconds > now.unix_seconds)
    result.text += fmt::format("{} is dated later than now: a clock was set\n", one_line(since_path));
  for (const std::string& each : fell)
    result.text += fmt::format("{}: set back since, so what it counted is not known\n", one_line(each));
  for (const std::string& each : gone) result.text += fmt::format("{}: not here anymore\n", one_line(each));
  if (!gone.empty()) result.status = ExitStatus::low;
  return result;
}

CommandResult counters(const CountersCommand& options) {
  if (!options.since.empty() && options.format == "json")
    throw usage_error("--since", "what went up is text, and --format json is a look",
                      "leave one of them out; two looks as JSON can be compared later");
  const topology::ErrorCounters now = look_now(options);
  CommandResult result;
  if (!options.since.empty()) {
    const auto before =
        topology::error_counters_from_json(read_file(options.since, kMaxInputBytes), options.since);
    require_same_host(options, before, now);
    result = since(options.since, before, now);
    // A copy of /sys does not say whose it is.
    if (!options.root.empty() && before.host != now.host)
      result.text += fmt::format("whether {} and {} are one host is not known\n", before.host, options.root);
  } else if (options.format == "json") {
    return {topology::error_counters_json(now), ExitStatus::ok, false};
  } else {
    const auto above =
        std::ranges::count_if(now.counts, [](const auto& counter) { return counter.second > 0; });
    result.text =
        now.counts.empty()
            ? fmt::format("{}: no error counter could be read\n", now.host)
            : fmt::format("{}: {}, {} above 0 (events since each was reset; --since says what went up)\n",
                          now.host, counted(now.counts.size(), "error counter"), above);
    for (const auto& [counter, count] : now.counts) result.text += fmt::format("{} {}\n", counter, count);
  }
  result.notes = now.notes;
  return result;
}

void add_counters(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<CountersCommand>();
  add_option(command, "Options", "--sys", "FOLDER",
             "a copy of /sys to read instead (this host, its kernel log and GPUs)", into(options->root));
  add_option(command, "Options", "--since", "FILE",
             "an earlier --format json: only what went up since, and whether that is too much",
             into(options->since));
  add_option(command, "Options", "--format", "NAME", "text or json (text)",
             [options](const std::string& text) {
               options->format = parse_name(text, "--format", {"text", "json"});
             });
  command.callback([options, &chosen] { chosen = [options] { return counters(*options); }; });
}

}  // namespace

Subcommand counters_subcommand() {
  return {"counters", "error counters of this host's NIC ports, PCIe, memory and GPUs, and what went up",
          "collbench counters --since FILE   what went wrong on this host since an earlier look",
          add_counters};
}

}  // namespace collbench::program
