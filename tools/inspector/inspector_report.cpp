#include "tools/inspector/job_collectives.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/report/html/markup.hpp"
#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kShown = 4;  // of what a line names

/// The job's name for it, else NCCL's.
std::string name_of(const InspectedCommunicator& group) {
  if (!group.name.empty()) return group.name;
  return group.id.empty() ? "unnamed communicators" : group.id;
}

std::string ranks_of(const InspectedCommunicator& group) {
  return group.nodes > 0 && group.ranks % group.nodes == 0
             ? fmt::format("{} × {}", group.nodes, group.ranks / group.nodes)
             : fmt::to_string(group.ranks);
}

std::vector<std::string> hosts_of(const InspectedCommunicator& group) {
  std::set<std::string> hosts;
  for (const auto& [rank, host] : group.hosts) hosts.insert(host);
  return {hosts.begin(), hosts.end()};
}

/// "n0, n1, n2, n3 and 12 more"
std::string host_words(const InspectedCommunicator& group) {
  std::vector<std::string> hosts = hosts_of(group);
  const std::size_t more = hosts.size() - std::min(hosts.size(), kShown);
  hosts.resize(hosts.size() - more);
  return fmt::format("{}{}", fmt::join(hosts, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

const InspectedCommunicator& group_of(const InspectorPage& page, const KindResult& kind) {
  return page.job.communicators[kind.kind.communicator];
}

/// "64 MiB", "64–65 MiB"
std::string size_words(const InspectedKind& kind) {
  std::string first = format_bytes(kind.size_bytes);
  if (kind.size_end == 0) return first;
  const std::string end = format_bytes(kind.size_end);
  const std::size_t unit = first.find(' ');
  const bool share_unit = unit != std::string::npos && end.ends_with(first.substr(unit));
  return fmt::format("{}–{}", share_unit ? first.substr(0, unit) : first, end);
}

std::string kind_words(const InspectorPage& page, const KindResult& kind) {
  return fmt::format("{} {} of {}", operation(kind.kind.operation).name, size_words(kind.kind),
                     name_of(group_of(page, kind)));
}

std::string utc(std::int64_t second) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(second)));
}

/// "from call number 120 on, written 2026-11-28 13:37:49 UTC"
std::string since_words(const KindResult& kind) {
  const Slowdown& slowdown = *kind.slowdown;
  const std::string when = slowdown.second_of_dump > 0 ? utc(slowdown.second_of_dump) : "";
  if (kind.is_of_means) return fmt::format("from {} on", when);
  return fmt::format("from call number {} on{}", slowdown.sequence, when.empty() ? "" : ", written " + when);
}

/// "rank 3 on n17 of tp0 comes last in 81 % of 1200 calls in which all others wait, for 3.2 ms"
std::string late_words(const InspectorPage& page, const LateRank& late) {
  return fmt::format("rank {} on {} of {} comes last in {:.0f} % of {} in which all others wait, for {}",
                     late.rank, late.host, name_of(page.job.communicators[late.communicator]),
                     100.0 * static_cast<double>(late.last_in) / static_cast<double>(late.calls),
                     counted(late.calls, "call"), format_seconds(late.wait_seconds));
}

/// The lowest first.
std::vector<const KindResult*> with_verdict(const InspectorPage& page, VerdictWord word) {
  std::vector<const KindResult*> found;
  for (const KindResult& kind : page.result.kinds)
    if (kind.verdict() == word) found.push_back(&kind);
  std::ranges::sort(found, [](const KindResult* a, const KindResult* b) {
    return std::pair(*a->last_ratio(), a->kind) < std::pair(*b->last_ratio(), b->kind);
  });
  return found;
}

