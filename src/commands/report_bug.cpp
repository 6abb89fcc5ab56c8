#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/doctor/doctor_report.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "base/secrets/secrets.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/commands/doctor.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

/// `collbench report-bug [RECORD]`.
struct ReportBugOptions {
  std::string record;  ///< of the run that went wrong; "-": stdin; empty: none
  OutputOptions output;
};

/// A block of code that ends where it should: its fence is longer than any within.
std::string code_block(std::string_view text) {
  std::size_t longest = 2, length = 0;
  for (const char each : text) {
    length = each == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

/// A run leaves secrets out of its record; what a script wrote, or put into one, did not.
Run without_secrets(Run run) {
  run.command_line = recorded_words(run.command_line);
  for (auto& [name, value] : run.environment) value = recorded_value(name, value);
  run.label = recorded_words({run.label}).front();
  return run;
}

/// The run's tables and its record. One that is there and cannot be read may be the bug: then that is said.
std::string run_section(const std::string& record) {
  const std::string text = input_text(record), heading = "\n## The run\n\n";
  try {
    const Run run = without_secrets(run_from_text(text, input_name(record)));
    return heading + code_block(analysis::report(run, "text")) + "\nIts record:\n\n" +
           code_block(to_json_text(run));
  } catch (const Error& error) {
    return heading + code_block(describe(error));
  }
}

CommandResult report_bug(const ReportBugOptions& options) {
  const auto documents = writable_documents(options.output);
  const std::string run = options.record.empty() ? "" : run_section(options.record);
  const auto write = [&](const OutputDocument& document) {
    std::string text =
        "# collbench: WHAT HAPPENED, IN ONE LINE\n\n"
        "The command, what you expected, and what came out (with `-v`, its last lines):\n\n"
        "What looks like a secret was left out; names of hosts, users and folders are below. Look before you "
        "send it.\n\n## Versions\n\n" +
        code_block(version_text()) + "\n## This machine\n\n";
    for (const analysis::DoctorPage& page : doctor_pages_of_this_machine())
      text += code_block(analysis::report(page, "text", page_options(document)));
    return text + run;
  };
  const std::string written = write_documents(documents, write);
  return {written, ExitStatus::ok, prints_text(documents), written_notes(documents, "a report of a bug")};
}

void add_report_bug(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ReportBugOptions>();
  command.add_option("record", options->record, "the record (-J) or stream of the run that went wrong");
  add_output_options(command, "Options", options->output, {"md"}, "");
  command.callback([options, &chosen] { chosen = [options] { return report_bug(*options); }; });
}

}  // namespace

Subcommand report_bug_subcommand() {
  return {"report-bug", "versions, doctor and a run's record as one page for the issue tracker",
          "collbench report-bug run.json -o bug.md", add_report_bug};
}

}  // namespace collbench::program
