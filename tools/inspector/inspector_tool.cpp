#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/tool_main.hpp"
#include "tools/inspector/job_collectives.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

struct InspectorOptions {
  std::vector<std::string> paths;
  std::string topology;  ///< empty: nothing is expected
  OutputOptions output;
};

/// HOST-pidN.log, or nccl_inspector_metrics_GPUUUID.prom.
bool is_inspectors(const fs::path& file) {
  return file.extension() == ".log" ||
         (file.extension() == ".prom" && file.filename().string().starts_with("nccl_inspector_metrics_"));
}

/// The files that Inspector writes of each folder; a file as it is. Throws Error (usage) for a folder without
/// one, or that cannot be read.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::path& entry : entries_of(path, error))
      if (std::error_code unknown; is_inspectors(entry) && fs::is_regular_file(entry, unknown))
        files.push_back(entry.string());
    if (error) throw usage_error(path, error.message(), "give a folder that can be read");
    if (files.size() == before)
      throw usage_error(
          path, "has no file of NCCL Inspector's (HOST-pidN.log, nccl_inspector_metrics_UUID.prom)",
          "give NCCL_INSPECTOR_DUMP_DIR of the job; Inspector deletes .prom files when the job ends");
  }
  return files;
}

/// Why there is nothing to say: what was left out.
std::string left_out_words(const analysis::InspectedJob& job) {
  std::vector<std::string> reasons;
  for (const auto& [why, count] : job.left_out)
    reasons.push_back(fmt::format("{}: {}", counted(count, "line"), why));
  return reasons.empty() ? "has no line" : fmt::format("has no collective ({})", fmt::join(reasons, "; "));
}

CommandResult inspect(const InspectorOptions& options) {
  const auto documents = writable_documents(options.output);
  std::optional<topology::ResolvedMachine> machine;
  if (!options.topology.empty()) machine = topology::resolve_machine(options.topology);
  analysis::InspectorPage page;
  page.machine = options.topology;
  for (const std::string& file : files_of(options.paths)) {
    std::ifstream input(file);
    if (!input) throw usage_error(file, std::strerror(errno), "check the path");
    analysis::read_inspector_log(input, file, page.job);
  }
  if (page.job.calls.empty())
    throw usage_error(options.paths.front(), left_out_words(page.job),
                      "give the files of a job whose collectives the GPU timed (kernel_gpu)");
  page.result = analysis::judge_job(page.job, machine ? &*machine : nullptr);
  const bool is_below = std::ranges::any_of(page.result.kinds, [](const analysis::KindResult& kind) {
    return kind.verdict() == VerdictWord::below;
  });
  const auto write = [&](const OutputDocument& document) {
    return analysis::report(page, document.format, page_options(document).columns);
  };
  return {write_documents(documents, write), is_below ? ExitStatus::low : ExitStatus::ok,
          prints_text(documents), written_notes(documents, analysis::inspector_headline(page))};
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<InspectorOptions>();
  command.add_option("path", options->paths, "what NCCL Inspector wrote: files, or its folder")->required();
  add_option(command, "Options", "--topology", "NAME|FILE",
             "what the job ran on: a reference machine, or a file that describes a node",
             into(options->topology));
  add_output_options(command, "Options", options->output, {"text", "md", "html", "json", "csv"},
                     "what was found");
  command.get_option("--html")->description("a page that needs no network (HTML); - for stdout");
  command.callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

}  // namespace collbench::program
