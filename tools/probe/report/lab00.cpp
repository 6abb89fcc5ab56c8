#include "tools/probe/report/lab00.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/probe/siblings.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/probe/report/probe_report.hpp"
#include "topology/catalog/training_gpus.hpp"

namespace collbench::analysis {
namespace {

constexpr double kBytesOfBf16 = 2;
constexpr double kBytesOfFp64 = 8;
constexpr double kGigaFlop = 1e9;
/// A triad: two operations on 24 bytes.
constexpr double kTriadIntensity = 2.0 / 24;
/// What the chart shows, in flop/B.
constexpr double kMinIntensity = 1.0 / 16;
constexpr double kMaxIntensity = 4096;

double highest_rate(const ProbeRecord& record, std::initializer_list<std::string_view> ids) {
  double rate = 0;
  for (const ProbeMeasurement& each : record.measurements) {
    if (std::ranges::find(ids, each.id) != ids.end()) rate = std::max(rate, rate_of_all_cores(each));
  }
  return rate;
}

/// The matrix products in FP64 that were measured, by size.
std::vector<const ProbeMeasurement*> measured_products(const ProbeRecord& record) {
  std::vector<const ProbeMeasurement*> found;
  for (const ProbeMeasurement& each : record.measurements) {
    if (each.id == "gemm-fp64") found.push_back(&each);
  }
  std::ranges::sort(found, [](const auto* a, const auto* b) { return a->size < b->size; });
  return found;
}

ChartSeries roof_series(const Roofline& roof, SeriesKind kind) {
  return {.name = roof.name,
          .kind = kind,
          .points = {{kMinIntensity, roof.bound(kMinIntensity) / kGigaFlop},
                     {roof.ridge(), roof.flops / kGigaFlop},
                     {kMaxIntensity, roof.flops / kGigaFlop}}};
}

std::string roofs_table(const std::vector<Roofline>& roofs) {
  std::string text =
      "| machine | peak | memory | ridge point | products are bound by arithmetic from |\n"
      "| --- | ---: | ---: | ---: | ---: |\n";
  for (const Roofline& roof : roofs) {
    text += fmt::format("| {} | {} | {} | {:.1f} FLOP/B | n = {:.0f} |\n", markdown_text(roof.name),
                        probe_rate_text(roof.flops, ProbeUnit::flop),
                        probe_rate_text(roof.bytes, ProbeUnit::byte), roof.ridge(), matmul_at_ridge(roof));
  }
  return text;
}

/// What an n × n × n product may do, and what it did.
std::string products_table(const ProbeRecord& record, const Roofline& roof) {
  std::string text =
      "| n | intensity | bytes of the three | the roof allows | measured | of the roof |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const ProbeMeasurement* const each : measured_products(record)) {
    const double intensity = matmul_intensity(each->size, kBytesOfFp64);
    const double bound = roof.bound(intensity);
    const double rate = rate_of_all_cores(*each);
    const auto bytes = static_cast<std::uint64_t>(3 * kBytesOfFp64 * each->size * each->size);
    text += fmt::format("| {} | {:.1f} FLOP/B | {} | {}, by {} | {} | {:.0f} % |\n", each->size, intensity,
                        format_bytes(bytes), probe_rate_text(bound, ProbeUnit::flop),
                        intensity < roof.ridge() ? "memory" : "arithmetic",
                        probe_rate_text(rate, ProbeUnit::flop), 100 * rate / bound);
  }
  return text;
}

std::string price_section(const Roofline& roof, const Lab00Price& price) {
  if (!price.per_hour) return "Not given: `--price` takes the price of this host for one hour.\n";
  constexpr double kSecondsOfHour = 3600;
  const std::string currency = price.currency.empty() ? "" : " " + markdown_text(price.currency);
  const auto per = [&](double in_an_hour) {
    return fmt::format("{}{}", format_significant(*price.per_hour / in_an_hour, 3, 12), currency);
  };
  const double tera = 1e12;
  const double flops = roof.flops * kSecondsOfHour / tera;
  const double bytes = roof.bytes * kSecondsOfHour / tera;
  return fmt::format(
      "An hour costs {:.2f}{}. It buys at most {:.0f} TFLOP ({} each) or {:.0f} TB of memory traffic ({} "
      "each): work whose intensity is below the ridge point pays for arithmetic that waits, work above it "
      "for memory that waits. A triad ({:.2f} FLOP/B) uses {:.1f} % of the arithmetic that the hour pays "
      "for.\n",
      *price.per_hour, currency, flops, per(flops), bytes, per(bytes), kTriadIntensity,
      100 * roof.bound(kTriadIntensity) / roof.flops);
}

/// Where the smallest and the largest product that were measured lie.
std::string roofline_explanation(const ProbeRecord& record, const Roofline& roof) {
  std::string text = fmt::format(
      "Below {:.1f} FLOP/B memory sets the rate, above it arithmetic. A triad has {:.2f} FLOP/B, so it may "
      "do {}, {:.1f} % of the peak. An n × n product in FP64 has n/12 FLOP/B where each matrix crosses to "
      "memory once.\n",
      roof.ridge(), kTriadIntensity, probe_rate_text(roof.bound(kTriadIntensity), ProbeUnit::flop),
      100 * roof.bound(kTriadIntensity) / roof.flops);
  const auto all = measured_products(record);
  const auto above = std::ranges::find_if(all, [&](const ProbeMeasurement* each) {
    return rate_of_all_cores(*each) > roof.bound(matmul_intensity(each->size, kBytesOfFp64));
  });
  if (above != all.end()) {
    text += fmt::format(
        "\nn = {} lies above its roof, and that is no error: the slope is that of memory, and its three "
        "matrices ({}) are in a cache when they are multiplied again.\n",
        (*above)->size,
        format_bytes(static_cast<std::uint64_t>(3 * kBytesOfFp64 * (*above)->size * (*above)->size)));
  }
  return text;
}

/// The probe's own page as a section of this one: its verdict below its tables.
std::string all_that_was_measured(const ProbeRecord& record) {
  Document probed = probe_document({record});
  ReportSection section{"All that was measured", {probed.sections[0].heading}};
  for (ReportBlock& block : probed.sections[0].blocks) section.blocks.push_back(std::move(block));
  ReportLines verdict{probed.headline};
  verdict.insert(verdict.end(), probed.lead.begin(), probed.lead.end());
  section.blocks.emplace_back(std::move(verdict));
  for (ReportBlock& block : probed.sections[1].blocks) section.blocks.push_back(std::move(block));
  return markdown(section);
}

}  // namespace

