#include "analysis/import/nccl_choice.hpp"

#include "base/record/nccl_algorithm.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"
#include "base/units.hpp"

// The lines are those of NVIDIA/nccl v2.18.3-1 to v2.30.7-1: src/enqueue.cc.

namespace collbench::analysis {
namespace {

using std::string_view;

std::string logged_protocol(string_view word) {
  const auto number = parse_integer(word, 0, std::ssize(kWords<NcclProtocol>) - 1);
  return number ? std::string(name(static_cast<NcclProtocol>(*number))) : lower(word);
}

}  // namespace

std::string logged_algorithm(string_view word) {
  if (const auto number = parse_integer(word, 0, std::ssize(kWords<NcclAlgorithm>) - 1))
    return std::string(name(static_cast<NcclAlgorithm>(*number)));
  std::string letters = lower(word);
  std::erase(letters, '_');
  for (const string_view name : kWords<NcclAlgorithm>) {
    std::string known(name);
    std::erase(known, '_');
    if (letters == known) return std::string(name);
  }
  return lower(word);
}

std::optional<NcclLoggedChoice> nccl_choice_in(string_view text) {
  const auto words = split_words(text_behind(text, " Bytes -> Algo ").value_or(""));
  if (words.size() < 3 || words[1] != "proto") return std::nullopt;
  NcclLoggedChoice choice{logged_algorithm(words[0]), logged_protocol(words[2]), 0, std::nullopt};
  if (const auto range = text_behind(text, "={")) {
    const auto first = leading_integer(*range, 0, kMaxLoggedChannels - 1);
    const auto last = integer_behind(*range, "..", 0, kMaxLoggedChannels - 1);
    if (first && last && *last >= *first) choice.channels = *last - *first + 1;
  }
  if (const auto time = number_behind(text, " time ")) choice.expected_seconds = *time * kMicrosecond;
  return choice;
}

}  // namespace collbench::analysis
