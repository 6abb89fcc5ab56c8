#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/text_input.hpp"

// Source of JSON's format: inspector_json.cc of NCCL (inspector.cc before 2.30.3), HOST-pidN.log for a
// process.
// - v4.0, NCCL 2.28.3 to 2.30.7: header, metadata and coll_perf on each line; from 2.30.3 on header.comm_name
//   ("unknown": none) and p2p_perf. Up to 2.29 a dump has the last call of each communicator only,
//   from 2.30.3 on all since the dump before. NCCL_INSPECTOR_DUMP_VERBOSE adds event_trace_sn and
//   event_trace_ts.
// - v4.1 (NVIDIA/nccl pull request 2304): before a communicator's lines one with dump_stats.
// - v4.2: coll_algo and coll_proto, "RING" and "SIMPLE" (plugins/profiler/inspector/comm-patterns/README.md).
// - v4.3 and v4.4 (pull request 2359, open in September 2026): header and metadata on the line of dump_stats
//   only, whose coll_records, p2p_records and proxy_records say how many lines follow; proxy_trace.
// collbench has seen none of a real job.

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxLine = 1U << 20;  // a line of the verbose form has a few KiB
constexpr std::array<std::string_view, 4> kFirstKeys{"{\"header\"", "{\"coll_perf\"", "{\"p2p_perf\"",
                                                     "{\"proxy_trace\""};
constexpr std::string_view kGiveFiles = "give the files of NCCL_INSPECTOR_DUMP_DIR as they are";

/// The header and the metadata that the lines of a communicator's dump share, and how many of them follow.
struct DumpMarker {
  nlohmann::json line;
  std::string where;
  std::uint64_t left = 0;
};

std::size_t communicator_in(const JsonReader& header, InspectedJob& job) {
  const std::string id = header.at("id").text();
  const auto name = header.find("comm_name");
  return communicator_of({.id = id,
                          .name = name ? unless_unknown(name->text()) : "",
                          .ranks = header.at("n_ranks").integer<int>(1),
                          .nodes = header.at("nnodes").integer<int>()},
                         id, job);
}

/// What is said of the lines that follow, and of those that Inspector lost.
DumpMarker take_marker(const nlohmann::json& line, const std::string& where, InspectedJob& job) {
  const JsonReader reader(line, where);
  const JsonReader stats = reader.at("dump_stats");
  const auto count = [&stats](std::string_view key) {
    const auto value = stats.find(key);
    return value ? value->integer<std::uint64_t>() : 0;
  };
  const JsonReader header = reader.at("header");
  std::uint64_t& lost =
      job.lost[fmt::format("{} {}", header.at("id").text(), header.at("rank").integer<int>())];
  lost = std::max(lost, count("coll_dropped_total"));
  return {line, where, count("coll_records") + count("p2p_records") + count("proxy_records")};
}

/// Of the call that `line` has and `about` tells the header and the metadata of. Empty: it was taken.
std::string take_call(const JsonReader& line, const JsonReader& about, InspectedJob& job) {
  const auto call = line.find("coll_perf");
  if (!call) return line.find("p2p_perf") ? "Send and Recv, which are not judged" : "no collective";
  if (call->at("coll_timing_source").text() != "kernel_gpu") return "not timed by the GPU";
  const Operation* const known = find_operation(call->at("coll").text());
  if (known == nullptr || !known->has_bandwidth) return "of a collective without a model";
  const double seconds = call->at("coll_exec_time_us").number() * 1e-6;
  const bool has_time = seconds >= 0.5e-6 && std::isfinite(seconds);
  if (!has_time) return "without a time of a microsecond or more";
  const JsonReader header = about.at("header");
  const int rank = header.at("rank").integer<int>();
  const int ranks = header.at("n_ranks").integer<int>(1);
  if (rank >= ranks) throw header.at("rank").expected("a rank of the communicator");
  const auto bytes = call->at("coll_msg_size_bytes").integer<std::uint64_t>();
  if (bytes > kMaxCallBytes / static_cast<std::uint64_t>(ranks))
    throw call->at("coll_msg_size_bytes").expected("at most 1 PiB over all ranks");
  const JsonReader metadata = about.at("metadata");
  const std::string host = metadata.at("hostname").text();
  const auto dumped = metadata.find("dump_timestamp_us");
  const std::int64_t second = dumped ? dumped->integer<std::int64_t>() / 1'000'000 : 0;
  const auto algorithm = call->find("coll_algo");
  const std::size_t communicator = communicator_in(header, job);
  InspectedCommunicator& group = job.communicators[communicator];
  group.hosts.try_emplace(rank, host);
  const InspectedKind kind{.communicator = communicator,
                           .operation = known->id,
                           .size_bytes = size_over_all(known->id, bytes, group.ranks),
                           .algorithm = algorithm ? unless_unknown(lower(algorithm->text())) : ""};
  job.calls[kind].push_back({.sequence = call->at("coll_sn").integer<std::uint64_t>(),
                             .rank = rank,
                             .seconds = seconds,
                             .second_of_dump = second <= kMaxSecond ? second : 0});
  return {};
}

