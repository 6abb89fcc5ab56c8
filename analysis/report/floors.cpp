#include "analysis/report/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/models/nccl/healthy_ranges.hpp"
#include "base/document/document.hpp"
#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "topology/catalog/acceptance_limits.hpp"

namespace collbench::analysis {
namespace {

double rounded_down(double gigabytes_per_second) { return std::floor(gigabytes_per_second * 10) / 10; }

/// "1G", "100000000": as --sizes and --min-busbw read it.
std::string size_option(std::uint64_t bytes) {
  if (bytes % kGiB == 0) return fmt::format("{}G", bytes / kGiB);
  return bytes % kMiB == 0 ? fmt::format("{}M", bytes / kMiB) : fmt::to_string(bytes);
}

/// "all_reduce@1G>=437.2,all_gather@1G>=…" of rows that have a floor.
std::string min_busbw_option(const std::vector<AcceptanceFloor>& rows) {
  std::vector<std::string> parts;
  for (const AcceptanceFloor& row : rows) {
    if (row.floor)
      parts.push_back(fmt::format("{}@{}>={:.1f}", operation(row.operation).option,
                                  size_option(row.size_bytes), *row.floor));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<AcceptanceFloor> rows_on(const AcceptanceFloors& floors, int nodes) {
  std::vector<AcceptanceFloor> rows = floors.rows;
  std::erase_if(rows, [nodes](const AcceptanceFloor& row) { return row.nodes != nodes; });
  return rows;
}

/// The command that measures the largest of `rows`, of one node count, and ends with 1 under a floor; empty
/// where they have none.
std::string check_command(std::vector<AcceptanceFloor> rows, std::string_view options = "") {
  std::erase_if(rows, [](const AcceptanceFloor& row) { return !row.floor; });
  if (rows.empty()) return {};
  std::uint64_t largest = 0;
  for (const AcceptanceFloor& row : rows) largest = std::max(largest, row.size_bytes);
  std::erase_if(rows, [largest](const AcceptanceFloor& row) { return row.size_bytes != largest; });
  std::vector<std::string_view> operations;
  for (const AcceptanceFloor& row : rows) operations.push_back(operation(row.operation).option);
  const AcceptanceFloor& one = rows.front();
  const std::string layout =
      one.nodes == 1 ? "" : fmt::format(" --map-by ppr:{}:node", one.ranks / one.nodes);
  return fmt::format("mpirun{} -np {}{} collbench --ops {} --sizes {} --fail-on none --min-busbw '{}'",
                     options, one.ranks, layout, fmt::join(operations, ","), size_option(largest),
                     min_busbw_option(rows));
}

std::vector<int> node_counts(const AcceptanceFloors& floors) {
  std::vector<int> counts;
  for (const AcceptanceFloor& row : floors.rows)
    if (std::ranges::find(counts, row.nodes) == counts.end()) counts.push_back(row.nodes);
  return counts;
}

/// What stands below the table: commands, which a page shows as code and no width breaks.
std::vector<std::string> commands(const AcceptanceFloors& floors) {
  std::vector<std::string> lines;
  for (const int nodes : node_counts(floors)) {
    const std::vector<AcceptanceFloor> rows = rows_on(floors, nodes);
    const std::string command = check_command(rows);
    lines.push_back(
        fmt::format("# {}{}", counted(nodes, "node"), command.empty() ? ": no floor, as the notes say" : ""));
    if (command.empty()) continue;
    lines.push_back(command);
    // check_cmd_status of LBNL Node Health Check (github.com/mej/nhc, scripts/lbnl_cmd.nhc), which runs as
    // root.
    if (nodes == 1) {
      lines.emplace_back(
          "# for nhc.conf, with both programs' full paths and nhc's TIMEOUT above 600 s; on idle nodes only");
      lines.push_back("* || check_cmd_status -t 600 -r 0 " + check_command(rows, " --allow-run-as-root"));
    }
  }
  return lines;
}

std::string title(const AcceptanceFloors& floors) {
  return fmt::format("{}, {}: acceptance floors, bus bandwidth in GB/s (10^9 B/s)", floors.topology,
                     floors.gpu);
}

constexpr std::string_view kMeaning =
    "Reject under the floor: judge calls a machine BELOW whose largest sizes are under it, and SOUND from "
    "the last figure on. Between them, and at the rate of another algorithm (NVLS off), it says UNCLEAR.";

std::string rate_or_none(std::optional<double> rate) { return rate ? fmt::format("{:.1f}", *rate) : "–"; }

/// "0.82 × expected by nvls_tree; RDMA between nodes, 10 machines"
std::string derivation(const AcceptanceFloor& row) {
  return row.floor ? fmt::format("{:.2f} × expected: {}", row.range.below, row.range.source)
                   : row.range.source;
}

/// The derivations, each once; a row's note is the number of its own, from 1 on.
std::vector<std::string> derivations(const AcceptanceFloors& floors) {
  std::vector<std::string> found;
  for (const AcceptanceFloor& row : floors.rows)
    if (std::ranges::find(found, derivation(row)) == found.end()) found.push_back(derivation(row));
  return found;
}

ReportTable table(const AcceptanceFloors& floors) {
  const std::vector<std::string> notes = derivations(floors);
  ReportTable table{.headings = {"operation", "nodes", "size", "expected", "floor", "SOUND from", "note"}};
  for (const AcceptanceFloor& row : floors.rows) {
    const auto note = std::ranges::find(notes, derivation(row)) - notes.begin() + 1;
    table.rows.push_back({operation(row.operation).name, fmt::to_string(row.nodes),
                          format_bytes(row.size_bytes), fmt::format("{:.1f}", row.expected),
                          rate_or_none(row.floor), rate_or_none(row.sound), fmt::format("[{}]", note)});
  }
  return table;
}

/// "[1] 0.85 × expected: NVLink within a node, 3 machines"
std::vector<std::string> notes(const AcceptanceFloors& floors) {
  std::vector<std::string> lines = derivations(floors);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = fmt::format("[{}] {}", i + 1, lines[i]);
  return lines;
}

Document document_of(const AcceptanceFloors& floors) {
  return {title(floors),
          {{"", {table(floors), notes(floors), ReportCode{commands(floors)}}}},
          {{std::string(kMeaning)}}};
}

std::string as_csv(const AcceptanceFloors& floors) {
  std::string text =
      "operation,size_bytes,nodes,ranks,expected_gb_per_s,floor_gb_per_s,sound_from_gb_per_s,derivation\n";
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{:.1f}", *value) : ""; };
  for (const AcceptanceFloor& row : floors.rows)
    text += fmt::format("{},{},{},{},{:.1f},{},{},{}\n", operation(row.operation).option, row.size_bytes,
                        row.nodes, row.ranks, row.expected, number(row.floor), number(row.sound),
                        csv_cell(derivation(row)));
  return page_text(text);
}

std::string as_json(const AcceptanceFloors& floors) {
  Json rows = Json::array();
  for (const AcceptanceFloor& row : floors.rows)
    rows.push_back({{"operation", operation(row.operation).option},
                    {"size_bytes", row.size_bytes},
                    {"nodes", row.nodes},
                    {"ranks", row.ranks},
                    {"expected_gb_per_s", row.expected},
                    {"floor_gb_per_s", or_null(row.floor)},
                    {"sound_from_gb_per_s", or_null(row.sound)},
                    {"derivation", derivation(row)}});
  Json options = Json::object();
  for (const int nodes : node_counts(floors))
    if (const std::string option = min_busbw_option(rows_on(floors, nodes)); !option.empty())
      options[fmt::to_string(nodes)] = option;
  const Json whole{{"record", "collbench floors"},
                   {"topology", floors.topology},
                   {"gpu", floors.gpu},
                   {"rows", std::move(rows)},
                   {"min_busbw_by_nodes", std::move(options)}};
  return json_document(whole);
}

}  // namespace

std::vector<std::uint64_t> floor_sizes(std::string_view machine) {
  std::vector<std::uint64_t> sizes{64 * kMiB, kGiB, 8 * kGiB};
  for (const int nodes : {1, 2}) {
    const auto* limit = topology::acceptance_limit(machine, "AllReduce", nodes, 16 * kGiB);
    if (limit != nullptr && limit->from_bytes > sizes.back()) sizes.push_back(limit->from_bytes);
  }
  return sizes;
}

void add_floors(AcceptanceFloors& floors, const GpuCluster& cluster, std::span<const OperationId> operations,
                std::span<const std::uint64_t> sizes_bytes) {
  floors.gpu = cluster.gpu;
  for (const PredictedRow& row : predict(floors.topology, cluster, operations, sizes_bytes).rows) {
    const std::optional<double> expected = predicted_busbw(row, cluster).expected;
    if (!expected) continue;
    AcceptanceFloor floor{row.operation,
                          row.size_bytes,
                          cluster.nodes,
                          cluster.ranks(),
                          *expected,
                          {},
                          {},
                          healthy_range(row.operation, row.size_bytes, *expected, cluster)};
    if (std::isfinite(floor.range.sound)) {
      floor.floor = rounded_down(floor.range.below * *expected);
      floor.sound = rounded_down(floor.range.sound * *expected);
    }
    floors.rows.push_back(std::move(floor));
  }
}

std::string report(const AcceptanceFloors& floors, std::string_view format, int columns) {
  if (format == "md") return markdown(document_of(floors));
  if (format == "csv") return as_csv(floors);
  if (format == "json") return as_json(floors);
  if (format == "text") return text(document_of(floors), {.columns = columns});
  throw usage_error("--format", fmt::format("'{}' is not a format of floors", format),
                    "choose text, md, csv or json");
}

}  // namespace collbench::analysis
