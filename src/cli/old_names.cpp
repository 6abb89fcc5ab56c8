#include "src/cli/old_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.hpp"

namespace collbench::program {
namespace {

struct OldName {
  std::vector<std::string> words;
  std::vector<std::string> current;
  const char* form;  ///< what to write
};

const std::vector<OldName>& old_names() {
  static const std::vector<OldName> names{
      {{"import"}, {"judge", "--apart"}, "judge FILE..."},
      {{"ab"}, {"repeat"}, "repeat -- A... --versus B..."},
      {{"baseline", "show"}, {"compare"}, "compare FOLDER"},
      {{"baseline", "check"}, {"compare"}, "compare FOLDER RECORD... [--add]"},
      {{"baseline", "add"}, {"compare", "--add"}, "compare --add FOLDER RECORD..."},
      {{"baseline"}, {"compare"}, "compare FOLDER [RECORD...]"}};
  return names;
}

}  // namespace

std::string take_current_names(std::vector<std::string>& words, std::size_t at) {
  const auto name = words.begin() + static_cast<std::ptrdiff_t>(at);
  for (const OldName& old : old_names()) {
    const auto differs = std::mismatch(old.words.begin(), old.words.end(), name, words.end()).first;
    if (differs != old.words.end()) continue;
    const auto rest = words.erase(name, name + std::ssize(old.words));
    const bool has_two = std::find(rest, words.end(), "--versus") != words.end();
    const bool asks_help = std::any_of(
        rest, words.end(), [](const std::string& word) { return word == "-h" || word == "--help"; });
    const bool has_command = std::any_of(
        rest, words.end(), [](const std::string& word) { return !word.starts_with("-") || word == "--"; });
    if (old.words.front() == "ab" && has_command && !has_two && !asks_help)
      throw usage_error("ab", "--versus has to stand once between two commands", old.form);
    // Before the folder it would only add.
    if (const auto add = std::find(rest, words.end(), "--add");
        old.words.back() == "check" && add != words.end())
      std::rotate(add, add + 1, words.end());
    words.insert(rest, old.current.begin(), old.current.end());
    return fmt::format(
        "collbench: collbench {} is collbench {} now; the old name is removed in the next release",
        fmt::join(old.words, " "), old.form);
  }
  return "";
}

}  // namespace collbench::program
