#include "analysis/import/nccl_tests_header.hpp"

#include <algorithm>

#include "base/record/operation.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr std::int64_t kMaxRanks = 1 << 20U;

/// The word behind the first `name` among `words`, as an integer in [0, most].
std::optional<std::int64_t> integer_after(const std::vector<std::string>& words, std::string_view name,
                                          std::int64_t most) {
  const auto found = std::find(words.begin(), words.end(), name);
  if (found == words.end() || std::next(found) == words.end()) return std::nullopt;
  return parse_integer(*std::next(found), 0, most);
}

}  // namespace

std::optional<NcclTestsColumns> nccl_tests_columns(std::string_view line) {
  const auto words = split_words(line);
  const auto size = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "size" || word == "#size" || word.ends_with(":size");
  });
  if (std::distance(size, words.end()) < 6 || *(size + 1) != "count" || *(size + 2) != "type") {
    return std::nullopt;
  }
  const auto is_time = [](const std::string& word) { return word == "time" || word == "cputime"; };
  const auto time = std::find_if(size + 3, words.end(), is_time);
  if (time == words.end()) return std::nullopt;
  NcclTestsColumns columns;
  columns.reduction = std::find(size + 3, time, "redop") != time;
  columns.root = std::find(size + 3, time, "root") != time;
  columns.cpu_time = *time == "cputime";
  columns.per_half =
      static_cast<std::size_t>(std::distance(time, std::find_if(time + 1, words.end(), is_time)));
  columns.wrong_is_error = std::find(time, words.end(), "error") != words.end();
  if (columns.per_half < 3) return std::nullopt;
  return columns;
}

std::optional<LogDevice> nccl_tests_device(std::string_view line, int number) {
  const auto words = split_words(line);
  const auto rank = integer_after(words, "Rank", kMaxRanks);
  const auto pid = integer_after(words, "Pid", std::int64_t{1} << 30U);
  const auto on = std::find(words.begin(), words.end(), "on");
  if (!rank || !pid || std::distance(on, words.end()) < 4 || *(on + 2) != "device") return std::nullopt;
  LogDevice device{static_cast<int>(*rank), static_cast<int>(*pid), *(on + 1), "", number};
  if (const std::size_t close = line.rfind(']'); close != std::string_view::npos) {
    device.gpu = trim(line.substr(close + 1));
  }
  return device;
}

std::optional<NcclTestsParameters> nccl_tests_parameters(std::string_view line) {
  if (line.find("nThread") == std::string_view::npos) return std::nullopt;
  const auto words = split_words(line);
  const auto threads = integer_after(words, "nThread", kMaxRanks);
  const auto gpus = integer_after(words, "nGpus", kMaxRanks);
  if (!threads || !gpus || *threads == 0 || *gpus == 0) return std::nullopt;
  NcclTestsParameters parameters{static_cast<int>(*threads), static_cast<int>(*gpus), 0};
  for (auto word = words.begin(); word + 1 < words.end(); ++word) {
    // "warmup iters: 5 iters: 20 agg iters: 1": the one in the middle.
    const bool plain =
        *word == "iters:" && word != words.begin() && *(word - 1) != "warmup" && *(word - 1) != "agg";
    if (!plain) continue;
    parameters.iterations =
        static_cast<std::uint64_t>(parse_integer(*(word + 1), 0, std::int64_t{1} << 40U).value_or(0));
  }
  return parameters;
}

std::string nccl_tests_program(std::string_view line) {
  for (const std::string& word : split_words(line)) {
    if (!word.ends_with("_perf")) continue;
    const std::string program = word.substr(word.find_last_of("/:'\"`") + 1);
    const std::string_view name = std::string_view(program).substr(0, program.size() - 5);
    const auto is_it = [&](const Operation& operation) { return operation.nccl_tests_name == name; };
    const auto all = operations();
    if (std::find_if(all.begin(), all.end(), is_it) != all.end()) return program;
  }
  return "";
}

}  // namespace collbench::analysis