double Roofline::bound(double intensity) const { return std::min(flops, bytes * intensity); }

double matmul_intensity(double n, double bytes_per_number) {
  constexpr double kMatrices = 3;
  return 2 * n / (kMatrices * bytes_per_number);
}

double matmul_at_ridge(const Roofline& roof) {
  return std::ceil(roof.ridge() / matmul_intensity(1, roof.bytes_per_number));
}

std::optional<Roofline> host_roofline(const ProbeRecord& record) {
  const double flops = highest_rate(record, {"fma-fp64", "gemm-fp64"});
  const double bytes = highest_rate(record, {"triad", "triad-streaming"});
  if (flops <= 0 || bytes <= 0) return std::nullopt;
  return Roofline{fmt::format("{}, FP64", record.host), flops, bytes, kBytesOfFp64};
}

std::vector<Roofline> gpu_rooflines(const ProbeRecord& record) {
  // Products are measured in several sizes.
  std::map<std::string, Roofline> of_gpus;
  for (const ProbeMeasurement& each : record.measurements) {
    if (each.id != "gpu-gemm-bf16" && each.id != "gpu-hbm-copy") continue;
    for (const ProbeRate& rate : probe_rates(record, each)) {
      Roofline& roof = of_gpus[fmt::format("{} ({}), BF16", rate.name, rate.model)];
      double& highest = each.id == "gpu-gemm-bf16" ? roof.flops : roof.bytes;
      highest = std::max(highest, rate.rate);
    }
  }
  std::vector<Roofline> roofs;
  for (const auto& [name, roof] : of_gpus) {
    if (roof.flops > 0 && roof.bytes > 0) roofs.push_back({name, roof.flops, roof.bytes, kBytesOfBf16});
  }
  for (const std::string_view name : {"A100 SXM", "H100 SXM"}) {
    const topology::TrainingGpu& gpu = topology::find_training_gpu(name, "lab00");
    roofs.push_back({fmt::format("{}, BF16, published (data sheet: {})", name,
                                 probe_rate_text(gpu.peak_bf16, ProbeUnit::flop)),
                     gpu.gemm_bf16, gpu.hbm_rate, kBytesOfBf16});
  }
  return roofs;
}

