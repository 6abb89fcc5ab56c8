#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "base/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/library_path.hpp"
#include "src/cli/nccl_tests_line.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/command_line.hpp"
#include "src/run/start.hpp"

namespace {

/// Under the name of a program of nccl-tests, the same in our words, of which `words` are made.
void take_nccl_tests_line(int& argc, char**& argv, std::vector<std::string>& words,
                          std::vector<char*>& pointers, bool reports) {
  using namespace collbench::program;
  auto line = nccl_tests_line(
      argv[0], {argv + 1, argv + argc}, [] { return collbench::launch::view_machine().nvidia_devices > 0; },
      collbench::variable_value);
  if (!line) return;
  if (reports && line->sees_no_gpu)
    print_message("collbench: no GPU is seen here: host memory is measured, unless another host has GPUs");
  if (reports)
    for (const std::string& note : line->notes) print_message("collbench: " + note);
  words = std::move(line->words);
  words.insert(words.begin(), "collbench");
  for (std::string& word : words) pointers.push_back(word.data());
  argc = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  argv = pointers.data();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace collbench;
  using namespace collbench::program;
  reserve_standard_streams();
  const bool reports = launch::launched_rank().value_or(0) == 0;
  try {
    leave_out_current_directory(argv, reports);
    std::vector<std::string> words;
    std::vector<char*> pointers;
    take_nccl_tests_line(argc, argv, words, pointers, reports);
    become_tool(argc, argv, reports);
    Command command = parse_command_line(argc, argv);
    if (auto* run = std::get_if<RunOptions>(&command)) {
      run->environment = launch::recorded_environment();
      find_launch(*run);
      start_log(run->verbose && (run->rendezvous ? run->rendezvous->rank == 0 : reports));
      return start_run(*run, argc, argv);
    }
    if (!reports) return 0;
    return finish_command(std::get<CommandFunction>(command));
  } catch (const std::exception& failure) {
    return report_failure(failure, reports);
  }
}
