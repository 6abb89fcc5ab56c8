#include "analysis/attribution/pair_tables/pair_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// "Avg BusBW (GB/s)" as words: "avg", "busbw", "gb", "s".
std::vector<std::string> name_words(std::string_view name) {
  std::string spaced;
  for (const char letter : lower(name))
    spaced += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : ' ';
  return split_words(spaced);
}

/// Which end of a pair a column names: "src_host" is "src", "Node A" is "a".
std::string end_word(std::string_view name) {
  std::vector<std::string> words = name_words(name);
  std::erase_if(words, [](const std::string& word) {
    return word == "node" || word == "host" || word == "hostname" || word == "name";
  });
  std::string end = fmt::format("{}", fmt::join(words, " "));
  for (const std::string_view prefix : {"node", "host"}) {  // "nodeA", "host1"
    if (end.size() == prefix.size() + 1 && end.starts_with(prefix)) end.erase(0, prefix.size());
  }
  return end;
}

bool has_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

bool names_rates(std::string_view name) {
  return has_any(name_words(name),
                 {"busbw", "algbw", "bw", "bandwidth", "throughput", "rate", "gbps", "gbs", "gigabytes"}) ||
         lower(name).find("gb/s") != std::string::npos || lower(name).find("mb/s") != std::string::npos;
}

}  // namespace

std::optional<PairEnds> pair_ends(const std::vector<std::string>& heading) {
  struct Names {
    std::string_view from, to;
    bool directed;
  };
  constexpr std::array<Names, 9> kNames{{{"from", "to", true},
                                         {"src", "dst", true},
                                         {"source", "destination", true},
                                         {"source", "dest", true},
                                         {"source", "target", true},
                                         {"sender", "receiver", true},
                                         {"client", "server", true},
                                         {"a", "b", false},
                                         {"1", "2", false}}};
  std::vector<std::string> words;
  for (const std::string& name : heading) words.push_back(end_word(name));
  for (const Names& names : kNames) {
    const auto from = std::find(words.begin(), words.end(), names.from);
    const auto to = std::find(words.begin(), words.end(), names.to);
    if (from != words.end() && to != words.end())
      return PairEnds{static_cast<std::size_t>(from - words.begin()),
                      static_cast<std::size_t>(to - words.begin()), names.directed};
  }
  return std::nullopt;
}

std::pair<double, std::string> unit_of_rates(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  if (lower(name).find("gib/s") != std::string::npos) return {static_cast<double>(kGiB), "GiB/s"};
  if (name.find("Gb/s") != std::string_view::npos || has_any(words, {"gbps", "gbit", "gbits", "gigabits"}))
    return {kGigabyte / 8, "Gb/s"};
  if (lower(name).find("mb/s") != std::string::npos) return {1e6, "MB/s"};
  if (lower(name).find("gb/s") != std::string::npos || has_any(words, {"gbs", "gigabytes"}))
    return {kGigabyte, "GB/s"};
  return {kGigabyte, "GB/s (the column names no unit)"};
}

std::size_t column_named(const std::vector<std::string>& heading, const std::string& name,
                         const std::string& option) {
  const auto at = std::find(heading.begin(), heading.end(), name);
  if (at == heading.end()) {
    throw usage_error(option, fmt::format("no column is named '{}'", name),
                      fmt::format("there are {}", fmt::join(heading, ", ")));
  }
  return static_cast<std::size_t>(at - heading.begin());
}

std::size_t rate_column(const std::vector<std::string>& heading, const std::string& named,
                        const PairEnds& ends, const std::string& file) {
  if (!named.empty()) return column_named(heading, named, "--column");
  std::optional<std::size_t> first;
  for (std::size_t column = 0; column < heading.size(); ++column) {
    if (column == ends.from || column == ends.to || !names_rates(heading[column])) continue;
    if (has_any(name_words(heading[column]), {"avg", "average", "mean", "median"})) return column;
    if (!first) first = column;
  }
  if (first) return *first;
  throw usage_error(file, "no column has rates by its name",
                    fmt::format("name it with --column; there are {}", fmt::join(heading, ", ")));
}

std::optional<std::size_t> rail_column(const std::vector<std::string>& heading,
                                       const std::set<std::size_t>& used) {
  for (std::size_t column = 0; column < heading.size(); ++column) {
    if (!used.contains(column) && has_any({end_word(heading[column])}, {"rail", "nic", "hca"})) return column;
  }
  return std::nullopt;
}

}  // namespace collbench::analysis
