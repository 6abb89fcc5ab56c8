#include "tools/inspector/inspector_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/report/text_layout.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kShown = 4;  // of what the first line names

/// The job's name for it, else NCCL's.
std::string name_of(const InspectedCommunicator& group) { return group.name.empty() ? group.id : group.name; }

std::string ranks_of(const InspectedCommunicator& group) {
  return group.nodes > 0 && group.ranks % group.nodes == 0
             ? fmt::format("{} × {}", group.nodes, group.ranks / group.nodes)
             : fmt::to_string(group.ranks);
}

const InspectedCommunicator& group_of(const InspectorPage& page, const KindResult& kind) {
  return page.job.communicators[kind.kind.communicator];
}

std::string kind_words(const InspectorPage& page, const KindResult& kind) {
  return fmt::format("{} {} of {}", operation(kind.kind.operation).name, format_bytes(kind.kind.size_bytes),
                     name_of(group_of(page, kind)));
}

/// "rank 3 on n17 of tp0 comes last in 81 % of 1200 calls in which all others wait, for 3.2 ms"
std::string late_words(const InspectorPage& page, const LateRank& late) {
  return fmt::format("rank {} on {} of {} comes last in {:.0f} % of {} in which all others wait, for {}",
                     late.rank, late.host, name_of(page.job.communicators[late.communicator]),
                     100.0 * static_cast<double>(late.last_in) / static_cast<double>(late.calls),
                     counted(late.calls, "call"), format_seconds(late.wait_seconds));
}

std::vector<const KindResult*> below(const InspectorPage& page) {
  std::vector<const KindResult*> found;
  for (const KindResult& kind : page.result.kinds)
    if (kind.is_below()) found.push_back(&kind);
  std::sort(found.begin(), found.end(), [](const KindResult* a, const KindResult* b) {
    return std::pair(*a->ratio(), a->kind) < std::pair(*b->ratio(), b->kind);
  });
  return found;
}

std::string figure(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "–";
}

TextTable table(const InspectorPage& page) {
  TextTable lines{{"communicator", "operation", "algorithm", "nodes × ranks", "size", "calls", "busbw",
                   "expected", "ratio", "time", "wait"}};
  for (const KindResult& kind : page.result.kinds) {
    const InspectedCommunicator& group = group_of(page, kind);
    lines.push_back({name_of(group), std::string(operation(kind.kind.operation).name),
                     kind.kind.algorithm.empty() ? "–" : kind.kind.algorithm, ranks_of(group),
                     format_bytes(kind.kind.size_bytes), fmt::to_string(kind.calls), figure(kind.busbw, 1),
                     figure(kind.expected_busbw, 1), figure(kind.ratio(), 2), format_seconds(kind.seconds),
                     kind.wait_seconds ? format_seconds(*kind.wait_seconds) : "–"});
  }
  return lines;
}

/// What was not read, and what the figures cannot say.
std::vector<std::string> notes(const InspectorPage& page) {
  std::vector<std::string> lines;
  for (const auto& [why, count] : page.job.left_out)
    lines.push_back(fmt::format("left out: {}: {}", counted(count, "line"), why));
  std::size_t partly = 0;
  for (const KindResult& kind : page.result.kinds) partly += kind.whole < kMinCalls ? 1 : 0;
  if (partly > 0)
    lines.push_back(
        fmt::format("of {} fewer than {} calls were logged by every rank: times hold what these ranks "
                    "waited, and these lines are never BELOW",
                    counted(partly, "line"), kMinCalls));
  for (const KindResult& kind : page.result.kinds)
    if (kind.slowdown)
      lines.push_back(fmt::format("{} takes {:.2f} times as long from call number {} on",
                                  kind_words(page, kind), kind.slowdown->times, kind.slowdown->sequence));
  lines.insert(lines.end(), page.result.notes.begin(), page.result.notes.end());
  if (page.machine.empty())
    lines.emplace_back("nothing is expected: --topology names the machine that the job ran on");
  return lines;
}

