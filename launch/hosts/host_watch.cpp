#include "launch/hosts/host_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace collbench::launch {
namespace {

constexpr int kListenersOfFirstHost = 4;
constexpr int kOtherListeningHosts = 4;

// While all is well a host reports eight times in a timeout, but no more rarely than every 30 s; then once a
// second, and at each look when the time is over (4 looks a second).
constexpr int kReportsInTimeout = 8;
constexpr int kMaxLooksBetweenReports = 120;
constexpr int kLooksBetweenReportsWhenIdle = 4;

std::vector<int> ranks_of(const Identities& machines, int node) {
  std::vector<int> ranks;
  for (const Identity& each : machines) {
    if (each.node == node) ranks.push_back(each.rank);
  }
  return ranks;
}

// Connections of one process, which has 1,024 files by default.
constexpr std::size_t kMaxHeartbeatsOfAPoint = 256;

// A report may be on its way for this long.
constexpr int kMinSilentLooks = 12;

std::uint64_t progress(const HostReport& report) {
  return std::accumulate(report.ranks.begin(), report.ranks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RankActivity& rank) { return sum + rank.progress(); });
}

}  // namespace

std::vector<int> listening_ranks(const Identities& machines) {
  std::vector<int> ranks;
  for (const Identity& each : machines) {
    if (each.node == 0 && each.local_rank < kListenersOfFirstHost) ranks.push_back(each.rank);
  }
  for (const Identity& each : machines) {
    if (each.node > 0 && each.node <= kOtherListeningHosts && each.local_rank == 0)
      ranks.push_back(each.rank);
  }
  return ranks;
}

std::optional<std::size_t> heartbeat_point(const Identities& machines, const std::vector<WatchPoint>& points,
                                           int rank) {
  const std::vector<int> ranks = ranks_per_node(machines);
  const int node = machines.at(static_cast<std::size_t>(rank)).node;
  if (ranks.at(static_cast<std::size_t>(node)) != 1) return std::nullopt;
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].node != node && (points[i].node == 0 || node == 0)) there.push_back(i);
  }
  if (there.empty()) return std::nullopt;
  const auto before = static_cast<std::size_t>(std::count(ranks.begin(), ranks.begin() + node, 1));
  if (before / there.size() >= kMaxHeartbeatsOfAPoint) return std::nullopt;
  return there[before % there.size()];
}

HostWatch::HostWatch(Identities machines, int rank, int timeout_looks)
    : machines_(std::move(machines)),
      rank_(rank),
      node_(machines_.at(static_cast<std::size_t>(rank)).node),
      timeout_looks_(timeout_looks),
      ranks_here_(ranks_of(machines_, node_)),
      hosts_(static_cast<std::size_t>(node_count(machines_))) {}

void HostWatch::begin(std::vector<WatchPoint> points, Ask ask, std::unique_ptr<Heartbeat> heartbeat) {
  const auto own = std::ranges::find(points, rank_, &WatchPoint::rank);
  if (own != points.end()) own_point_ = static_cast<std::size_t>(own - points.begin());
  points_ = std::move(points);
  ask_ = std::move(ask);
  heartbeat_ = std::move(heartbeat);
}

bool HostWatch::is_due(int idle_looks, bool timed) {
  const std::lock_guard lock(mutex_);
  for (Host& host : hosts_) ++host.looks_since;
  for (MissingRank& each : missing_) {
    ++each.looks;
    if (timed) ++each.timed;
  }
  if (++looks_since_stranger_ > timeout_looks_) closed_strangers_ = 0;
  int period = std::clamp(timeout_looks_ / kReportsInTimeout, 1, kMaxLooksBetweenReports);
  if (idle_looks >= timeout_looks_ / 2) period = std::min(period, kLooksBetweenReportsWhenIdle);
  if (idle_looks >= timeout_looks_) period = 1;
  if (++looks_since_report_ < period) return false;
  looks_since_report_ = 0;
  return true;
}

void HostWatch::report(const std::vector<RankActivity>& here) {
  std::vector<NetworkAddress> to;
  std::vector<std::size_t> asked;
  HostReport report{.node = node_, .ranks = {}};
  for (const RankActivity& rank : here) {
    if (std::ranges::find(ranks_here_, rank.rank) != ranks_here_.end()) report.ranks.push_back(rank);
  }
  // Those before this one on its own host do not run, or they would report.
  for (std::size_t i = 0; i < own_point_.value_or(points_.size()); ++i) {
    if (points_[i].node == node_) continue;
    to.push_back(points_[i].address);
    asked.push_back(i);
  }
  {
    const std::lock_guard lock(mutex_);
    if (take(hosts_.at(static_cast<std::size_t>(node_)), report)) ++changes_;
    if (to.empty()) view_.decides = own_point_.has_value();
    if (to.empty() || is_asking_) return;
    is_asking_ = true;
  }
  ask_(std::move(to), report_line(report),
       [this, asked](const Answered& answer) { end_of_question(asked, answer); });
}

void HostWatch::end_of_question(const std::vector<std::size_t>& asked, const Answered& answer) {
  const std::lock_guard lock(mutex_);
  is_asking_ = false;
  const auto reply = answer ? reply_from_line(answer->line) : std::nullopt;
  view_.decides = !reply && own_point_.has_value();
  if (!reply) return;
  note_changes(asked.at(answer->by), reply->changes);
  if (reply->is_said) view_.is_said = true;
}

/// What `point` counted says something only beside what it counted before.
void HostWatch::note_changes(std::size_t point, std::uint64_t changes) {
  if (counted_by_ == point && changes != counted_) view_.others_go_on = true;
  counted_by_ = point;
  counted_ = changes;
}