std::string figure(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

std::string_view verdict_of(const KindResult& kind) {
  return kind.verdict() == VerdictWord::none ? "" : name(kind.verdict());
}

/// Under its titles, without the columns that are empty all over.
TextTable table(const InspectorPage& page) {
  TextTable rows{
      {"operation", "algorithm", "size", "calls", "busbw", "expected", "ratio", "time", "wait", "verdict"}};
  for (const KindResult& kind : page.result.kinds)
    rows.push_back({std::string(operation(kind.kind.operation).name), kind.kind.algorithm,
                    size_words(kind.kind), kind.is_of_means ? "" : fmt::to_string(kind.calls),
                    figure(kind.busbw, 1), figure(kind.expected_busbw, 1), figure(kind.ratio(), 2),
                    kind.is_of_means ? "" : format_seconds(kind.seconds),
                    kind.wait_seconds ? format_seconds(*kind.wait_seconds) : "",
                    std::string(verdict_of(kind))});
  for (std::size_t column = rows.front().size(); column-- > 1;)
    if (std::all_of(rows.begin() + 1, rows.end(), [column](const auto& row) { return row[column].empty(); }))
      drop_column(rows, column);
  for (std::vector<std::string>& row : rows)
    for (std::string& cell : row)
      if (cell.empty() && &cell != &row.back()) cell = "–";
  return rows;
}

/// The first columns, of words.
std::size_t name_columns(const TextTable& rows) {
  return rows.front().size() > 1 && rows.front()[1] == "algorithm" ? 2 : 1;
}

/// Takes out what `width` has no room for, and returns the titles.
std::vector<std::string> narrow(TextTable& rows, int width) {
  std::vector<std::string> hidden;
  for (const std::string title : {"time", "algorithm", "calls"}) {
    const auto found = std::ranges::find(rows.front(), title);
    if (table_width(rows) <= width || found == rows.front().end()) continue;
    drop_column(rows, static_cast<std::size_t>(found - rows.front().begin()));
    hidden.push_back(title);
  }
  return hidden;
}

/// "dp0: 2 × 8 ranks on n0, n1"
std::string group_words(const InspectedCommunicator& group) {
  return fmt::format("{}: {} ranks on {}", name_of(group), ranks_of(group), host_words(group));
}

/// What was not read, and what the figures cannot say.
std::vector<std::string> notes(const InspectorPage& page) {
  std::vector<std::string> lines;
  for (const auto& [why, count] : page.job.left_out)
    lines.push_back(fmt::format("left out: {}: {}", counted(count, "line"), why));
  std::uint64_t lost = 0;
  for (const auto& [where, count] : page.job.lost) lost += count;
  if (lost > 0)
    lines.push_back(
        fmt::format("Inspector lost {} before it wrote them: raise "
                    "NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, or dump more often",
                    counted(lost, "call")));
  std::size_t partly = 0;
  std::size_t means = 0;
  bool has_time = true;
  for (const KindResult& kind : page.result.kinds) {
    means += kind.is_of_means ? 1 : 0;
    partly += !kind.is_of_means && kind.whole < kMinCalls ? 1 : 0;
    has_time = has_time && (!kind.is_of_means || kind.has_time);
  }
  if (partly > 0)
    lines.push_back(
        fmt::format("of {} fewer than {} calls were logged by every rank: times hold what these ranks "
                    "waited, and these lines are never BELOW",
                    counted(partly, "line"), kMinCalls));
  if (means > 0) {
    lines.push_back(fmt::format(
        "a Prometheus dump has no calls ({}): who waits for whom is not known. Its means hold what GPUs "
        "waited: what is under the edge of sound machines is UNCLEAR, never BELOW; expected at the "
        "smallest size",
        counted(means, "line")));
    const auto several = static_cast<std::size_t>(
        std::ranges::count_if(page.job.communicators, &InspectedCommunicator::is_of_several));
    if (several > 0)
      lines.push_back(
          fmt::format("{} of communicators of one name, which the dump does not tell apart: "
                      "busbw is the lowest that one of them can have",
                      counted(several, "group")));
    if (!has_time)
      lines.emplace_back(
          "since when is not known: the dumps have no times; those of `promtool tsdb dump` have");
  }
  for (const KindResult& kind : page.result.kinds)
    if (kind.slowdown)
      lines.push_back(fmt::format("{} takes {:.2f} times as long {}, and is judged by that",
                                  kind_words(page, kind), kind.slowdown->times, since_words(kind)));
  lines.insert(lines.end(), page.result.notes.begin(), page.result.notes.end());
  if (page.machine.empty())
    lines.emplace_back("nothing is expected: --topology names the machine that the job ran on");
  const bool is_of_means = std::ranges::all_of(page.result.kinds, &KindResult::is_of_means);
  lines.push_back(fmt::format(
      "busbw in GB/s (10^9 B/s), of the quickest {}. Kernels share the GPU with what else the job runs.",
      is_of_means ? "GPU of each minute; medians over minutes" : "rank of each call; medians over calls"));
  return lines;
}

/// Each communicator's lines below its name.
std::string table_text(const InspectorPage& page, const TextTable& rows, int width) {
  const std::string lines = table_lines(rows, name_columns(rows));
  std::string text;
  std::size_t begin = 0;
  for (std::size_t row = 0; begin < lines.size(); ++row) {
    const std::size_t end = lines.find('\n', begin) + 1;
    const KindResult* const kind = row == 0 ? nullptr : &page.result.kinds[row - 1];
    if (kind != nullptr && (row == 1 || kind[-1].kind.communicator != kind->kind.communicator))
      text += wrap(group_words(group_of(page, *kind)), width, "", "  ");
    text.append(lines, begin, end - begin);
    begin = end;
  }
  return text;
}

/// Of pages, on which each line names its communicator.
ReportTable page_table(const InspectorPage& page) {
  const TextTable rows = table(page);
  ReportTable whole{.headings = {"communicator", "nodes × ranks", "hosts"},
                    .left = 3 + name_columns(rows),
                    .right = rows.front().back() == "verdict" ? 1U : 0U};
  whole.headings.insert(whole.headings.end(), rows.front().begin(), rows.front().end());
  for (std::size_t i = 0; i < page.result.kinds.size(); ++i) {
    const KindResult& kind = page.result.kinds[i];
    const InspectedCommunicator& group = group_of(page, kind);
    std::vector<ReportCell> row{name_of(group), ranks_of(group), host_words(group)};
    row.insert(row.end(), rows[i + 1].begin(), rows[i + 1].end());
    if (kind.verdict() != VerdictWord::none)
      row.back().style = tone_class(kind.verdict() == VerdictWord::below ? Tone::alarm : Tone::warning);
    whole.rows.push_back(std::move(row));
  }
  return whole;
}

/// Of text what stands above the table, whose lines there stand below their communicators.
Document document_of(const InspectorPage& page, bool is_text, ReportList said) {
  Document document{"Collectives of a job", {}, {}, {inspector_headline(page)}};
  for (std::size_t i = 1; i < page.result.late.size(); ++i)
    document.lead.push_back({late_words(page, page.result.late[i])});
  if (!is_text) document.sections.push_back({"Collectives", {page_table(page)}, "collectives"});
  document.sections.push_back({"Notes", {std::move(said)}, "notes"});
  return document;
}

std::string as_text(const InspectorPage& page, int width) {
  TextTable rows = table(page);
  ReportList said = notes(page);
  if (const std::vector<std::string> hidden = narrow(rows, width); !hidden.empty())
    said.push_back(fmt::format("too narrow for: {}", fmt::join(hidden, ", ")));
  return text(document_of(page, true, std::move(said)), {.columns = width}) + "\n" +
         table_text(page, rows, width);
}

std::string as_csv(const InspectorPage& page) {
  std::string text =
      "communicator,name,operation,algorithm,ranks,nodes,size_bytes,calls,calls_of_all_ranks,seconds,busbw_"
      "gb_per_s,"
      "expected_gb_per_s,ratio,wait_seconds,verdict,size_end_bytes,gpus\n";
  for (const KindResult& kind : page.result.kinds) {
    const InspectedCommunicator& group = group_of(page, kind);
    const auto number = [](std::optional<double> value) {
      return value ? fmt::format("{:.6g}", *value) : "";
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.6g},{},{},{},{},{},{}\n", csv_cell(group.id),
                        csv_cell(group.name), operation(kind.kind.operation).option,
                        csv_cell(kind.kind.algorithm), group.ranks, group.nodes, kind.kind.size_bytes,
                        kind.is_of_means ? "" : fmt::to_string(kind.calls),
                        kind.is_of_means ? "" : fmt::to_string(kind.whole),
                        kind.is_of_means ? "" : fmt::format("{:.6g}", kind.seconds), kind.busbw,
                        number(kind.expected_busbw), number(kind.ratio()), number(kind.wait_seconds),
                        verdict_of(kind), kind.kind.size_end > 0 ? fmt::to_string(kind.kind.size_end) : "",
                        kind.is_of_means ? fmt::to_string(group.gpus.size()) : "");
  }
  return page_text(text);
}

