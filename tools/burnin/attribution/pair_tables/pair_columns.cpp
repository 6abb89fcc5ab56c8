#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "base/error.hpp"
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
  return std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(wanted, word) != wanted.end(); });
}

/// Takes `word` from the front of `text`.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

constexpr std::string_view kPrefixes = "KMGT";

/// Takes kilo, mega, giga, tera or a letter of kPrefixes from the front; its place there. None for neither.
std::optional<std::size_t> take_prefix(std::string_view& text) {
  constexpr std::array<std::string_view, 4> kLong{"kilo", "mega", "giga", "tera"};
  for (std::size_t i = 0; i < kLong.size(); ++i) {
    if (take(text, kLong[i])) return i;
  }
  if (text.empty()) return std::nullopt;
  const std::size_t at =
      kPrefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.front()))));
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  return at;
}

enum class Amount { bits, bytes, small_letter };

/// Takes "bits", "Bytes", "B", "b" and the like from the front.
std::optional<Amount> take_amount(std::string_view& text) {
  if (take(text, "bits") || take(text, "bit")) return Amount::bits;
  if (take(text, "Bytes") || take(text, "bytes") || take(text, "Byte") || take(text, "byte") ||
      take(text, "B"))
    return Amount::bytes;
  if (take(text, "b")) return Amount::small_letter;
  return std::nullopt;
}

/// A unit of rates at the start of `text`, with what it is in bytes per second: K, M, G or T, perhaps an i,
/// then bytes or bits, then per second. "Gb" and "Gbps" are bits, "GB" and "GBps" bytes; all in small letters
/// with a bar ("gb/s") it is taken for bytes, and said to be. Of what is known to be a rate "per second" may
/// be missing, and "GB per sec" will do.
std::optional<std::pair<double, std::string>> unit_at(std::string_view text, bool is_rate) {
  const std::string_view whole = text;
  const auto prefix = take_prefix(text);
  if (!prefix) return std::nullopt;
  const bool is_binary = take(text, "i");
  const auto amount = take_amount(text);
  if (!amount) return std::nullopt;
  const bool per_second = take(text, "/s") || take(text, "_per_second") || take(text, "_s");
  const bool is_per_letter = !per_second && (take(text, "ps") || take(text, "s"));
  const bool is_implied =
      is_rate && (text.empty() || std::isalnum(static_cast<unsigned char>(text.front())) == 0);
  if (!per_second && !is_per_letter && !is_implied) return std::nullopt;
  const bool is_unsure =
      *amount == Amount::small_letter && whole.front() >= 'a' && (per_second || !is_per_letter);
  const bool is_bits = *amount != Amount::bytes && !is_unsure;
  const double bytes =
      std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(*prefix + 1)) / (is_bits ? 8 : 1);
  const std::string name =
      fmt::format("{}{}{}/s", kPrefixes[*prefix], is_binary ? "i" : "", is_bits ? "b" : "B");
  if (!is_unsure) return std::pair(bytes, name);
  return std::pair(bytes, fmt::format("{} (the column says {}, which may be bits)", name,
                                      whole.substr(0, whole.size() - text.size())));
}

/// "latency_us", "time (ms)".
bool is_time(std::string_view name) {
  const std::string lowered = lower(name);
  constexpr std::array<std::string_view, 4> kTimes{"latency", "time", "duration", "seconds"};
  constexpr std::array<std::string_view, 8> kUnits{"_us", "_ms", "_ns", "_s", "(us)", "(ms)", "(ns)", "(s)"};
  return std::ranges::any_of(
             kTimes, [&](std::string_view word) { return lowered.find(word) != std::string::npos; }) ||
         std::ranges::any_of(kUnits, [&](std::string_view unit) { return lowered.ends_with(unit); });
}

/// The unit of rates that a column's name has; `is_rate`: it is known to be one.
std::optional<std::pair<double, std::string>> unit_in(std::string_view name, bool is_rate = false) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(name[at - 1])) != 0) continue;
    const std::size_t before = name.substr(0, at).find_last_not_of(" _");
    const bool is_size = before != std::string_view::npos &&
                         std::isdigit(static_cast<unsigned char>(name[before])) != 0;  // "busbw at 128 MB"
    if (const auto unit = unit_at(name.substr(at), is_rate && !is_size)) return unit;
  }
  return std::nullopt;
}

