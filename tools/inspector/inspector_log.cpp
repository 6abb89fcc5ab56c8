#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <istream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxLine = 1U << 20;  // a line of the verbose form has a few KiB

std::size_t communicator_of(const JsonReader& header, InspectedJob& job) {
  const std::string id = header.at("id").text();
  const int ranks = header.at("n_ranks").integer<int>(1);
  const auto found = std::find_if(job.communicators.begin(), job.communicators.end(),
                                  [&](const auto& each) { return each.id == id && each.ranks == ranks; });
  if (found != job.communicators.end()) return static_cast<std::size_t>(found - job.communicators.begin());
  const auto name = header.find("comm_name");
  job.communicators.push_back({.id = id,
                               .name = name && !name->is_null() ? name->text() : "",
                               .ranks = ranks,
                               .nodes = header.at("nnodes").integer<int>(),
                               .hosts = {}});
  return job.communicators.size() - 1;
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
  const std::string source = call->at("coll_timing_source").text();
  if (source != "kernel_gpu") return fmt::format("timed by \"{}\", not by the GPU", source);
  const std::string name = call->at("coll").text();
  const Operation* const known = find_operation(name);
  if (known == nullptr || !known->has_bandwidth) return fmt::format("no model of {}", name);
  const JsonReader header = line.at("header");
  const std::size_t communicator = communicator_of(header, job);
  InspectedCommunicator& group = job.communicators[communicator];
  const double seconds = call->at("coll_exec_time_us").number() * 1e-6;
  if (!(seconds > 0)) return "shorter than the microsecond that Inspector counts in";
  const int rank = header.at("rank").integer<int>();
  if (rank >= group.ranks) throw header.at("rank").expected(fmt::format("a rank of {}", group.ranks));
  group.hosts.try_emplace(rank, line.at("metadata").at("hostname").text());
  const auto algorithm = call->find("coll_algo");
  const auto bytes = call->at("coll_msg_size_bytes").integer<std::uint64_t>();
  const InspectedKind kind{.communicator = communicator,
                           .operation = known->id,
                           .size_bytes = size_over_all(known->id, bytes, group.ranks),
                           .algorithm = algorithm ? lower_case(algorithm->text()) : ""};
  job.calls[kind].push_back(
      {.sequence = call->at("coll_sn").integer<std::uint64_t>(), .rank = rank, .seconds = seconds});
  return {};
}

}  // namespace

void read_inspector_log(std::istream& input, const std::string& file, InspectedJob& job) {
  std::string text;
  std::size_t number = 0;
  while (std::getline(input, text)) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    const bool is_last = input.eof();  // without its newline
    const nlohmann::json parsed =
        text.size() > kMaxLine ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("header")) {
      if (!is_last)
        throw usage_error(where, "is no line of NCCL Inspector's, an object with a \"header\" on each",
                          "give the files of NCCL_INSPECTOR_DUMP_DIR as they are");
      ++job.left_out["cut at the end of a file"];
      continue;
    }
    if (std::string why = take_call(JsonReader(parsed, where), job); !why.empty())
      ++job.left_out[std::move(why)];
  }
  ++job.files;
}

}  // namespace collbench::analysis