std::string as_text(const InspectorPage& page, int columns) {
  std::string text = wrap(inspector_headline(page), columns, "", "  ");
  for (std::size_t i = 1; i < page.result.late.size(); ++i)
    text += wrap(late_words(page, page.result.late[i]), columns, "# ", "#   ");
  for (const std::string& line : notes(page)) text += wrap(line, columns, "# ", "#   ");
  text += wrap(
      "busbw in GB/s (10^9 B/s), of the quickest rank of each call; medians over calls. Kernels "
      "share the GPU with what else the job runs.",
      columns, "# ", "#   ");
  return terminal_text(text + "\n" + table_lines(table(page), 4));
}

std::string as_csv(const InspectorPage& page) {
  std::string text =
      "communicator,name,operation,algorithm,ranks,nodes,size_bytes,calls,calls_of_all_ranks,seconds,busbw_"
      "gb_per_s,"
      "expected_gb_per_s,ratio,wait_seconds,verdict\n";
  for (const KindResult& kind : page.result.kinds) {
    const InspectedCommunicator& group = group_of(page, kind);
    const auto number = [](std::optional<double> value) {
      return value ? fmt::format("{:.6g}", *value) : "";
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{},{},{},{}\n", csv_cell(group.id),
                        csv_cell(group.name), operation(kind.kind.operation).option,
                        csv_cell(kind.kind.algorithm), group.ranks, group.nodes, kind.kind.size_bytes,
                        kind.calls, kind.whole, kind.seconds, kind.busbw, number(kind.expected_busbw),
                        number(kind.ratio()), number(kind.wait_seconds), kind.is_below() ? "BELOW" : "");
  }
  return page_text(text);
}

std::string as_json(const InspectorPage& page) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  Json kinds = Json::array();
  for (const KindResult& kind : page.result.kinds) {
    const InspectedCommunicator& group = group_of(page, kind);
    kinds.push_back({{"communicator", group.id},
                     {"name", group.name},
                     {"ranks", group.ranks},
                     {"nodes", group.nodes},
                     {"operation", operation(kind.kind.operation).option},
                     {"algorithm", kind.kind.algorithm},
                     {"size_bytes", kind.kind.size_bytes},
                     {"calls", kind.calls},
                     {"calls_of_all_ranks", kind.whole},
                     {"seconds", kind.seconds},
                     {"busbw_gb_per_s", kind.busbw},
                     {"expected_gb_per_s", number(kind.expected_busbw)},
                     {"ratio", number(kind.ratio())},
                     {"wait_seconds", number(kind.wait_seconds)},
                     {"slower_from_call", kind.slowdown ? Json(kind.slowdown->sequence) : Json(nullptr)},
                     {"verdict", kind.is_below() ? Json("BELOW") : Json(nullptr)}});
  }
  Json late = Json::array();
  for (const LateRank& each : page.result.late)
    late.push_back({{"communicator", page.job.communicators[each.communicator].id},
                    {"rank", each.rank},
                    {"host", each.host},
                    {"calls", each.calls},
                    {"last_in", each.last_in},
                    {"wait_seconds", each.wait_seconds}});
  const Json whole{{"record", "collbench inspector"},
                   {"headline", inspector_headline(page)},
                   {"topology", page.machine},
                   {"files", page.job.files},
                   {"kinds", std::move(kinds)},
                   {"late", std::move(late)},
                   {"notes", notes(page)}};
  return json_text(whole.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string inspector_headline(const InspectorPage& page) {
  std::vector<std::string> parts;
  const std::vector<const KindResult*> slow = below(page);
  if (!slow.empty())
    parts.push_back(fmt::format("BELOW a sound {}: {}, {:.2f} of expected{}", page.machine,
                                kind_words(page, *slow.front()), *slow.front()->ratio(),
                                slow.size() == 1 ? "" : fmt::format(" (and {} more)", slow.size() - 1)));
  std::set<std::string> hosts;  // each once, with where it is worst
  for (const LateRank& late : page.result.late)
    if (hosts.size() < kShown && hosts.insert(late.host).second) parts.push_back(late_words(page, late));
  std::size_t calls = 0;
  for (const KindResult& kind : page.result.kinds) calls += kind.calls;
  parts.push_back(fmt::format("{} of {}, {}", counted(calls, "call"),
                              counted(page.job.communicators.size(), "communicator"),
                              counted(page.job.files, "file")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string report(const InspectorPage& page, std::string_view format, int columns) {
  if (format == "csv") return as_csv(page);
  if (format == "json") return as_json(page);
  return as_text(page, columns);
}

}  // namespace collbench::analysis
