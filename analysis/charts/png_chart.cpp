#include "analysis/charts/png_chart.hpp"

#include <fmt/format.h>

#include <utility>

#include "analysis/charts/svg_chart.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kConverter = "rsvg-convert";
const ChildLimits kConverterLimits{.seconds = 60};

void require_started(const ChildResult& result) {
  if (result.end != ChildEnd::not_started) return;
  throw Error(ExitStatus::not_here, "--plot-file",
              "rsvg-convert, which makes PNG of a chart, was not found: " + describe_end(result),
              "install the package librsvg2-bin, or name a file that ends in .svg");
}

}  // namespace

void require_png() { require_started(run_child({kConverter, "--version"}, kConverterLimits)); }

std::string png_chart(const Chart& chart) {
  const ScratchFolder folder;
  const std::string file = folder.file("chart.svg");
  write_file_by_rename(file, svg_chart(chart, true));
  ChildResult result = run_child({kConverter, "--zoom", "2", file}, kConverterLimits);
  require_started(result);
  if (!result.succeeded() || result.cut) {
    throw usage_error(kConverter,
                      fmt::format("{}: {}", describe_end(result, kConverterLimits), excerpt(result.err, 200)),
                      "name a file that ends in .svg");
  }
  return std::move(result.out);
}

}  // namespace collbench::analysis
