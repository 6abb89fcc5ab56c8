#include "src/run/lab01_tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "launch/launcher.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {
namespace {

/// What the tool prints for these words. Throws what it says, as an Error of its status.
std::string page_by_tool(std::vector<std::string> words, const Lab01Request& request,
                         std::string_view format) {
  words.insert(words.begin(), program_of_tool("lab01"));
  words.insert(words.end(), request.price.words.begin(), request.price.words.end());
  words.push_back(fmt::format("--format={}", format));
  const ChildLimits limits{.seconds = 60,
                           .max_bytes = std::size_t{1} << 30U,
                           .keeps_stdin = std::ranges::find(words, "--topology=-") != words.end()};
  if (limits.keeps_stdin) rewind_stdin();
  ChildResult result = run_child(launch::as_no_rank(words), limits);
  if (result.succeeded() && !result.out.empty()) return std::move(result.out);
  constexpr std::string_view kName = "collbench: ";
  std::string_view said = trim(result.err);
  said.remove_prefix(said.rfind('\n') + 1);  // of several lines the last
  if (result.end != ChildEnd::exited || result.code == 0 || !said.starts_with(kName))
    throw Error(ExitStatus::not_here, "collbench lab01",
                fmt::format("{}{}{}", describe_end(result, limits), said.empty() ? "" : ": ", one_line(said)),
                "keep the record with -J: collbench lab01 RECORD writes its page");
  said.remove_prefix(kName.size());
  throw Error(static_cast<ExitStatus>(result.code), "", std::string(said), "");
}

}  // namespace

std::string page_of_lab01(const Run& run, const Lab01Request& request, std::string_view format) {
  const MemoryFile record("run.json", to_json_text(run));
  std::vector<std::string> words{record.path()};
  if (!request.topology.empty()) words.push_back("--topology=" + request.topology);
  return page_by_tool(std::move(words), request, format);
}

std::string expected_page_of_lab01(std::vector<std::string> machine, const Lab01Request& request) {
  return page_by_tool(std::move(machine), request, "md");
}

}  // namespace collbench::program