/// Whether a column has measured rates by its name: one that says rate, and not of what.
bool names_rates(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  if (has_any(words, {"error", "err", "errors", "limit", "link", "line", "nominal", "theoretical", "expected",
                      "target", "msg", "msgrate", "message", "packet", "loss", "ratio", "percent"}))
    return false;
  return has_any(words, {"busbw", "algbw", "bw", "bandwidth", "throughput", "rate", "goodput"}) ||
         unit_in(name).has_value();
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
    const auto from = std::ranges::find(words, names.from);
    const auto to = std::ranges::find(words, names.to);
    if (from != words.end() && to != words.end())
      return PairEnds{static_cast<std::size_t>(from - words.begin()),
                      static_cast<std::size_t>(to - words.begin()), names.directed};
  }
  return std::nullopt;
}

std::pair<double, std::string> unit_of_rates(std::string_view name) {
  const auto unit = unit_in(name, true);
  if (!unit && is_time(name)) {
    throw usage_error("--column", fmt::format("'{}' is a time, and rates are compared", name),
                      "name a column of rates, of which more is better");
  }
  const std::vector<std::string> words = name_words(name);
  const bool names_one = std::ranges::any_of(words, [](const std::string& word) {
    return word.find("bit") != std::string::npos || word.ends_with("bps");
  });
  if (!unit && (names_one || has_any(words, {"gt"})))
    throw usage_error(fmt::format("column '{}'", name), "its unit is not known here",
                      "name it as in GB/s, MiB/s, Gb/s or Gbit/s");
  if (!unit) return {kGigabyte, "GB/s (the column names no unit)"};
  return *unit;
}

std::size_t column_named(const std::vector<std::string>& heading, const std::string& name,
                         const std::string& option) {
  const auto at = std::ranges::find(heading, name);
  if (at == heading.end()) {
    throw usage_error(option, fmt::format("no column is named '{}'", name),
                      fmt::format("there are {}", fmt::join(heading, ", ")));
  }
  return static_cast<std::size_t>(at - heading.begin());
}

std::size_t rate_column(const std::vector<std::string>& heading, const std::string& named,
                        const PairEnds& ends, const std::string& file) {
  if (!named.empty()) return column_named(heading, named, "--column");
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < heading.size(); ++column) {
    if (column != ends.from && column != ends.to && names_rates(heading[column])) columns.push_back(column);
  }
  const auto keep = [&](std::initializer_list<std::string_view> words) {
    std::vector<std::size_t> kept;
    std::ranges::copy_if(columns, std::back_inserter(kept),
                         [&](std::size_t column) { return has_any(name_words(heading[column]), words); });
    if (!kept.empty()) columns = kept;
  };
  keep({"busbw"});
  keep({"avg", "average", "mean"});
  keep({"median", "p50"});
  if (columns.size() == 1) return columns.front();
  std::vector<std::string> names;
  for (const std::size_t column : columns) names.push_back(heading[column]);
  throw usage_error(
      file,
      columns.empty() ? "no column has rates by its name"
                      : fmt::format("several columns may be the rates: {}", fmt::join(names, ", ")),
      columns.empty() ? fmt::format("name it with --column; there are {}", fmt::join(heading, ", "))
                      : "name one with --column");
}

std::vector<std::size_t> other_statistics(const std::vector<std::string>& heading, std::size_t column) {
  // Without the word for the statistic; as it stands where there is none.
  const auto rest = [](const std::string& name) {
    std::vector<std::string> words = name_words(name);
    const std::size_t erased = std::erase_if(words, [](const std::string& word) {
      return has_any({word}, {"avg", "average", "mean", "median", "p50", "peak", "max", "maximum", "best"});
    });
    return erased == 1 ? words : std::vector<std::string>();
  };
  const std::vector<std::string> of = rest(heading[column]);
  std::vector<std::size_t> others;
  for (std::size_t other = 0; other < heading.size() && !of.empty(); ++other)
    if (other != column && rest(heading[other]) == of) others.push_back(other);
  return others;
}

std::optional<std::size_t> nodes_column(const std::vector<std::string>& heading) {
  for (std::size_t column = 0; column < heading.size(); ++column) {
    const std::string name = lower(trim(heading[column]));
    for (const std::string_view known : {"node", "nodes", "host", "hosts", "hostname", "nodelist"})
      if (name == known) return column;
  }
  return std::nullopt;
}

std::optional<std::size_t> rail_column(const std::vector<std::string>& heading,
                                       const std::set<std::size_t>& used) {
  for (std::size_t column = 0; column < heading.size(); ++column) {
    if (!used.contains(column) && has_any({end_word(heading[column])}, {"rail", "nic", "hca"})) return column;
  }
  return std::nullopt;
}

}  // namespace collbench::analysis
