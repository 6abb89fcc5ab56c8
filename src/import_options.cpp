#include "src/import_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "src/lab01_options.hpp"
#include "topology/text_input.hpp"

namespace collbench {
namespace {

int parse_count(const std::string& text, const std::string& option) {
  constexpr int kMost = 1'000'000;
  const auto count = parse_integer(text, 1, kMost);
  if (!count) {
    throw usage_error(option, fmt::format("'{}' is not a number it takes", text),
                      fmt::format("give one from 1 to {}", kMost));
  }
  return static_cast<int>(*count);
}

OperationId parse_operation(const std::string& text) {
  const Operation* found = find_operation(text);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const Operation& each : operations()) names.push_back(each.option);
    throw usage_error("--operation", fmt::format("'{}' is unknown", text),
                      fmt::format("choose among {}", fmt::join(names, ", ")));
  }
  return found->id;
}

std::string one_of(const std::string& text, const std::string& option,
                   std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    throw usage_error(option, fmt::format("'{}' is unknown", text),
                      fmt::format("choose {}", fmt::join(known, ", ")));
  }
  return text;
}

}  // namespace

void add_import_command(CLI::App& app, ImportCommand& command) {
  CLI::App* import = app.add_subcommand(
      "import",
      "somebody's nccl-tests output, text or JSON: import all_reduce.log --topology hgx-h100 -o run.json");
  import->add_option("logs", command.logs, "what nccl-tests printed, or wrote with -J")
      ->required()
      ->option_text("LOG...");
  const auto add = [import](const std::string& names, const std::string& value, const std::string& help,
                            const std::function<void(const std::string&)>& take) {
    import->add_option_function<std::string>(names, take, help)->group("Options")->option_text(value);
  };
  add("-o,--output", "FILE", "write the run record there, instead of the tables to stdout",
      [&command](const std::string& text) { command.record_path = text; });
  import->add_flag("--overwrite", command.overwrite, "replace a file that exists")->group("Options");
  add("--topology", "NAME|FILE", "the machine of the log, kept in the record for the verdict",
      [&command](const std::string& text) { command.options.topology = text; });
  add("--nodes", "N", "nodes of the job, where the log does not say",
      [&command](const std::string& text) { command.options.job.nodes = parse_count(text, "--nodes"); });
  add("--ranks-per-node", "N", "likewise", [&command](const std::string& text) {
    command.options.job.ranks_per_node = parse_count(text, "--ranks-per-node");
  });
  add("--operation", "NAME", "what was measured, where the log does not say",
      [&command](const std::string& text) { command.options.operation = parse_operation(text); });
  add("--run", "N", "which run of a log that holds several",
      [&command](const std::string& text) { command.options.run = parse_count(text, "--run"); });
  add("--format", "NAME", "text, md, csv or json (text)", [&command](const std::string& text) {
    command.format = one_of(text, "--format", {"text", "md", "csv", "json"});
  });
  add_lab01_options(*import, "Options", command.lab01);
}

}  // namespace collbench
