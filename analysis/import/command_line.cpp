#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "analysis/import/log_readers.hpp"
#include "base/secrets/secrets.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {

std::vector<std::string> nccl_tests_command(std::string_view line) {
  constexpr std::array<std::string_view, 4> kLaunchers{"mpirun", "mpiexec", "srun", "env"};
  if (nccl_tests_program(line).empty() || line.find("Collective test") != std::string_view::npos) return {};
  std::vector<std::string> words = split_words(line);
  // Before it stand a prompt, a shell's "+" or a launcher's tag and time.
  const auto first = std::ranges::find_if(words, [&](const std::string& word) {
    return std::ranges::find(kLaunchers, word) != kLaunchers.end() || word.find('=') != std::string::npos ||
           word.find("_perf") != std::string::npos;
  });
  words.erase(words.begin(), first);
  return recorded_words(words);
}

namespace {

/// "1" of "'1'", "1;"
std::string unquoted(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (!value.empty() && (value.front() == '\'' || value.front() == '"')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == '\'' || value.back() == '"')) value.remove_suffix(1);
  return std::string(value);
}

}  // namespace

bool is_variable(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string_view::npos;
}

std::map<std::string, std::string> nccl_settings(const std::vector<std::string>& command) {
  std::map<std::string, std::string> settings;  // the last one of a name stands
  for (auto word = command.begin(); word != command.end(); ++word) {
    const bool is_name = word->starts_with("NCCL_") && word->find('=') == std::string::npos;
    const std::string_view before = word == command.begin() ? std::string_view() : *std::prev(word);
    if (is_name && before.ends_with("env") && std::next(word) != command.end())  // -genv, -env
      settings[*word] = *std::next(word);
    const bool is_list = before == "--export" || word->starts_with("--export=");
    std::string* last = nullptr;  // a comma may be the value's: of a list of devices
    for (const std::string& cell : split_cells(*word, ',')) {
      const std::size_t name = cell.find("NCCL_");
      const std::size_t equals = name == std::string::npos ? name : cell.find('=', name);
      if (equals != std::string::npos && (name == 0 || cell[name - 1] == '=')) {
        last = &(settings[cell.substr(name, equals - name)] = cell.substr(equals + 1));
      } else if (is_list && (is_variable(cell) || cell.find('=') != std::string::npos)) {
        last = nullptr;
      } else if (last != nullptr) {
        *last += "," + cell;
      }
    }
  }
  for (auto& [name, value] : settings) value = unquoted(value);
  return settings;
}

std::vector<std::string> without_amounts(std::vector<std::string> words) {
  constexpr std::array<std::string_view, 14> kAmounts{
      "-b", "--minbytes", "-e", "--maxbytes",     "-i", "--stepbytes",  "-f", "--stepfactor",
      "-n", "--iters",    "-w", "--warmup_iters", "-J", "--output_file"};
  for (auto word = words.begin(); word != words.end();) {
    const std::string_view name = std::string_view(*word).substr(0, word->find('='));
    const bool is_amount = std::ranges::find(kAmounts, name) != kAmounts.end();
    const bool has_next = name.size() == word->size() && std::next(word) != words.end();
    word = is_amount ? words.erase(word, std::next(word, has_next ? 2 : 1)) : std::next(word);
  }
  return words;
}

}  // namespace collbench::analysis
