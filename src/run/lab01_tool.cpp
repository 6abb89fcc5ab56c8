#include "src/run/lab01_tool.hpp"

#include <algorithm>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {
namespace {

std::string page_by_tool(std::vector<std::string> words, const Lab01Request& request,
                         const ScratchFolder& folder, std::string_view format) {
  const std::string page = folder.file("page.") + std::string(format);
  words.insert(words.begin(), program_of_tool("lab01"));
  words.insert(words.end(), request.price.words.begin(), request.price.words.end());
  words.push_back("--output=" + page);
  const ChildLimits limits{.seconds = 3600,
                           .keeps_stdin = std::ranges::find(words, "--topology=-") != words.end()};
  if (limits.keeps_stdin) rewind_stdin();
  const ChildResult result = run_child(words, limits);
  if (result.succeeded()) return read_file(page);
  constexpr std::string_view kName = "collbench: ";
  std::string_view said = trim(result.err);
  said.remove_prefix(said.rfind('\n') + 1);  // of several lines the last
  if (result.end != ChildEnd::exited || !said.starts_with(kName))
    throw Error(ExitStatus::not_here, "collbench lab01", describe_end(result, limits), "");
  said.remove_prefix(kName.size());
  throw Error(static_cast<ExitStatus>(result.code), "", std::string(said), "");
}

}  // namespace

std::string page_of_lab01(const Run& run, const Lab01Request& request, std::string_view format) {
  const ScratchFolder folder;
  std::vector<std::string> words{folder.file("run.json")};
  write_file_by_rename(words.front(), to_json_text(run));
  if (!request.topology.empty()) words.push_back("--topology=" + request.topology);
  return page_by_tool(std::move(words), request, folder, format);
}

std::string expected_page_of_lab01(std::vector<std::string> machine, const Lab01Request& request) {
  return page_by_tool(std::move(machine), request, ScratchFolder(), "md");
}

}  // namespace collbench::program
