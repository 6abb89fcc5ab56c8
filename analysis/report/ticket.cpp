// What a provider's support has to read, in some twenty lines: which machine, what it gave, what a sound one
// gives and by which limits, and how to see the same with nccl-tests.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/document/text_layout.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kNamedHosts = 16;
constexpr std::size_t kMaxLines = 12;  // of rows with wrong data, and what stands above them

/// "AllReduce 8 GiB: busbw 187 GB/s, expected 189 GB/s; SOUND from 176 GB/s, BELOW under 155 GB/s"
std::string numbers_of(const Row& row, int ranks) {
  const RowKey& key = row.measurement.key;
  const Rates rate = rates(row, ranks);
  if (!rate.bus_bandwidth) return {};
  std::string words =
      fmt::format("{} {}{}: busbw {}", operation(key.operation).name, format_bytes(key.size_bytes),
                  key.in_place ? ", in place" : "", format_rate(*rate.bus_bandwidth));
  if (!rate.expected_bus_bandwidth) return words;
  words += fmt::format(", expected {}", format_rate(*rate.expected_bus_bandwidth));
  const auto& range = row.verdict.range;
  if (range && std::isfinite(range->sound))
    words += fmt::format("; SOUND from {}, BELOW under {}",
                         format_rate(range->sound * *rate.expected_bus_bandwidth),
                         format_rate(range->below * *rate.expected_bus_bandwidth));
  return words;
}

std::map<std::string, std::string> nccl_settings(const Run& run) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : run.environment)
    if (name.starts_with("NCCL_")) settings.emplace(name, value);
  return settings;
}

/// The row at its size, alone, as nccl-tests runs it; empty where it has no such program.
std::string command_of(const Row& row, const Run& run) {
  const RowKey& key = row.measurement.key;
  const Operation& what = operation(key.operation);
  if (what.nccl_tests_name.empty()) return {};
  const std::vector<std::string> hosts = hosts_in_order(run);
  std::string words = fmt::format("mpirun -np {}", run.ranks.size());
  const std::vector<int> locals = ranks_per_node(run.ranks);
  const bool is_even = std::ranges::adjacent_find(locals, std::not_equal_to<>()) == locals.end();
  if (is_even && hosts.size() > 1 && hosts.size() == locals.size() && hosts.size() <= kNamedHosts) {
    const int slots = locals.front();
    words += fmt::format(" -H {}:{}", fmt::join(hosts, fmt::format(":{},", slots)), slots);
  }
  for (const auto& [name, value] : nccl_settings(run)) words += " -x " + name;
  words += fmt::format(" {} -b {} -e {} -d {} -g 1 -w 5 -n 20", nccl_tests_program(what), key.size_bytes,
                       key.size_bytes, traits(key.type).name);
  if (key.reduction) words += fmt::format(" -o {}", name(*key.reduction));
  return words;
}

/// Label and words, in the order of a ticket.
using TicketLines = std::vector<std::pair<std::string, std::string>>;

void add(TicketLines& lines, const std::string& label, std::string words) {
  if (!words.empty()) lines.emplace_back(label, std::move(words));
}

/// Of each series of sizes its largest row, or the one that falls under load.
void add_measured(TicketLines& lines, const Run& run) {
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const bool falls = falls_under_load(run) && in_series(*run.sustained, series);
    const Row& row = falls ? *run.sustained : *series.back();
    if (row.verdict.word == VerdictWord::none) continue;
    add(lines, falls ? "measured when sustained" : "measured",
        numbers_of(row, static_cast<int>(run.ranks.size())));
    if (row.verdict.word != VerdictWord::sound) add(lines, "with nccl-tests", command_of(row, run));
  }
}

TicketLines ticket_lines(const Run& run) {
  TicketLines lines;
  const std::vector<HeaderLine> header = header_parts(run);
  // That GPUs are simulated is the first line of all, what cut the run short is found, and the last is its
  // name.
  auto titles = std::ranges::count(header, HeaderPart::title, &HeaderLine::part);
  for (const HeaderLine& line : header) {
    if (line.part == HeaderPart::title && line.line.text != kSimulatedGpus)
      add(lines, titles == 1 ? "run" : "finding", line.line.text);
    if (line.part == HeaderPart::title) --titles;
    if (line.part == HeaderPart::machine) add(lines, "machine", line.line.text);
  }
  add(lines, "hosts", join_first(hosts_in_order(run), kNamedHosts));
  std::vector<std::string> settings;
  for (const auto& [name, value] : nccl_settings(run)) settings.push_back(fmt::format("{}={}", name, value));
  add(lines, "settings", settings.empty() ? "" : fmt::format("{}", fmt::join(settings, " ")));
  for (const Row& row : run.rows) {
    if (!has_wrong_data(row.measurement) || lines.size() > kMaxLines) continue;
    add(lines, "finding", wrong_data_words(row.measurement));
    add(lines, "with nccl-tests", command_of(row, run));
  }
  for (const ReportLine& line : verdict_lines(run))
    if (line.tone != Tone::quiet) add(lines, "finding", line.text);
  add_measured(lines, run);
  return lines;
}

}  // namespace

std::string report_ticket(const Run& run) {
  constexpr int kColumns = 100;
  ReportLines first = verdict_headline(run);
  if (first.empty()) first = verdict_lines(run);
  std::string text = run.gpus_simulated ? wrap(std::string(kSimulatedGpus), kColumns, "", "  ") : "";
  text += wrap(first.empty() ? "no verdict" : first.front().text, kColumns, "", "  ");
  for (const auto& [label, words] : ticket_lines(run)) text += wrap(words, kColumns, label + ": ", "  ");
  const bool has_limits =
      std::ranges::any_of(run.rows, [](const Row& row) { return row.verdict.range.has_value(); });
  if (has_limits)
    text += wrap(
        "SOUND and BELOW are what published runs of sound machines of this kind reach (collbench, "
        "docs/judge.md)",
        kColumns, "limits: ", "  ");
  return text;
}

}  // namespace collbench::analysis