std::string lab00_caveat(const ProbeRecord& record) {
  if (record.taken_share && was_disturbed(record)) {
    return fmt::format(
        "others took {:.0f} % of the cores' time meanwhile, so the figures are lower than this machine's "
        "best, by how much is not known; measure again when it is idle",
        100 * *record.taken_share);
  }
  const std::vector<SlowPart> slow = judge_probes({record}).slow;
  if (slow.empty()) return {};
  return fmt::format("{}{}", slow.front().evidence,
                     slow.size() > 1 ? fmt::format(", and {} more below", slow.size() - 1) : "");
}

Chart roofline_chart(const ProbeRecord& record) {
  Chart chart{.id = "roofline",
              .title = "Roofline: what bounds the rate (the host in FP64, GPUs in BF16)",
              .x = {.title = "intensity (FLOP/B)", .logarithmic = true},
              .y = {.title = "rate (GFLOP/s)", .logarithmic = true},
              .series = {}};
  if (const auto roof = host_roofline(record)) {
    chart.series.push_back(roof_series(*roof, SeriesKind::expected));
    ChartSeries measured{.name = "matrix products, FP64", .points = {}};
    for (const ProbeMeasurement* const each : measured_products(record)) {
      measured.points.push_back({.x = matmul_intensity(each->size, kBytesOfFp64),
                                 .y = rate_of_all_cores(*each) / kGigaFlop,
                                 .note = fmt::format("n = {}", each->size)});
    }
    if (!measured.points.empty()) chart.series.push_back(std::move(measured));
  }
  bool is_first = true;
  for (const Roofline& roof : gpu_rooflines(record)) {
    chart.series.push_back(roof_series(roof, is_first ? SeriesKind::ring : SeriesKind::tree));
    is_first = false;
  }
  return chart;
}

std::string lab00_page(const ProbeRecord& record, const Lab00Price& price, const std::string& picture) {
  const auto roof = host_roofline(record);
  if (!roof) {
    throw usage_error("--preset lab00", "the record has no arithmetic, or no triad, of processors",
                      "measure with: collbench probe --preset lab00");
  }
  std::vector<Roofline> roofs{*roof};
  for (Roofline& gpu : gpu_rooflines(record)) roofs.push_back(std::move(gpu));
  const std::string caveat = lab00_caveat(record);
  std::string text = fmt::format(
      "# Lab 00: what bounds this machine?\n\nBelow {:.1f} FLOP/B its memory, above that its arithmetic: {}, "
      "{}, in FP64; its caches, clocks and limits are as they were found.{}\n\n"
      "## Peak, memory, ridge point\n{}\n",
      roof->ridge(), markdown_text(record.processor.empty() ? record.host : record.processor),
      counted(record.cores, "core"),
      caveat.empty() ? "" : fmt::format(" **Not clean: {}.**", markdown_text(caveat)), roofs_table(roofs));
  text +=
      "Peak is the fastest arithmetic that was measured, memory the fastest triad (24 bytes an element) or, "
      "of GPUs, copy; the ridge point is one over the other. The host's is in FP64, GPUs' in BF16, so theirs "
      "are no measure of each other. *Published*: A100 and H100 as others measured them "
      "(stas00/ml-engineering for products, Azure/AI-benchmarking-guide for copies), with the data sheet's "
      "dense peak.\n";
  if (!picture.empty()) text += fmt::format("\n![Roofline]({})\n", picture);
  text += all_that_was_measured(record);
  if (!measured_products(record).empty())
    text += "\n## Where products land\n" + products_table(record, *roof);
  text += "\n## What it means\n" + roofline_explanation(record, *roof);
  text += "\n## Price\n" + price_section(*roof, price);
  return text;
}

}  // namespace collbench::analysis
