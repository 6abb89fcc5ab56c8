#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/charts/run_charts.hpp"
#include "analysis/report/cluster_findings.hpp"
#include "analysis/report/columns.hpp"
#include "analysis/report/html/machine_drawing.hpp"
#include "analysis/report/html/page.hpp"
#include "analysis/report/html/rank_map.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {
namespace {

HtmlSection operation_section(const Run& run, OperationId id, const std::vector<OperationCharts>& charts) {
  std::string body = html_list(unavailable_lines(run, id));
  const std::vector<ReportRow> rows = rows_of(run, id);
  ReportTable table = table_of_rows(rows, columns_for(run, rows));
  table.caption = operation_line(id, static_cast<int>(run.ranks.size())).text;
  std::string pictures;
  for (const OperationCharts& each : charts) {
    if (each.operation != id) continue;
    for (const Chart& chart : each.charts) pictures += html_chart(chart);
  }
  if (!pictures.empty()) body += "<div class=\"charts\">\n" + pictures + "</div>\n";
  if (!table.rows.empty()) body += html_table(table);
  return {std::string(operation(id).option), std::string(operation(id).name), std::move(body)};
}

/// Lines of `lines` that are not among `others`.
ReportLines without(const ReportLines& lines, const ReportLines& others) {
  ReportLines rest;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(rest), [&](const ReportLine& line) {
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
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(ordered), is_loud);
  std::remove_copy_if(lines.begin(), lines.end(), std::back_inserter(ordered), is_loud);
  return ordered;
}

std::string environment_body(const Run& run) {
  std::string body;
  if (!run.command_line.empty())
    body += "<h3>Command</h3>\n" + html_paragraph(fmt::format("{}", fmt::join(run.command_line, " ")));
  ReportTable versions{"Versions", {"of", "version"}, {}, true};
  for (const auto& [name, version] :
       std::initializer_list<std::pair<std::string, std::string>>{{"collbench", run.versions.collbench},
                                                                  {"MPI", run.versions.mpi},
                                                                  {"hwloc", run.versions.hwloc},
                                                                  {"NCCL", run.versions.nccl},
                                                                  {"CUDA", run.versions.cuda}}) {
    if (!version.empty()) versions.rows.push_back({{name}, {version}});
  }
  if (!versions.rows.empty()) body += html_table(versions);
  ReportTable variables{
      "Environment variables of rank 0 that bear on the result", {"variable", "value"}, {}, true};
  for (const auto& [name, value] : run.environment) variables.rows.push_back({{name}, {value}});
  if (!variables.rows.empty()) body += html_table(variables);
  return body.empty() ? html_paragraph("not known") : body;
}

/// The first node of a kind, with what it has or lacks beside the usual kind marked in it.
std::string kind_drawing(const topology::HostGroup& kind, const DiffReport& found) {
  const auto odd = std::ranges::find_if(found.pairs, [&kind](const ComparedHosts& each) {
    return !each.b.empty() && each.b.front() == kind.names.front();
  });
  return machine_drawing(
      kind.first, kind.names.front(),
      odd == found.pairs.end() ? std::vector<topology::DrawingMark>{} : drawing_marks(odd->findings));
}

/// The different machines of the run, the usual one first.
std::string machines_body(const Run& run) {
  if (!run.cluster) return {};
  constexpr std::size_t kMaxDrawn = 3;
  ReportLines summary;
  for (const std::string& line : run.cluster->summary) summary.push_back({line});
  std::string body = html_list(summary);
  try {
    const topology::ClusterTopology cluster = topology::read_cluster_record(*run.cluster, "the record");
    const std::vector<topology::HostGroup> kinds = cluster_groups(cluster);
    const DiffReport found = kinds.size() > 1 ? cluster_findings(cluster, std::nullopt, false) : DiffReport{};
    for (std::size_t i = 0; i < std::min(kinds.size(), kMaxDrawn); ++i) body += kind_drawing(kinds[i], found);
    if (kinds.size() > kMaxDrawn)
      body +=
          html_paragraph(fmt::format("{} more different machines are not drawn", kinds.size() - kMaxDrawn));
  } catch (const Error& error) {
    body += html_paragraph(fmt::format("the machines of the record cannot be drawn: {}", error.what()));
  }
  return body;
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
  std::vector<HtmlSection> sections;
  sections.push_back({"outcome", "Outcome", html_list(loud_first(without(footer, fits)))});
  for (const OperationId id : operations_in(run)) sections.push_back(operation_section(run, id, charts));
  sections.push_back({"columns", "What the columns mean", html_list(legend_lines(run))});
  if (std::string map = rank_map_body(run); !map.empty())
    sections.push_back({"ranks", "Ranks", std::move(map)});
  if (!fits.empty()) {
    sections.push_back(
        {"fits", "Fits: time = α + bytes ÷ algbw",
         html_list(fits) +
             html_paragraph("α: what a call takes however small it is; algbw: the rate that large "
                            "sizes approach; n½: the size at which half of it is reached")});
  }
  if (std::string machines = machines_body(run); !machines.empty())
    sections.push_back({"machines", "Machines", std::move(machines)});
  sections.push_back({"environment", "Environment and command", environment_body(run)});
  ReportLines lead = verdict_headline(run);
  for (ReportLine& line : header_lines(run)) lead.push_back(std::move(line));
  return html_page(page_title(run), lead, sections);
}

}  // namespace collbench::analysis