HostWatch::View HostWatch::view() {
  const std::lock_guard lock(mutex_);
  if (view_.decides) note_changes(*own_point_, changes_);
  const auto missing = missing_.empty() ? std::nullopt : std::optional(missing_.front());
  return {view_.decides, view_.is_said, std::exchange(view_.others_go_on, false), missing};
}

void HostWatch::beat(const RankActivity& own) {
  if (heartbeat_) heartbeat_->beat(report_line({.node = node_, .ranks = {own}}));
}

void HostWatch::farewell() {
  if (heartbeat_) heartbeat_->farewell();
}

void HostWatch::lost(std::string_view last_beat) {
  const std::optional<HostReport> report = report_of_another_host(last_beat);
  if (!report || report->ranks.size() != 1) return;
  MissingRank missing{report->ranks.front()};
  missing.rank.process = ProcessState::gone;
  missing.rank.is_over = false;
  const std::lock_guard lock(mutex_);
  missing_.push_back(std::move(missing));
}

void HostWatch::found(std::string_view beat) {
  const std::lock_guard lock(mutex_);
  if (missing_.empty()) return;
  const std::optional<HostReport> report = report_of_another_host(beat);
  if (!report || report->ranks.size() != 1) return;
  std::erase_if(missing_,
                [&](const MissingRank& each) { return each.rank.rank == report->ranks.front().rank; });
}

void HostWatch::crowded() {
  const std::lock_guard lock(mutex_);
  ++closed_strangers_;
  looks_since_stranger_ = 0;
}

void HostWatch::note_progress() {
  const std::lock_guard lock(mutex_);
  for (MissingRank& each : missing_) each.looks = each.timed = 0;
}

std::optional<HostReport> HostWatch::report_of_another_host(std::string_view line) const {
  std::optional<HostReport> report = report_from_line(line);
  if (!report || report->node == node_ || std::cmp_greater_equal(report->node, hosts_.size()))
    return std::nullopt;
  const auto is_of_it = [&](const RankActivity& rank) {
    return std::cmp_less(rank.rank, machines_.size()) &&
           machines_[static_cast<std::size_t>(rank.rank)].node == report->node;
  };
  if (!std::ranges::all_of(report->ranks, is_of_it)) return std::nullopt;
  return report;
}

std::optional<std::string> HostWatch::answer(std::string_view line) {
  std::optional<HostReport> report = report_of_another_host(line);
  if (!report) return std::nullopt;
  const std::lock_guard lock(mutex_);
  Host& host = hosts_[static_cast<std::size_t>(report->node)];
  if (take(host, *std::move(report))) ++changes_;
  host.knows = is_said_here_;
  return reply_line({.changes = changes_, .is_said = is_said_here_});
}

bool HostWatch::is_silent(const Host& host) const {
  return host.looks_since > std::max(timeout_looks_ / 2, kMinSilentLooks);
}

bool HostWatch::take(Host& host, HostReport report) {
  const bool went_on = host.last && progress(*host.last) != progress(report);
  host.last = std::move(report);
  host.looks_since = 0;
  return went_on;
}

void HostWatch::say() {
  const std::lock_guard lock(mutex_);
  is_said_here_ = true;
}

bool HostWatch::all_know() {
  const std::lock_guard lock(mutex_);
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    const Host& host = hosts_[node];
    if (std::cmp_not_equal(node, node_) && host.last && !is_silent(host) && !host.knows) return false;
  }
  return true;
}

std::vector<RankActivity> HostWatch::ranks_elsewhere() {
  const std::lock_guard lock(mutex_);
  std::vector<RankActivity> ranks;
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    const Host& host = hosts_[node];
    if (std::cmp_equal(node, node_) || !host.last || is_silent(host)) continue;
    ranks.insert(ranks.end(), host.last->ranks.begin(), host.last->ranks.end());
  }
  return ranks;
}

std::vector<SilentHost> HostWatch::silent_hosts() {
  const std::lock_guard lock(mutex_);
  std::vector<SilentHost> silent;
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    if (std::cmp_equal(node, node_) || !is_silent(hosts_[node])) continue;
    std::vector<int> ranks = ranks_of(machines_, static_cast<int>(node));
    const std::string& host = machines_.at(static_cast<std::size_t>(ranks.at(0))).host;
    silent.push_back({host, std::move(ranks)});
  }
  return silent;
}

int HostWatch::closed_strangers() {
  const std::lock_guard lock(mutex_);
  return closed_strangers_;
}

std::string report_line(const HostReport& report) {
  Json json{{"node", report.node}, {"ranks", Json::array()}};
  for (const RankActivity& rank : report.ranks) json["ranks"].push_back(rank_activity_to_json(rank));
  return json_line(json);
}

std::string reply_line(const HostReply& reply) {
  return fmt::format("{} {}", reply.changes, reply.is_said ? "said" : "watching");
}

std::optional<HostReport> report_from_line(std::string_view line) {
  constexpr std::string_view kWhere = "a host's report";
  try {
    const nlohmann::json document = parse_json_line(line, kWhere);
    const JsonReader json(document, kWhere);
    HostReport report{.node = json.at("node").integer<int>(), .ranks = {}};
    for (const JsonReader& rank : json.at("ranks").items())
      report.ranks.push_back(rank_activity_from_json(rank));
    return report;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<HostReply> reply_from_line(std::string_view line) {
  HostReply reply;
  const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), reply.changes);
  if (failure != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(line.data() + line.size() - end));
  if (rest != " said" && rest != " watching") return std::nullopt;
  reply.is_said = rest == " said";
  return reply;
}

}  // namespace collbench::launch
