#include "analysis/models/host/loggp_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace collbench::analysis {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

/// When messages of `bytes` end that start at `starts` (ascending) on one link, evenly shared: it carries
/// `link_rate` in all and at most `message_rate` of each, in bytes per second. All are of one length, so they
/// end in order, when each has had its share of service.
std::vector<double> ends_when_shared(const std::vector<double>& starts, double bytes, double message_rate,
                                     double link_rate) {
  std::vector<double> ends;
  std::vector<double> service_at_start;
  double now = starts.front();
  double service = 0;  // bytes that a message present all the time would have got
  while (ends.size() < starts.size()) {
    const std::size_t active = service_at_start.size() - ends.size();
    const double rate = std::min(message_rate, link_rate / static_cast<double>(active));
    const double end = active == 0 ? std::numeric_limits<double>::infinity()
                                   : now + (service_at_start[ends.size()] + bytes - service) / rate;
    if (service_at_start.size() < starts.size() && starts[service_at_start.size()] <= end) {
      const double start = starts[service_at_start.size()];
      if (active > 0) service += rate * (start - now);
      now = start;
      service_at_start.push_back(service);
    } else {
      service = service_at_start[ends.size()] + bytes;
      now = end;
      ends.push_back(now);
    }
  }
  return ends;
}

}  // namespace

Round round_of(const HostModel& model, std::span<const int> destinations) {
  Round round;
  round.hops.reserve(destinations.size());
  const auto nodes = index(model.nodes());
  std::vector<std::vector<std::size_t>> links(2 * nodes);  // out of each node, then into each
  for (int rank = 0; rank < model.ranks(); ++rank) {
    const int to = destinations[index(rank)];
    if (to == kNobody) continue;
    const std::size_t source = index(model.node[index(rank)]);
    const std::size_t target = index(model.node[index(to)]);
    if (source != target) {
      links[source].push_back(round.hops.size());
      links[nodes + target].push_back(round.hops.size());
    }
    round.hops.push_back(
        {.from = rank, .to = to, .crosses = source != target, .answered = destinations[index(to)] == rank});
  }
  for (auto& link : links) {
    if (link.size() > 1) round.sharing_a_link.push_back(std::move(link));
  }
  return round;
}

Round shift(const HostModel& model, int distance) {
  std::vector<int> destinations(model.node.size());
  for (int rank = 0; rank < model.ranks(); ++rank) {
    destinations[index(rank)] = (rank + distance) % model.ranks();
  }
  return round_of(model, destinations);
}

LogGpSimulator::LogGpSimulator(const HostModel& model, SentData data, double working_set_bytes)
    : model_(model),
      data_(data),
      working_set_(working_set_bytes),
      now_{.done = std::vector<double>(model.node.size(), 0),
           .sent = std::vector<double>(model.node.size(), 0),
           // nothing yet, so no gap
           .received = std::vector<double>(model.node.size(), -std::numeric_limits<double>::infinity())},
      next_(model.node.size(), 0) {}

void LogGpSimulator::exchange(const Round& round, double bytes, double work_seconds) {
  const auto waits = [&](const Hop& hop) { return bytes > tier(hop).eager_limit_bytes; };
  const double on_intra_link = link_seconds(model_.intra, bytes);
  const double on_inter_link = link_seconds(model_.inter, bytes);

  starts_.clear();
  lets_go_.clear();
  for (const Hop& hop : round.hops) {
    double start = std::max(now_.done[index(hop.from)], now_.sent[index(hop.from)]);
    if (waits(hop)) start = std::max(start, now_.done[index(hop.to)]);
    starts_.push_back(start);
    lets_go_.push_back(start + (hop.crosses ? on_inter_link * slowed(hop, bytes) : on_intra_link));
    next_[index(hop.from)] = now_.done[index(hop.from)];
    next_[index(hop.to)] = now_.done[index(hop.to)];
  }
  if (model_.host_bytes_per_second > 0 && on_inter_link > 0) share_links(round, bytes);

  for (std::size_t i = 0; i < round.hops.size(); ++i) {
    const Hop& hop = round.hops[i];
    const double arrival =
        std::max(lets_go_[i] + tier(hop).alpha_seconds,
                 now_.received[index(hop.to)] + std::max(lets_go_[i] - starts_[i], tier(hop).gap_seconds));
    now_.sent[index(hop.from)] = std::max(lets_go_[i], starts_[i] + tier(hop).gap_seconds);
    now_.received[index(hop.to)] = arrival;
    next_[index(hop.to)] = std::max(next_[index(hop.to)], arrival);
    if (waits(hop)) next_[index(hop.from)] = std::max(next_[index(hop.from)], arrival);
  }
  for (const Hop& hop : round.hops) now_.done[index(hop.from)] = next_[index(hop.from)];
  for (const Hop& hop : round.hops) now_.done[index(hop.to)] = next_[index(hop.to)] + work_seconds;
}

void LogGpSimulator::repeat(const Round& round, double bytes, double work_seconds, int times) {
  for (int i = 1; i <= times; ++i) {
    const State before = now_;
    exchange(round, bytes, work_seconds);
    // A round looks at differences between times only, so from here on all of them move alike.
    if (const auto step = common_step(before)) {
      move(*step * (times - i));
      return;
    }
  }
}

std::optional<double> LogGpSimulator::common_step(const State& before) const {
  constexpr double kRounding = 1e-9;
  const double step = now_.done[0] - before.done[0];
  const auto moved = [step](const std::vector<double>& from, const std::vector<double>& to) {
    return std::equal(from.begin(), from.end(), to.begin(), [step](double was, double is) {
      return std::abs(is - was - step) <= kRounding * step;
    });
  };
  if (!moved(before.done, now_.done) || !moved(before.sent, now_.sent)) return std::nullopt;
  return moved(before.received, now_.received) ? std::optional(step) : std::nullopt;
}

void LogGpSimulator::move(double seconds) {
  for (std::vector<double>* times : {&now_.done, &now_.sent, &now_.received}) {
    for (double& time : *times) time += seconds;
  }
}

double LogGpSimulator::link_seconds(const MessageTier& tier, double bytes) const {
  const TimeCurve& curve = data_ == SentData::standing ? tier.standing : tier.forwarded;
  return std::max(0.0, curve.seconds(bytes, working_set_) - tier.alpha_seconds);
}

double LogGpSimulator::slowed(const Hop& hop, double bytes) const {
  const MessageTier& its = tier(hop);
  return hop.answered && bytes > its.eager_limit_bytes ? its.exchange_factor : 1;
}

void LogGpSimulator::share_links(const Round& round, double bytes) {
  for (std::vector<std::size_t> hops : round.sharing_a_link) {
    std::ranges::sort(hops,
                      [this](std::size_t left, std::size_t right) { return starts_[left] < starts_[right]; });
    std::vector<double> starts;
    for (const std::size_t hop : hops) starts.push_back(starts_[hop]);
    // Hops of one round that meet on a link are of one kind: all are exchanges, or none is.
    const double slower = slowed(round.hops[hops.front()], bytes);
    const double alone = link_seconds(model_.inter, bytes) * slower;
    const std::vector<double> ends =
        ends_when_shared(starts, bytes, bytes / alone, model_.host_bytes_per_second / slower);
    for (std::size_t i = 0; i < hops.size(); ++i) lets_go_[hops[i]] = std::max(lets_go_[hops[i]], ends[i]);
  }
}

void LogGpSimulator::work(double seconds) {
  for (double& done : now_.done) done += seconds;
}

double LogGpSimulator::seconds() const { return *std::ranges::max_element(now_.done); }

}  // namespace collbench::analysis
