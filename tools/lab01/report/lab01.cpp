#include "tools/lab01/report/lab01.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/report/columns.hpp"
#include "analysis/report/html/markup.hpp"
#include "analysis/report/run_charts.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/verdict/fitting_machines.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/lab01/report/gap.hpp"

namespace collbench::analysis {
namespace {

struct LabSize {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<LabSize, 3> kSizes{
    {{"1 MB", 1'000'000}, {"100 MB", 100'000'000}, {"1 GB", 1'000'000'000}}};
constexpr double kNearEnough = 1.5;

/// The AllReduce row next to `bytes`: out of place before in place, what the library chose before what was
/// forced.
const Row* nearest_row(const Run& run, std::uint64_t bytes) {
  const Row* best = nullptr;
  double best_distance = std::log(kNearEnough);
  for (const Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    if (key.operation != OperationId::all_reduce || key.in_place || key.size_bytes == 0) continue;
    if (key.algorithm != kLibraryChoice || !row.measurement.unavailable.empty()) continue;
    if (row.measurement.seconds <= 0 && !row.expectation.expected_seconds) continue;
    const double distance =
        std::fabs(std::log(static_cast<double>(key.size_bytes) / static_cast<double>(bytes)));
    if (distance < best_distance || (best == nullptr && distance == best_distance)) {
      best = &row;
      best_distance = distance;
    }
  }
  return best;
}

/// One of the page's three sizes, with what the page says of it.
struct LabRow {
  const LabSize* size = nullptr;
  const Row* row = nullptr;  ///< null: the run has none near it
  Rates rates;
  std::optional<Gap> gap;
};

std::vector<LabRow> lab_rows(const Run& run, const Lab01Options& options) {
  std::vector<LabRow> rows;
  for (const LabSize& size : kSizes) {
    LabRow& lab = rows.emplace_back(LabRow{&size, nearest_row(run, size.bytes), {}, {}});
    if (lab.row == nullptr) continue;
    lab.rates = rates(*lab.row, static_cast<int>(run.ranks.size()));
    lab.gap = gap_of(run, *lab.row, options.machine, options.ceilings);
  }
  return rows;
}

ReportSection hardware(const Run& run, const Lab01Options& options) {
  if (!options.prediction.empty())
    return {"Hardware",
            {ReportList{options.prediction, "nothing was measured: every figure is an expectation"}}};
  ReportSection section{"Hardware as found", {}};
  if (!measures_gpus(run.backend)) {
    section.blocks.emplace_back(
        "No GPU took part: this is host memory through MPI. NVLink and InfiniBand do not apply; the links "
        "are those that calibration measured.");
  }
  ReportList facts;
  for (const ReportLine& fact : header_lines(run)) facts.push_back(fact.text);
  section.blocks.emplace_back(std::move(facts));
  return section;
}

ReportSection checks(const Lab01Options& options) {
  ReportTable table{.headings = {"question", "answer"}, .is_text = true, .right = 1};
  for (const PrecedingCheck& check : options.checks)
    table.rows.push_back(
        {check.question, {check.answer, tone_class(check.good ? Tone::plain : Tone::warning)}});
  return {"Preliminary checks", {std::move(table)}};
}

std::string percent_of(double part, double whole) { return fmt::format("{:.0f} %", 100 * part / whole); }

std::string ceilings_legend(const Run& run, const Lab01Options& options) {
  if (!measures_gpus(run.backend)) return "The link alone, then with reduction and copies.";
  if (!options.machine) return "By the links as NCCL counts them; their line rates are not known.";
  return fmt::format(
      "{} Reachable: large buffers by the model (docs/model.md), which takes the links as they are reached "
      "and what each algorithm is known to lose.",
      options.ceilings.are_bounds ? "At line rate: no run can be above it."
                                  : "No source gives the line rate of every link: NCCL's figure stands in, "
                                    "and a run may be above it.");
}

std::string line_rate_heading(bool gpus, bool are_bounds) {
  if (!gpus) return "link alone";
  return are_bounds ? "at line rate" : "by the links above";
}

ReportTable ceiling_table(const Run& run, const Lab01Ceilings& found) {
  const auto any = [&](const std::optional<double> AlgorithmCeiling::* rate) {
    return std::ranges::any_of(found.algorithms,
                               [&](const AlgorithmCeiling& each) { return (each.*rate).has_value(); });
  };
  const bool gpus = measures_gpus(run.backend);
  const bool line_rates = any(&AlgorithmCeiling::line_rate);
  const bool counts = std::ranges::any_of(
      found.algorithms, [](const auto& each) { return each.by_nccl && each.by_nccl != each.line_rate; });
  const bool reachable = any(&AlgorithmCeiling::reachable);
  ReportTable table{.headings = {"AllReduce by", "arithmetic"}, .left = 2, .right = 1};
  if (line_rates) table.headings.push_back(line_rate_heading(gpus, found.are_bounds));
  if (counts) table.headings.emplace_back("by NCCL's count");
  if (reachable) table.headings.emplace_back(gpus ? "reachable" : "with reduction and copies");
  table.headings.emplace_back("because");
  for (const AlgorithmCeiling& each : found.algorithms) {
    std::vector<ReportCell>& cells =
        table.rows.emplace_back(std::vector<ReportCell>{each.name, each.arithmetic});
    if (line_rates) cells.emplace_back(table_rate(each.line_rate));
    if (counts) cells.emplace_back(table_rate(each.by_nccl));
    if (reachable) {
      cells.emplace_back(table_rate(each.reachable));
      if (each.reachable && each.bound() > 0)
        cells.back().text += " (" + percent_of(*each.reachable, each.bound()) + ")";
    }
    cells.emplace_back(each.because);
  }
  return table;
}

ReportSection ceilings(const Run& run, const Lab01Options& options) {
  ReportSection section{"Theoretical ceilings", {}};
  const Lab01Ceilings& found = options.ceilings;
  if (!options.without_machine.empty()) section.blocks.emplace_back(options.without_machine);
  if (found.links.empty()) {
    section.blocks.emplace_back("Unknown: neither the record nor a topology describes the links.");
    return section;
  }
  section.blocks.emplace_back("One direction; GB = 10^9 bytes.");
  ReportTable links{.headings = {"link", "arithmetic", "GB/s", "from"}, .left = 2, .right = 1};
  for (const LinkCeiling& link : found.links)
    links.rows.push_back({link.what, link.arithmetic, table_rate(link.bytes_per_second), link.source});
  section.blocks.emplace_back(std::move(links));
  if (found.algorithms.empty()) return section;
  section.blocks.emplace_back(
      fmt::format("busbw of AllReduce, p = {} ranks, S bytes in each rank's buffer. {}", run.ranks.size(),
                  ceilings_legend(run, options)));
  section.blocks.emplace_back(ceiling_table(run, found));
  return section;
}

/// NVLS at a row's size by the model.
std::optional<double> nvls_of(const Run& run, const Row& row, const Lab01Options& options) {
  if (!options.machine || !row.expectation.expected_seconds) return std::nullopt;
  const auto rate = gpu_nvls(options.machine->cluster);
  if (!rate) return std::nullopt;
  const RowKey& key = row.measurement.key;
  const Operation& meant = operation(key.operation);
  const double seconds = kMicrosecond * gpu_microseconds(meant, options.machine->cluster,
                                                         static_cast<double>(key.size_bytes), *rate);
  return bus_bandwidth(meant, key.size_bytes, static_cast<int>(run.ranks.size()), seconds);
}

std::optional<double> ceiling_of(const Lab01Options& options, std::string_view algorithm) {
  const AlgorithmCeiling* found = options.ceilings.find(algorithm);
  return found == nullptr ? std::nullopt : std::optional(found->bound());
}

/// What a row expects of an algorithm; where it has no expectation, what the ceiling allows at most.
std::string expected_or_ceiling(std::optional<double> expected, std::optional<double> ceiling) {
  return expected || !ceiling ? table_rate(expected) : "≤ " + table_rate(ceiling);
}

std::string band_of(const Run& run, const Row& row) {
  if (!row.expectation.fastest_seconds || !row.expectation.slowest_seconds) return std::string(kNoValue);
  const auto busbw = [&](double seconds) {
    const RowKey& key = row.measurement.key;
    return table_rate(
        bus_bandwidth(operation(key.operation), key.size_bytes, static_cast<int>(run.ranks.size()), seconds));
  };
  return fmt::format("{} to {}", busbw(*row.expectation.slowest_seconds),
                     busbw(*row.expectation.fastest_seconds));
}

ReportSection results(const Run& run, const Lab01Options& options, const std::vector<LabRow>& rows) {
  const bool measured = options.prediction.empty();
  const bool nvls = options.machine && gpu_nvls(options.machine->cluster);
  const bool band = std::ranges::any_of(rows, [](const LabRow& lab) {
    return lab.row != nullptr && lab.row->expectation.fastest_seconds && lab.row->expectation.slowest_seconds;
  });
  ReportTable table{.headings = {"size", measured ? "measured at" : "bytes", "time (µs)", "ring", "tree"},
                    .left = 0};
  std::vector<std::string>& headings = table.headings;
  if (nvls) headings.emplace_back("NVLS");
  headings.emplace_back("expected");
  if (band) headings.emplace_back("band");
  if (measured) headings.insert(headings.end(), {"measured", "measured/expected"});
  for (const LabRow& lab : rows) {
    std::vector<ReportCell>& cells = table.rows.emplace_back(std::vector<ReportCell>{lab.size->name});
    if (lab.row == nullptr) {
      cells.resize(headings.size(), kNoValue);
      continue;
    }
    const Row& row = *lab.row;
    const double seconds = measured ? row.measurement.seconds : row.expectation.expected_seconds.value_or(0);
    cells.emplace_back(lab01_size(row.measurement.key.size_bytes));
    cells.emplace_back(table_number(seconds / kMicrosecond, 8));
    cells.emplace_back(expected_or_ceiling(lab.rates.ring_bus_bandwidth, ceiling_of(options, "ring")));
    cells.emplace_back(expected_or_ceiling(lab.rates.tree_bus_bandwidth, ceiling_of(options, "tree")));
    if (nvls) cells.emplace_back(table_rate(nvls_of(run, row, options)));
    cells.emplace_back(table_rate(lab.rates.expected_bus_bandwidth));
    if (band) cells.emplace_back(band_of(run, row));
    if (measured) {
      const auto& ratio = lab.rates.measured_over_expected;
      cells.emplace_back(table_rate(lab.rates.bus_bandwidth));
      cells.emplace_back(ratio ? fmt::format("{:.2f}", *ratio) : std::string(kNoValue));
    }
  }
  return {fmt::format("AllReduce, expected{}", measured ? " and measured" : ""),
          {fmt::format("busbw in GB/s{}.{}",
                       measured ? ", of the run's row nearest to each size" : "; time as expected",
                       measures_gpus(run.backend) ? fmt::format(" {}.", kRingAndTreeColumns) : ""),
           std::move(table)}};
}

/// Where a measurement is above what the links allow to the algorithms.
std::string above_ceilings(const Run& run, const Lab01Options& options, const LabRow& lab) {
  const auto& busbw = lab.rates.bus_bandwidth;
  const auto& ceilings = options.ceilings;
  if (!busbw || ceilings.links.empty()) return "";
  if (!measures_gpus(run.backend)) {
    if (*busbw <= ceilings.links.front().bytes_per_second) return "";
    return " This is faster than the calibrated link at its fastest: the calibration met a busier machine, "
           "and its figures bound nothing.";
  }
  const auto ring = ceiling_of(options, "ring");
  if (!ring || *busbw <= std::max(*ring, ceiling_of(options, "tree").value_or(0))) return "";
  if (!options.machine) {
    return " This is above what ring and tree reach by the links that NCCL's lines count: NCCL may reduce in "
           "the NVSwitch (NVLS), or count less than there is.";
  }
  const double nvls =
      std::max(ceiling_of(options, "nvls").value_or(0), ceiling_of(options, "nvls_tree").value_or(0));
  if (*busbw <= nvls) {
    return " This is above what the links give ring and tree: NCCL reduced in the NVSwitch (NVLS), if "
           "topology and rank count are right.";
  }
  return options.ceilings.are_bounds
             ? " This is above the line rate of every algorithm: the given machine or rank count is wrong."
             : " This is above what NCCL's figures give any algorithm: the machine has faster links than "
               "them, or the given machine or rank count is wrong.";
}

/// The sizes of the page that lie below their own bands, which the verdict on the largest ones says nothing
/// of.
std::string not_covered(const std::vector<LabRow>& rows) {
  std::vector<std::string> below;
  for (const LabRow& lab : rows) {
    if (lab.row == nullptr || side_of_band(*lab.row) != -1) continue;
    below.push_back(
        fmt::format("{} ({:.2f} of expected)", lab.size->name, lab.rates.measured_over_expected.value_or(0)));
  }
  if (below.empty()) return "";
  return fmt::format(" It does not speak for {}, which is below its own band.",
                     fmt::join(below, ", nor for "));
}

ReportSection explanations(const Run& run, const Lab01Options& options, const std::vector<LabRow>& rows) {
  ReportList items;
  const Row* largest = nullptr;
  for (const LabRow& lab : rows) {
    if (lab.row == nullptr) {
      items.push_back(fmt::format("{}: the run has no AllReduce within a factor of {} of it.", lab.size->name,
                                  kNearEnough));
      continue;
    }
    largest = lab.row;
    items.push_back(fmt::format("{}: {}{}", lab.size->name, lab01_explanation(run, *lab.row, options.machine),
                                above_ceilings(run, options, lab)));
  }
  const std::string verdict = largest == nullptr ? "" : lab01_verdict(run, *largest);
  if (!verdict.empty()) {
    const bool good = largest->verdict.word == VerdictWord::sound;
    items.push_back(
        fmt::format("Verdict, by the run's largest sizes: {}{}", verdict, good ? not_covered(rows) : ""));
  }
  return {"Explanation", {std::move(items)}};
}

std::vector<SizeGap> gaps_of(const std::vector<LabRow>& rows) {
  std::vector<SizeGap> gaps;
  for (const LabRow& lab : rows) {
    if (lab.gap) gaps.push_back({std::string(lab.size->name), lab.row->measurement.key.size_bytes, *lab.gap});
  }
  return gaps;
}

}  // namespace

Run lab01_prediction(const GpuCluster& cluster) {
  Run run;
  run.backend = BackendId::nccl;
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    run.ranks.push_back({rank, "", rank / cluster.ranks_per_node, rank % cluster.ranks_per_node});
  }
  for (const LabSize& size : kSizes) {
    Row& row = run.rows.emplace_back();
    row.measurement.key.operation = OperationId::all_reduce;
    row.measurement.key.size_bytes = size.bytes;
    row.measurement.key.count = size.bytes / sizeof(float);
    row.measurement.key.reduction = Reduction::sum;
    row.measurement.algorithm_ran = kLibraryChoice;
    row.expectation = expect_on_gpus(OperationId::all_reduce, size.bytes,
                                     with_table_choice(cluster, OperationId::all_reduce, size.bytes));
    // Over sockets the model is a ceiling: how far below it a run stays, no source tells.
    if (cluster.domains() > 1 && traits(cluster.transport).slower_than_nics)
      row.expectation.slowest_seconds.reset();
  }
  return run;
}

std::string lab01_suggestion(const Run& run) {
  if (!run.log) return fmt::format("The machine is not known; {}.", kHowToSaveMachine);
  return fmt::format("No topology is given{} {}", run.log->gpu ? ";" : ", and", suggested_topology(*run.log));
}

Document lab01_document(const Run& run, const Lab01Options& options) {
  const std::vector<LabRow> rows = lab_rows(run, options);
  const std::vector<SizeGap> gaps = gaps_of(rows);
  Document document{
      fmt::format("Lab 01: AllReduce, expected{}", options.prediction.empty() ? " and measured" : ""),
      {hardware(run, options)}};
  std::vector<ReportSection>& sections = document.sections;
  if (!options.checks.empty()) sections.push_back(checks(options));
  sections.push_back(ceilings(run, options));
  sections.push_back(results(run, options, rows));
  if (!gaps.empty()) sections.push_back(gap_section(run, options, gaps));
  sections.push_back(explanations(run, options, rows));
  sections.push_back(lab01_price(run, options, gaps));
  return document;
}

std::string report_lab01(const Run& run, const Lab01Options& options) {
  return markdown(lab01_document(run, options));
}

std::string lab01_page(Document document, const Run& run) {
  for (ReportSection& section : document.sections)
    if (section.heading.starts_with("AllReduce"))
      section.blocks.insert(section.blocks.begin(), charts_of(run_charts(run), OperationId::all_reduce));
  return page_text(html_page(document));
}

}  // namespace collbench::analysis
