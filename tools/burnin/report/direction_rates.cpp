#include "tools/burnin/report/direction_rates.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

namespace collbench::analysis {
namespace {

/// Of hosts that are alike.
DirectionRates rates_of_alike(const BurninRecord& record) {
  const PairTable& table = record.table;
  const PairTable settled = has_repeats(table) ? settled_pairs(table).table : table;
  DirectionRates found{{}, pair_effects(settled)};
  std::map<std::tuple<int, int, int>, DirectionRate> known;
  for (const PairFailure& failure : record.failures) {
    known[{failure.a, failure.b, failure.rail}] = {failure.a, failure.b, failure.rail};
    known[{failure.b, failure.a, failure.rail}] = {failure.b, failure.a, failure.rail};
  }
  std::size_t measured = 0;
  for (std::size_t i = 0; i < settled.times.size(); ++i) {
    const RailTime& time = settled.times[i];
    if (!(time.seconds > 0)) continue;
    const auto [at, is_new] = known.try_emplace({time.from, time.to, time.rail});
    // A pair that failed in the end has no rate; of one that was measured beside others that time counts.
    if (!is_new) continue;
    ++measured;
    const double usual = found.effects.common[slot_of(found.effects.classes[i])][slot_of(time.rail)];
    at->second = {time.from, time.to, time.rail, record.bytes / time.seconds, std::exp(usual) / time.seconds};
  }
  for (const auto& [key, rate] : known) found.all.push_back(rate);
  const auto hosts = static_cast<double>(table.nodes.size());
  if (hosts > 1) found.covered = static_cast<double>(measured) / (hosts * (hosts - 1) * table.rails);
  return found;
}

}  // namespace

DirectionRates direction_rates(const BurninRecord& record) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  if (kinds.size() < 2) return rates_of_alike(record);
  const std::size_t hosts = record.table.nodes.size();
  const std::vector<double> unmeasured(slot_of(record.table.rails), std::numeric_limits<double>::quiet_NaN());
  DirectionRates found;
  found.effects.send.assign(hosts, unmeasured);
  found.effects.receive.assign(hosts, unmeasured);
  for (const std::vector<int>& nodes : kinds) {
    DirectionRates part = rates_of_alike(part_of(record, nodes));
    for (std::size_t slot = 0; slot < nodes.size(); ++slot) {
      found.effects.send[slot_of(nodes[slot])] = part.effects.send[slot];
      found.effects.receive[slot_of(nodes[slot])] = part.effects.receive[slot];
    }
    for (DirectionRate& rate : part.all) {
      rate.from = nodes[slot_of(rate.from)];
      rate.to = nodes[slot_of(rate.to)];
    }
    found.all.insert(found.all.end(), part.all.begin(), part.all.end());
    found.covered += part.covered * static_cast<double>(nodes.size() * (nodes.size() - 1)) /
                     static_cast<double>(hosts * (hosts - 1));
  }
  return found;
}

std::vector<std::optional<DirectionRate>> rate_matrix(const DirectionRates& rates, int hosts, int rail) {
  std::vector<std::optional<DirectionRate>> matrix(slot_of(hosts) * slot_of(hosts));
  for (const DirectionRate& rate : rates.all) {
    if (rate.rail == rail) matrix[slot_of(rate.from) * slot_of(hosts) + slot_of(rate.to)] = rate;
  }
  return matrix;
}

double median_rate(const DirectionRates& rates, int rail) {
  std::vector<double> known;
  for (const DirectionRate& rate : rates.all) {
    if (rate.rail == rail && rate.bytes_per_second > 0) known.push_back(rate.bytes_per_second);
  }
  return known.empty() ? 0 : median(std::move(known));
}

Shade shade_of(double share) {
  if (std::isnan(share)) return Shade::unmeasured;
  if (share < 0.50) return Shade::below_50;
  if (share < 0.75) return Shade::below_75;
  if (share < 0.90) return Shade::below_90;
  if (share < 0.95) return Shade::below_95;
  if (share < 0.99) return Shade::below_99;
  return share <= 1.01 ? Shade::usual : Shade::faster;
}

Shade shade_of(const std::optional<DirectionRate>& rate) {
  if (!rate) return Shade::unmeasured;
  return rate->bytes_per_second > 0 ? shade_of(rate->share) : Shade::failed;
}

std::string name(Shade shade) {
  constexpr std::array<const char*, kShades> kNames{"not measured", "gave no time", "below 50 %",
                                                    "50 to 75 %",   "75 to 90 %",   "90 to 95 %",
                                                    "95 to 99 %",   "99 to 101 %",  "above 101 %"};
  return kNames.at(static_cast<std::size_t>(shade));
}

}  // namespace collbench::analysis
