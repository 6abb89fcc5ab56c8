#include "tools/burnin/tests/fleet/simulated_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numbers>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/deterministic_random.hpp"

namespace collbench::simgrid_test {
namespace {

namespace s4u = simgrid::s4u;
using analysis::PairBatch;
using analysis::PairOnRail;
using analysis::slot_of;

constexpr double kLatency = 1e-6;

/// Numbers that are the same for the same seed everywhere.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : counter_(scrambled(seed)) {}
  double uniform() { return (static_cast<double>(scrambled(counter_++) >> 11U) + 0.5) / 9007199254740992.0; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  int below(int bound) { return static_cast<int>(uniform() * bound); }

 private:
  std::uint64_t counter_;
};

void name_hosts(const FleetShape& shape, analysis::BurninRecord& record) {
  for (int node = 0; node < shape.hosts; ++node) {
    record.table.nodes.push_back(fmt::format("n{}", node));
    record.table.leaf_of_node.push_back(node / shape.leaf_nodes);
  }
  record.table.rails = shape.rails;
}

int leaves(const FleetShape& shape) { return (shape.hosts + shape.leaf_nodes - 1) / shape.leaf_nodes; }

}  // namespace

SimulatedFleet::SimulatedFleet(int& argc, char** argv, const FleetShape& shape)
    : shape_(shape), engine_(new s4u::Engine(&argc, argv)) {
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:no");
  s4u::Engine::set_config("network/TCP-gamma:0");
  nics_.resize(slot_of(shape.hosts * shape.rails));
  storages_.resize(slot_of(leaves(shape) * shape.rails));
  s4u::NetZone* const root = s4u::create_full_zone("fleet");
  for (int rail = 0; rail < shape.rails; ++rail) {
    s4u::NetZone* const core = s4u::create_star_zone(fmt::format("rail{}", rail))->set_parent(root);
    for (int leaf = 0; leaf < leaves(shape); ++leaf) {
      const std::string name = fmt::format("r{}l{}", rail, leaf);
      s4u::NetZone* const zone = s4u::create_star_zone(name)->set_parent(core);
      const auto attach = [zone](const std::string& host_name, double rate) {
        s4u::Host* const host = zone->create_host(host_name, 1e9);
        auto* const link = zone->create_split_duplex_link(host_name + ".link", rate);
        link->set_latency(kLatency)->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
        host->seal();
        return std::pair(host, link);
      };
      const int first = leaf * shape.leaf_nodes;
      const int end = std::min(shape.hosts, first + shape.leaf_nodes);
      for (int node = first; node < end; ++node) {
        const auto [host, link] = attach(fmt::format("n{}r{}", node, rail), shape.nic_rate);
        nics_[slot_of(node * shape.rails + rail)] = {host, link->get_link_up(), link->get_link_down()};
      }
      storages_[slot_of(rail * leaves(shape) + leaf)] =
          attach(name + ".others", shape.nic_rate * shape.leaf_nodes).first;
      simgrid::kernel::routing::NetPoint* const router = zone->create_router(name + ".router");
      zone->add_route(router, nullptr, nullptr, nullptr, std::vector<s4u::LinkInRoute>{}, true);
      auto* const uplink = core->create_split_duplex_link(
          name + ".uplinks", shape.nic_rate * (end - first) / shape.oversubscription);
      uplink->set_latency(kLatency)->seal();
      core->add_route(zone->get_netpoint(), nullptr, router, nullptr,
                      {{uplink, s4u::LinkInRoute::Direction::UP}}, true);
      zone->seal();
    }
    core->seal();
  }
  root->seal();
}

const SimulatedFleet::Nic& SimulatedFleet::nic(int node, int rail) const {
  return nics_[slot_of(node * shape_.rails + rail)];
}

s4u::Host* SimulatedFleet::storage(int node, int rail) const {
  return storages_[slot_of(rail * leaves(shape_) + node / shape_.leaf_nodes)];
}

std::vector<double> SimulatedFleet::seconds_of(const std::vector<PairOnRail>& pairs, bool back, double bytes,
                                               const std::vector<double>& disturbances) const {
  const double start = s4u::Engine::get_clock();
  std::vector<s4u::CommPtr> messages;
  std::vector<s4u::CommPtr> others;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [pair, rail] = pairs[i];
    const int from = back ? pair.second : pair.first;
    const int to = back ? pair.first : pair.second;
    messages.push_back(
        s4u::Comm::sendto_async(nic(from, rail).host, nic(to, rail).host, static_cast<std::uint64_t>(bytes)));
    if (disturbances[i] > 0)
      others.push_back(s4u::Comm::sendto_async(storage(to, rail), nic(to, rail).host,
                                               static_cast<std::uint64_t>(bytes * disturbances[i])));
  }
  for (const s4u::CommPtr& other : others) other->wait();
  std::vector<double> seconds;
  for (const s4u::CommPtr& message : messages) {
    message->wait();
    seconds.push_back(message->get_finish_time() - start);
  }
  return seconds;
}

