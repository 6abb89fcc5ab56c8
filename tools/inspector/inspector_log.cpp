#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <istream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxLine = 1U << 20;       // a line of the verbose form has a few KiB
constexpr std::uint64_t kMaxBytes = 1ULL << 50;  // of a call, so that its size over all ranks is a number
constexpr std::string_view kFirstKey = "{\"header\"";
constexpr std::string_view kGiveFiles = "give the files of NCCL_INSPECTOR_DUMP_DIR as they are";

std::size_t communicator_of(const JsonReader& header, InspectedJob& job) {
  const std::string id = header.at("id").text();
  const int ranks = header.at("n_ranks").integer<int>(1);
  const auto [known, is_new] = job.known.try_emplace({id, ranks}, job.communicators.size());
  if (!is_new) return known->second;
  const auto name = header.find("comm_name");
  job.communicators.push_back({.id = id,
                               .name = name ? name->text() : "",
                               .ranks = ranks,
                               .nodes = header.at("nnodes").integer<int>(),
                               .hosts = {}});
  return known->second;
}

/// Inspector counts what one rank gives to an AllGather and gets of a ReduceScatter (inspector.cc).
std::uint64_t size_over_all(OperationId id, std::uint64_t bytes, int ranks) {
  const bool is_part = id == OperationId::all_gather || id == OperationId::reduce_scatter;
  return is_part ? bytes * static_cast<std::uint64_t>(ranks) : bytes;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

/// Empty: the call was taken.
std::string take_call(const JsonReader& line, InspectedJob& job) {
  const auto call = line.find("coll_perf");
  if (!call) return line.find("p2p_perf") ? "Send and Recv, which are not judged" : "no collective";
  if (call->at("coll_timing_source").text() != "kernel_gpu") return "not timed by the GPU";
  const Operation* const known = find_operation(call->at("coll").text());
  if (known == nullptr || !known->has_bandwidth) return "of a collective without a model";
  const double seconds = call->at("coll_exec_time_us").number() * 1e-6;
  if (!(seconds >= 0.5e-6 && std::isfinite(seconds))) return "without a time of a microsecond or more";
  const JsonReader header = line.at("header");
  const int rank = header.at("rank").integer<int>();
  const int ranks = header.at("n_ranks").integer<int>(1);
  if (rank >= ranks) throw header.at("rank").expected("a rank of the communicator");
  const auto bytes = call->at("coll_msg_size_bytes").integer<std::uint64_t>();
  if (bytes > kMaxBytes / static_cast<std::uint64_t>(ranks))
    throw call->at("coll_msg_size_bytes").expected("at most 1 PiB over all ranks");
  const std::string host = line.at("metadata").at("hostname").text();
  const auto algorithm = call->find("coll_algo");
  const std::size_t communicator = communicator_of(header, job);
  InspectedCommunicator& group = job.communicators[communicator];
  group.hosts.try_emplace(rank, host);
  const InspectedKind kind{.communicator = communicator,
                           .operation = known->id,
                           .size_bytes = size_over_all(known->id, bytes, group.ranks),
                           .algorithm = algorithm ? lower_case(algorithm->text()) : ""};
  job.calls[kind].push_back(
      {.sequence = call->at("coll_sn").integer<std::uint64_t>(), .rank = rank, .seconds = seconds});
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

}  // namespace

void read_inspector_log(std::istream& input, const std::string& file, InspectedJob& job) {
  std::string text;
  std::size_t number = 0;
  bool is_known = false;  // as a file of Inspector's, by a line of it
  while (next_line(input, fmt::format("{}:{}", file, number + 1), text)) {
    const std::string where = fmt::format("{}:{}", file, ++number);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
    const bool is_line = parsed.is_object() && (parsed.contains("header") || parsed.contains("metadata"));
    const bool is_cut = parsed.is_discarded() && input.eof() &&
                        kFirstKey.starts_with(std::string_view(text).substr(0, kFirstKey.size()));
    if (!is_line && !is_cut && !is_known)
      throw usage_error(where, "is no line of NCCL Inspector's, an object with a \"header\" on each",
                        std::string(kGiveFiles));
    is_known = is_known || is_line;
    std::string why = is_line  ? take_call(JsonReader(parsed, where), job)
                      : is_cut ? "cut at the end of a file"
                               : "damaged";
    if (!why.empty()) ++job.left_out[std::move(why)];
  }
  ++job.files;
}

}  // namespace collbench::analysis
