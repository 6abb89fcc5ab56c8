#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/doctor/doctor_report.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "base/secrets/secrets.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/commands/doctor.hpp"
#include "src/commands/registry.hpp"
#include "src/run/evidence.hpp"

namespace collbench::program {
namespace {

struct ReportBugOptions {
  std::string record;  ///< of the run that went wrong; "-": stdin; empty: none
  OutputOptions output;
};

/// A block of code that ends where it should: its fence is longer than any within.
std::string code_block(std::string_view text) {
  std::size_t longest = 2;
  std::size_t length = 0;
  for (const char each : text) {
    length = each == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

/// "PRETTY_NAME=…" of os-release(5), the kernel, and the NVIDIA driver where one is loaded.
std::string system_text() {
  utsname kernel{};
  ::uname(&kernel);
  std::string text = fmt::format("kernel: {} {} {}\n", kernel.sysname, kernel.release, kernel.machine);
  for (const auto& [file, sign, name] :
       {std::tuple{"/etc/os-release", "PRETTY_NAME=", "system"},
        std::tuple{"/proc/cpuinfo", "model name", "CPU"},
        std::tuple{"/proc/driver/nvidia/version", "NVRM version", "NVIDIA driver"}}) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(sign)) continue;
      text += fmt::format("{}: {}\n", name, one_line(line.substr(line.find_first_of("=:") + 1)));
      break;
    }
  }
  return text;
}

/// What is known of the run beside its page.
struct BugsRun {
  std::string section;  ///< of the page
  std::string record;   ///< JSON; empty: none that could be read
};

/// A record that is there and cannot be read may be the bug: then that is said.
BugsRun bugs_run(const std::string& record) {
  const std::string text = input_text(record);
  const std::string heading = "\n## The run\n\n";
  try {
    const Run run = without_secrets(run_from_text(text, input_name(record)));
    return {heading + code_block(analysis::report(run, "text")), to_json_text(run)};
  } catch (const Error& error) {
    return {heading + code_block(recorded_words({describe(error)}).front()), ""};
  }
}

constexpr const char* kQuestions =
    "# collbench: WHAT HAPPENED, IN ONE LINE\n\n"
    "## The command\n\n## What you expected\n\n## What came out\n\nWith `-v`, and what stood on stderr.\n\n";

CommandResult report_bug(const ReportBugOptions& options) {
  const auto documents = writable_documents(options.output);
  const BugsRun run = options.record.empty() ? BugsRun{} : bugs_run(options.record);
  // Beside the page, which is to be pasted: a record is too long for that.
  const std::string& page = options.output.path;
  const std::string beside = run.record.empty() || page.empty() || page == "-" ? "" : page + ".record.json";
  if (!beside.empty()) require_writable(beside, options.output.overwrite, "-o");
  const auto write = [&](const OutputDocument& document) {
    std::string text = fmt::format("{}## Versions\n\n{}\n## This host, now (not when the run was)\n\n",
                                   kQuestions, code_block(version_text() + system_text()));
    for (const analysis::DoctorPage& each : doctor_pages_of_this_machine())
      text += code_block(analysis::report(each, "text", page_options(document)));
    return text + run.section;
  };
  CommandResult result{write_documents(documents, write), ExitStatus::ok, prints_text(documents)};
  if (!beside.empty()) write_file_by_rename(beside, run.record);
  result.notes.push_back(
      fmt::format("{}what looks like a secret (TOKEN=…, ghp_…) was left out; any other secret, and the names "
                  "of hosts, users and folders, are in it: read it before you post it{}",
                  page.empty() || page == "-" ? "" : fmt::format("wrote {}: ", page),
                  beside.empty() ? "" : fmt::format(", and attach {}", beside)));
  return result;
}

void add_report_bug(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ReportBugOptions>();
  command.add_option("record", options->record, "the record (-J) or stream of the run that went wrong");
  add_output_options(command, "Options", options->output, {"md"}, "");
  command.callback([options, &chosen] { chosen = [options] { return report_bug(*options); }; });
}

}  // namespace

Subcommand report_bug_subcommand() {
  return {"report-bug", "versions, doctor and a run as one page for the issue tracker",
          "collbench report-bug run.json -o bug.md", add_report_bug};
}

}  // namespace collbench::program
