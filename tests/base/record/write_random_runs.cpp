// Writes random run records for run_schema_test.py: write_random_runs FOLDER COUNT
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "base/record/run.hpp"
#include "tests/base/record/random_run.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  collbench::RandomRun random(4);
  for (int i = 0; i < std::atoi(arguments[2]); ++i) {
    const auto path = std::filesystem::path(arguments[1]) / (std::to_string(i) + ".json");
    collbench::write_file_by_rename(path, collbench::to_json_text(random.run()));
  }
  return 0;
}