std::string as_json(const InspectorPage& page) {
  Json kinds = Json::array();
  for (const KindResult& kind : page.result.kinds) {
    const InspectedCommunicator& group = group_of(page, kind);
    const auto of_calls = [&kind](auto value) { return kind.is_of_means ? Json(nullptr) : Json(value); };
    kinds.push_back({{"communicator", group.id},
                     {"name", group.name},
                     {"ranks", group.ranks},
                     {"nodes", group.nodes},
                     {"operation", operation(kind.kind.operation).option},
                     {"algorithm", kind.kind.algorithm},
                     {"size_bytes", kind.kind.size_bytes},
                     {"size_end_bytes", kind.kind.size_end > 0 ? Json(kind.kind.size_end) : Json(nullptr)},
                     {"hosts", hosts_of(group)},
                     {"gpus", kind.is_of_means ? Json(group.gpus.size()) : Json(nullptr)},
                     {"calls", of_calls(kind.calls)},
                     {"calls_of_all_ranks", of_calls(kind.whole)},
                     {"seconds", of_calls(kind.seconds)},
                     {"busbw_gb_per_s", kind.busbw},
                     {"expected_gb_per_s", or_null(kind.expected_busbw)},
                     {"ratio", or_null(kind.ratio())},
                     {"wait_seconds", or_null(kind.wait_seconds)},
                     {"slower_from_call", kind.slowdown ? of_calls(kind.slowdown->sequence) : Json(nullptr)},
                     {"slower_busbw_gb_per_s", kind.slowdown ? Json(kind.slowdown->busbw) : Json(nullptr)},
                     {"slower_from_time", kind.slowdown && kind.slowdown->second_of_dump > 0
                                              ? Json(utc(kind.slowdown->second_of_dump))
                                              : Json(nullptr)},
                     {"verdict", verdict_of(kind).empty() ? Json(nullptr) : Json(verdict_of(kind))}});
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
  return json_document(whole);
}

}  // namespace