SimulatedFleet::Burnin SimulatedFleet::burn_in(const std::vector<NicFault>& faults,
                                               const FleetWeather& weather,
                                               const analysis::PairPhaseOptions& options,
                                               std::uint64_t seed) {
  Burnin done;
  name_hosts(shape_, done.record);
  done.record.bytes = shape_.nic_rate * weather.pair_seconds / 2;
  Chance chance(seed);
  const auto measure = [&](const PairBatch& batch) {
    (batch.alone ? done.alone : batch.repeat > 0 ? done.repeats : done.rounds) += 1;
    s4u::this_actor::sleep_for(weather.launch_seconds);
    const auto drawn = [&] {
      std::vector<double> disturbances;
      for (std::size_t i = 0; i < batch.pairs.size(); ++i) {
        const bool is_disturbed = !batch.alone && chance.uniform() < weather.disturbed;
        disturbances.push_back(is_disturbed ? weather.disturbance * chance.uniform() : 0);
      }
      return disturbances;
    };
    const std::vector<double> there = seconds_of(batch.pairs, false, done.record.bytes, drawn());
    const std::vector<double> back = seconds_of(batch.pairs, true, done.record.bytes, drawn());
    for (std::size_t i = 0; i < batch.pairs.size(); ++i) {
      const auto noisy = [&](double seconds) { return seconds * std::exp(weather.noise * chance.normal()); };
      analysis::add_outcome(done.record, batch, batch.pairs[i], {noisy(there[i]), noisy(back[i])});
    }
    return true;
  };
  simulate(faults, [&] { analysis::measure_pairs(done.record, options, measure); }, done);
  return done;
}

