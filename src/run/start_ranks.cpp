#include "src/run/start_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace collbench::program {
namespace {

constexpr const char* kStartedRanks = "COLLBENCH_STARTED_RANKS";

}  // namespace

bool started_by_start_ranks() { return std::getenv(kStartedRanks) != nullptr; }

void start_ranks(int ranks, int argc, char** argv) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks), "--oversubscribe"};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.emplace_back("/proc/self/exe");
  std::string program(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
  if (length > 0) words.back() = program.substr(0, static_cast<std::size_t>(length));
  words.insert(words.end(), argv + 1, argv + argc);
  ::setenv(kStartedRanks, "1", 1);  // the ranks see the same -g, and must not start ranks of their own
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw Error(ExitStatus::not_here, "-g", fmt::format("mpirun cannot be started: {}", std::strerror(errno)),
              "install Open MPI (apt-get install openmpi-bin), or put its mpirun on PATH");
}

}  // namespace collbench::program
