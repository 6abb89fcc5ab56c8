#include "base/record/traffic_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench {
namespace {

constexpr std::string_view kHowTo = "give p lines of p numbers for p ranks; docs/formats.md has an example";

Error bad_line(const std::string& file, int line, const std::string& what) {
  return usage_error(fmt::format("{}:{}", file, line), what, std::string(kHowTo));
}

/// The numbers of one line, without its comment.
std::vector<double> numbers(std::string_view line, const std::string& file, int number_of_line) {
  constexpr std::string_view kBetween = " \t\r\v\f,";
  line = line.substr(0, line.find('#'));
  std::vector<double> found;
  for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;
       at = line.find_first_not_of(kBetween, at)) {
    const std::size_t after = std::min(line.find_first_of(kBetween, at), line.size());
    const std::string_view word = line.substr(at, after - at);
    const auto value = whole_number<double>(word);
    if (!value || !std::isfinite(*value) || *value < 0)
      throw bad_line(file, number_of_line, fmt::format("'{}' is not a number from 0 up", excerpt(word)));
    found.push_back(*value);
    at = after;
  }
  return found;
}

}  // namespace

TrafficMatrix traffic_by_distance(int ranks) {
  TrafficMatrix traffic{.source = "by distance", .ranks = ranks, .weights = {}};
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) traffic.weights.push_back((to - from + ranks) % ranks);
  }
  if (ranks == 1) traffic.weights = {1};
  return traffic;
}

TrafficMatrix parse_traffic_matrix(std::string_view text, const std::string& file) {
  TrafficMatrix traffic{.source = file, .ranks = 0, .weights = {}};
  std::size_t columns = 0;
  int line_number = 0;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    ++line_number;
    if (end == 0) continue;  // a file of nothing else is read in no time
    const std::vector<double> row = numbers(text.substr(0, end), file, line_number);
    if (row.empty()) continue;
    if (columns == 0) columns = row.size();
    if (row.size() != columns) {
      throw bad_line(file, line_number,
                     fmt::format("{} numbers, where the first line with any has {}", row.size(), columns));
    }
    traffic.weights.insert(traffic.weights.end(), row.begin(), row.end());
    if (static_cast<std::size_t>(++traffic.ranks) > columns) {
      throw bad_line(file, line_number, fmt::format("a line too many for a square of {}", columns));
    }
  }
  if (static_cast<std::size_t>(traffic.ranks) != columns || columns == 0) {
    throw bad_line(file, std::max(1, line_number),
                   columns == 0 ? "no number in it"
                                : fmt::format("it ends after {} lines of {} numbers: not a square",
                                              traffic.ranks, columns));
  }
  if (fullest_weight(traffic) <= 0)
    throw bad_line(file, line_number, "all numbers are 0: nothing would move");
  return traffic;
}

double fullest_weight(const TrafficMatrix& traffic) {
  double fullest = 0;
  for (int rank = 0; rank < traffic.ranks; ++rank) {
    double sent = 0;
    double received = 0;
    for (int peer = 0; peer < traffic.ranks; ++peer) {
      sent += traffic.weight(rank, peer);
      received += traffic.weight(peer, rank);
    }
    fullest = std::max({fullest, sent, received});
  }
  return fullest;
}

std::uint64_t traffic_elements(const TrafficMatrix& traffic, double fullest, int from, int to,
                               std::uint64_t count, std::uint64_t pack) {
  const double weight = traffic.weight(from, to);
  if (count == 0 || weight == 0) return 0;
  // A weight of whole elements is to give just those, whatever the division rounds to.
  constexpr double kRounding = 1e-9;
  const double elements = std::floor(weight / fullest * static_cast<double>(count) + kRounding);
  return std::max(pack, static_cast<std::uint64_t>(elements) / pack * pack);
}

Json traffic_matrix_to_json(const TrafficMatrix& traffic) {
  Json weights = Json::array();
  for (int from = 0; from < traffic.ranks; ++from) {
    Json row = Json::array();
    for (int to = 0; to < traffic.ranks; ++to) row.push_back(traffic.weight(from, to));
    weights.push_back(std::move(row));
  }
  return {{"source", traffic.source}, {"weights", std::move(weights)}};
}

TrafficMatrix traffic_matrix_from_json(const JsonReader& json) {
  TrafficMatrix traffic;
  traffic.source = json.at("source").text();
  const auto rows = json.at("weights").items();
  traffic.ranks = static_cast<int>(rows.size());
  for (const JsonReader& row : rows) {
    const auto weights = row.items();
    if (weights.size() != rows.size()) throw row.expected("as many weights as there are senders");
    for (const JsonReader& weight : weights) traffic.weights.push_back(weight.number(kQuantity));
  }
  return traffic;
}

}  // namespace collbench