std::string inspector_headline(const InspectorPage& page) {
  std::vector<std::string> parts;
  const auto add = [&](VerdictWord word, const std::string& before, const std::string& behind) {
    const std::vector<const KindResult*> found = with_verdict(page, word);
    if (found.empty()) return;
    const KindResult& lowest = *found.front();
    parts.push_back(fmt::format("{}: {}, {:.2f} of {}{}{}", before, kind_words(page, lowest),
                                *lowest.last_ratio(), behind,
                                lowest.slowdown ? " " + since_words(lowest) : "",
                                found.size() == 1 ? "" : fmt::format(" (and {} more)", found.size() - 1)));
  };
  add(VerdictWord::below, "BELOW a sound " + page.machine, "expected");
  add(VerdictWord::unclear, "UNCLEAR", fmt::format("a sound {} with its waits", page.machine));
  std::set<std::string> hosts;  // each once, with where it is worst
  for (const LateRank& late : page.result.late)
    if (hosts.size() < kShown && hosts.insert(late.host).second) parts.push_back(late_words(page, late));
  std::size_t calls = 0;
  std::size_t means = 0;
  for (const KindResult& kind : page.result.kinds)
    (kind.is_of_means ? means : calls) += kind.is_of_means ? page.job.calls.at(kind.kind).size() : kind.calls;
  std::vector<std::string> counts;
  if (calls > 0) counts.push_back(counted(calls, "call"));
  if (means > 0) counts.push_back(counted(means, "mean"));
  parts.push_back(fmt::format("{} of {}, {}", fmt::join(counts, " and "),
                              counted(page.job.communicators.size(), means > 0 ? "group" : "communicator"),
                              counted(page.job.files, "file")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string report(const InspectorPage& page, std::string_view format, int columns) {
  if (format == "csv") return as_csv(page);
  if (format == "json") return as_json(page);
  if (format == "md") return page_text(markdown(document_of(page, false, notes(page))));
  if (format == "html") return page_text(html_page(document_of(page, false, notes(page))));
  return terminal_text(as_text(page, columns));
}

}  // namespace collbench::analysis
