#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/diff_report.hpp"
#include "analysis/report/html/markup.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/run_charts.hpp"
#include "analysis/report/sections.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {
namespace {

ReportSection operation_section(const Run& run, OperationId id, const std::vector<OperationCharts>& charts) {
  const std::vector<ReportRow> rows = rows_of(run, id);
  ReportTable table = table_of_rows(rows, columns_for(run, rows));
  table.caption = operation_line(id, static_cast<int>(run.ranks.size())).text;
  ReportSection section{std::string(operation(id).name),
                        {unavailable_lines(run, id), charts_of(charts, id)},
                        std::string(operation(id).option)};
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  return section;
}

ReportLines without(const ReportLines& lines, const ReportLines& others) {
  ReportLines rest;
  std::ranges::copy_if(lines, std::back_inserter(rest), [&](const ReportLine& line) {
    return std::ranges::none_of(others, [&](const ReportLine& each) { return each.text == line.text; });
  });
  return rest;
}

/// What nobody may overlook first.
ReportLines loud_first(const ReportLines& lines) {
  const auto is_loud = [](const ReportLine& line) {
    return line.tone == Tone::warning || line.tone == Tone::alarm;
  };
  ReportLines ordered;
  std::ranges::copy_if(lines, std::back_inserter(ordered), is_loud);
  std::remove_copy_if(lines.begin(), lines.end(), std::back_inserter(ordered), is_loud);
  return ordered;
}

std::vector<ReportBlock> environment_blocks(const Run& run) {
  std::vector<ReportBlock> blocks;
  if (!run.command_line.empty())
    blocks.emplace_back(fmt::format("Command: {}", fmt::join(run.command_line, " ")));
  ReportTable versions{"Versions", {"of", "version"}, {}, true};
  for (const auto& [name, version] :
       std::initializer_list<std::pair<std::string, std::string>>{{"collbench", run.versions.collbench},
                                                                  {"MPI", run.versions.mpi},
                                                                  {"hwloc", run.versions.hwloc},
                                                                  {"NCCL", run.versions.nccl},
                                                                  {"CUDA", run.versions.cuda}}) {
    if (!version.empty()) versions.rows.push_back({{name}, {version}});
  }
  if (!versions.rows.empty()) blocks.emplace_back(std::move(versions));
  ReportTable variables{
      "Environment variables of rank 0 that bear on the result", {"variable", "value"}, {}, true};
  for (const auto& [name, value] : run.environment) variables.rows.push_back({{name}, {value}});
  if (!variables.rows.empty()) blocks.emplace_back(std::move(variables));
  if (blocks.empty()) blocks.emplace_back("not known");
  return blocks;
}

/// The first node of a kind, with what it has or lacks beside the usual kind marked in it.
ReportBlock kind_drawing(const topology::HostGroup& kind, const DiffReport& found) {
  const auto odd = std::ranges::find_if(found.pairs, [&kind](const ComparedHosts& each) {
    return !each.b.empty() && each.b.front() == kind.names.front();
  });
  return machine_drawing(
      kind.first, kind.names.front(),
      odd == found.pairs.end() ? std::vector<topology::DrawingMark>{} : drawing_marks(odd->findings));
}

/// The different machines of the run, the usual one first.
std::vector<ReportBlock> machine_blocks(const Run& run) {
  if (!run.cluster) return {};
  constexpr std::size_t kMaxDrawn = 3;
  std::vector<ReportBlock> blocks{run.cluster->summary};
  try {
    const topology::ClusterTopology cluster = topology::read_cluster_record(*run.cluster, "the record");
    const std::vector<topology::HostGroup> kinds = cluster_groups(cluster);
    const DiffReport found = kinds.size() > 1 ? cluster_findings(cluster, std::nullopt, false) : DiffReport{};
    for (std::size_t i = 0; i < std::min(kinds.size(), kMaxDrawn); ++i)
      blocks.push_back(kind_drawing(kinds[i], found));
    if (kinds.size() > kMaxDrawn)
      blocks.emplace_back(fmt::format("{} more different machines are not drawn", kinds.size() - kMaxDrawn));
  } catch (const Error& error) {
    blocks.emplace_back(fmt::format("the machines of the record cannot be drawn: {}", error.what()));
  }
  return blocks;
}

std::string page_title(const Run& run) {
  std::vector<std::string_view> names;
  for (const OperationId id : operations_in(run)) names.push_back(operation(id).name);
  std::string title = fmt::format("{} on {}", fmt::join(names, ", "), counted(run.ranks.size(), "rank"));
  if (run.log && !run.log->file.empty())
    title += " (" + std::filesystem::path(run.log->file).filename().string() + ")";
  return title;
}

}  // namespace

std::string report_html(const Run& run) {
  const ReportLines footer = footer_lines(run);
  const ReportLines fits = fit_lines(run);
  const std::vector<OperationCharts> charts = run_charts(run);
  Document page{
      page_title(run), {{"Outcome", {loud_first(without(footer, fits))}, "outcome"}}, verdict_headline(run)};
  for (ReportLine& line : header_lines(run)) page.lead.push_back(std::move(line));
  for (const OperationId id : operations_in(run)) page.sections.push_back(operation_section(run, id, charts));
  page.sections.push_back({"What the columns mean", {legend_lines(run)}, "columns"});
  page.sections.push_back({"Ranks", rank_map(run), "ranks"});
  if (!fits.empty())
    page.sections.push_back({"Fits: time = α + bytes ÷ algbw",
                             {fits,
                              "α: what a call takes however small it is; algbw: the rate that large sizes "
                              "approach; n½: the size at which half of it is reached"},
                             "fits"});
  page.sections.push_back({"Machines", machine_blocks(run), "machines"});
  page.sections.push_back({"Environment and command", environment_blocks(run), "environment"});
  return html_page(page);
}

}  // namespace collbench::analysis
