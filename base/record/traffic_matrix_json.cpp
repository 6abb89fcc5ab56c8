#include "base/record/traffic_matrix_json.hpp"

namespace collbench {

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
    for (const JsonReader& weight : weights) traffic.weights.push_back(weight.number());
  }
  return traffic;
}

}  // namespace collbench