SimulatedFleet::Burnin SimulatedFleet::diagnose(const std::vector<NicFault>& faults,
                                                const FleetWeather& weather, int at_once,
                                                std::uint64_t seed) {
  Burnin done;
  name_hosts(shape_, done.record);
  Chance chance(seed);
  constexpr double kShareOfAMessage =
      0.1;  // of what a launch measures; it repeats them until its time is over
  const double bytes = shape_.nic_rate * weather.pair_seconds * kShareOfAMessage;
  const auto measure_at_once = [&](const analysis::GroupBatch& batch) {
    double start_seconds = 0;
    for (std::size_t i = 0; i < batch.size(); ++i)
      start_seconds =
          std::max(start_seconds, weather.launch_seconds * (1 + weather.launch_scatter * chance.normal()));
    s4u::this_actor::sleep_for(start_seconds);
    const double start = s4u::Engine::get_clock();
    std::vector<s4u::CommPtr> others;
    std::vector<std::vector<s4u::CommPtr>> messages(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::vector<int>& nodes = batch[i].nodes;
      for (std::size_t at = 0; nodes.size() > 1 && at < nodes.size(); ++at) {
        for (int rail = 0; rail < shape_.rails; ++rail) {
          if (batch[i].rail.value_or(rail) != rail) continue;
          messages[i].push_back(s4u::Comm::sendto_async(nic(nodes[at], rail).host,
                                                        nic(nodes[(at + 1) % nodes.size()], rail).host,
                                                        static_cast<std::uint64_t>(bytes)));
        }
      }
      const bool is_spared = batch[i].alone && !weather.disturbed_alone;
      if (is_spared || nodes.size() < 2 || chance.uniform() >= weather.disturbed) continue;
      const int rail = batch[i].rail.value_or(chance.below(shape_.rails));
      others.push_back(s4u::Comm::sendto_async(
          storage(nodes[0], rail), nic(nodes[0], rail).host,
          static_cast<std::uint64_t>(bytes * weather.disturbance * chance.uniform())));
    }
    for (const s4u::CommPtr& other : others) other->wait();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      double seconds = batch[i].nodes.size() > 1 ? 0 : weather.pair_seconds * kShareOfAMessage;
      for (const s4u::CommPtr& message : messages[i]) {
        message->wait();
        seconds = std::max(seconds, message->get_finish_time() - start);
      }
      for (const char* const operation : {"all_reduce", "all_to_all"}) {
        const double rate =
            bytes / seconds * weather.share(batch[i]) * std::exp(weather.noise * chance.normal());
        done.record.groups.push_back({batch[i], operation, rate, rate});
      }
    }
    s4u::this_actor::sleep_for(std::max(0.0, start + weather.pair_seconds - s4u::Engine::get_clock()));
    return start_seconds + weather.pair_seconds;
  };
  const auto measure = [&](const analysis::GroupBatch& batch) {
    const double before = s4u::Engine::get_clock();
    double longest = 0;
    for (const analysis::GroupBatch& part : analysis::in_batches(batch, at_once))
      longest = std::max(longest, measure_at_once(part));
    return std::optional(std::pair(s4u::Engine::get_clock() - before, longest));
  };
  simulate(
      faults, [&] { analysis::measure_halving(done.record, {at_once, weather.pair_seconds}, measure); },
      done);
  done.rounds = static_cast<int>(done.record.halving.rounds);
  return done;
}

void SimulatedFleet::simulate(const std::vector<NicFault>& faults, const std::function<void()>& burn_in,
                              Burnin& done) {
  const auto set_rates = [this, &faults](double factor) {
    for (const NicFault& fault : faults) {
      const Nic& of = nic(fault.node, fault.rail);
      if (fault.sends) of.up->set_bandwidth(shape_.nic_rate * factor);
      if (fault.receives) of.down->set_bandwidth(shape_.nic_rate * factor);
    }
  };
  const double start = s4u::Engine::get_clock();
  set_rates(0.5);
  std::exception_ptr thrown;  // none may leave an actor
  s4u::Actor::create("burn-in", nics_.front().host, [&] {
    try {
      burn_in();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  engine_->run();
  if (thrown) std::rethrow_exception(thrown);
  set_rates(1);
  done.simulated_seconds = s4u::Engine::get_clock() - start;
}

std::vector<NicFault> drawn_faults(const FleetShape& shape, int count, std::uint64_t seed) {
  Chance chance(seed + 0x5eed);
  std::set<std::pair<int, int>> drawn;
  std::vector<NicFault> faults;
  while (std::cmp_less(faults.size(), count)) {
    const int node = chance.below(shape.hosts);
    const int rail = chance.below(shape.rails);
    if (!drawn.insert({node, rail}).second) continue;
    const std::size_t kind = faults.size() % 3;
    faults.push_back({node, rail, kind != 2, kind != 1});
  }
  return faults;
}

bool names(const analysis::Blame& blame, const NicFault& fault) {
  using analysis::BlameKind;
  const BlameKind kind = fault.sends && fault.receives ? BlameKind::nic
                         : fault.sends                 ? BlameKind::nic_transmit
                                                       : BlameKind::nic_receive;
  // Halving measures both ways at once.
  return blame.kind == (blame.by_exclusion ? BlameKind::nic : kind) &&
         blame.nodes == std::vector<int>{fault.node} && blame.rail == fault.rail && blame.confirmed;
}

}  // namespace collbench::simgrid_test