/// Up to the next newline; throws where that is further than a line of Inspector's can be.
bool next_line(std::istream& input, const std::string& where, std::string& text) {
  text.clear();
  std::streambuf& bytes = *input.rdbuf();
  for (int each = bytes.sbumpc(); each != std::istream::traits_type::eof(); each = bytes.sbumpc()) {
    if (each == '\n') return true;
    text += static_cast<char>(each);
    if (text.size() > kMaxLine) throw usage_error(where, "is longer than a MiB", std::string(kGiveFiles));
  }
  input.setstate(std::ios::eofbit);
  return !text.empty();
}

/// Of one file: whether a line of Inspector's was seen in it, and what the next ones are of.
struct FileState {
  bool is_known = false;
  DumpMarker marker{};
};

/// Empty: it was taken. `is_last`: no newline follows.
std::string take_json(const std::string& text, const std::string& where, bool is_last, FileState& file,
                      InspectedJob& job) {
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  const bool has_context = parsed.is_object() && (parsed.contains("header") || parsed.contains("metadata"));
  const bool follows =
      parsed.is_object() && !has_context && file.marker.left > 0 &&
      (parsed.contains("coll_perf") || parsed.contains("p2p_perf") || parsed.contains("proxy_trace"));
  if (has_context || follows) {
    file.is_known = true;
    if (has_context && parsed.contains("dump_stats")) {
      file.marker = take_marker(parsed, where, job);
      return {};
    }
    const JsonReader line(parsed, where);
    if (has_context) return take_call(line, line, job);
    --file.marker.left;
    return take_call(line, JsonReader(file.marker.line, file.marker.where), job);
  }
  const bool is_cut =
      parsed.is_discarded() && is_last && std::ranges::any_of(kFirstKeys, [&text](std::string_view key) {
        return key.starts_with(std::string_view(text).substr(0, key.size()));
      });
  if (is_cut) return "cut at the end of a file";
  if (!file.is_known)
    throw usage_error(where, "is no line of NCCL Inspector's, an object with a \"header\" on each",
                      std::string(kGiveFiles));
  file.marker = {};  // it may have been another communicator's
  return "damaged";
}

std::string take_metric(const std::string& text, const std::string& where, bool is_last, FileState& file,
                        InspectedJob& job) {
  if (text.starts_with('#')) return {};
  const std::optional<MetricSample> sample = metric_sample(text);
  if (!file.is_known && !sample && !(is_last && text.starts_with("nccl_")))
    throw usage_error(where, "is no line of NCCL Inspector's, neither of JSON nor of Prometheus' text format",
                      std::string(kGiveFiles));
  if (is_last) return "cut at the end of a file";
  if (!sample) return "damaged";
  file.is_known = true;
  return take_sample(*sample, job);
}

}  // namespace

std::size_t communicator_of(InspectedCommunicator communicator, const std::string& identity,
                            InspectedJob& job) {
  const auto [known, is_new] =
      job.known.try_emplace({identity, communicator.ranks}, job.communicators.size());
  if (is_new) job.communicators.push_back(std::move(communicator));
  return known->second;
}

std::uint64_t size_over_all(OperationId id, std::uint64_t bytes, int ranks) {
  const bool is_part = id == OperationId::all_gather || id == OperationId::reduce_scatter;
  return is_part ? bytes * static_cast<std::uint64_t>(ranks) : bytes;
}

std::string unless_unknown(std::string text) { return text == "unknown" ? "" : std::move(text); }

void read_inspector_log(std::istream& input, const std::string& file, InspectedJob& job) {
  std::string text;
  std::size_t number = 0;
  FileState state;
  std::optional<bool> is_json;  // by the first line: an object that does not begin as a metric's labels do
  while (next_line(input, fmt::format("{}:{}", file, number + 1), text)) {
    const std::string where = fmt::format("{}:{}", file, ++number);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    // A label's name may be quoted; what follows it is never a colon.
    const std::size_t name_end = text.find_first_of(":=");
    if (!is_json) is_json = text.starts_with('{') && (name_end == std::string::npos || text[name_end] == ':');
    std::string why = *is_json ? take_json(text, where, input.eof(), state, job)
                               : take_metric(text, where, input.eof(), state, job);
    if (!why.empty()) ++job.left_out[std::move(why)];
  }
  ++job.files;
}

}  // namespace collbench::analysis
