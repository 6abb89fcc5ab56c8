#include "base/record/run_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/record/operation.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

constexpr std::string_view kFirstKey = "{\"launch\":";

std::string described(const RowKey& key) {
  return fmt::format("{} {} {}{}{} --algo {}", operation(key.operation).name, format_bytes(key.size_bytes),
                     traits(key.type).name, key.reduction ? fmt::format(" {}", name(*key.reduction)) : "",
                     key.in_place ? " in place" : "", key.algorithm);
}

void require_same(std::string_view then, std::string_view now, std::string_view what,
                  const std::string& where) {
  if (then == now) return;
  throw usage_error(where, fmt::format("was measured with {}{}, and this is {}", what, then, now),
                    "start a stream of its own for this run (--stream FILE)");
}

/// The next line of `text` without its end; advances past it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

void add_line(RunStream& stream, std::string_view line, const std::string& where) {
  const nlohmann::json document = parse_json_line(line, where);
  const JsonReader json(document, where);
  if (const auto launch = json.find("launch")) {
    Run run = run_from_json(*launch, where);
    if (!stream.launches.empty()) require_same_measurement(stream.launches.front().run, run, where);
    stream.launches.push_back({.run = std::move(run), .blocks = {}, .incident = {}});
    return;
  }
  if (stream.launches.empty()) throw json.expected("the beginning of a launch");
  StreamedLaunch& launch = stream.launches.back();
  if (const auto incident = json.find("incident")) {
    launch.incident = record_from_json<Incident>(*incident);
    return;
  }
  if (json.find("end")) {
    launch.ended = true;
    return;
  }
  launch.blocks.push_back(block_from_json(json.at("block"), launch.run.rows.size(), launch.run.ranks.size()));
}

std::string walk_words(const Buffers& buffers) {
  const std::uint64_t bytes = buffers.walk_bytes.value_or(0);
  return bytes == 0 ? "hot calls (on the same addresses)"
                    : fmt::format("cold calls (a walk through {})", format_bytes(bytes));
}

std::string_view reality_words(const Run& run) {
  if (run.gpus_simulated) return "simulated GPUs";
  return run.simulated ? "simulated time" : "the machine's own time";
}

std::string registration_words(const Buffers& buffers) {
  return buffers.registration ? std::string(name(*buffers.registration)) : "not known";
}

}  // namespace

std::string launch_line(const Run& run) {
  Json line;
  line["launch"] = run_to_json(run);
  return json_line(line) + "\n";
}

std::string block_line(const MeasuredBlock& block) {
  Json line;
  line["block"] = block_to_json(block);
  return json_line(line) + "\n";
}

std::string incident_line(const Incident& incident) {
  Json line;
  line["incident"] = record_to_json(incident);
  return json_line(line) + "\n";
}

std::string end_line() { return "{\"end\":{}}\n"; }

bool looks_like_stream(std::string_view text) { return text.starts_with(kFirstKey); }

RunStream run_stream_from_text(std::string_view text, std::string_view file_name) {
  RunStream stream;
  if (!text.empty() && !looks_like_stream(text.substr(0, text.find('\n'))) &&
      text.find('\n') != std::string_view::npos)
    throw usage_error(fmt::format("{}:1", file_name),
                      "is not the stream of a run: its first line is no start of one",
                      "give a file that collbench wrote with --stream; a record (-J) cannot be continued");
  std::string_view rest = text;
  for (int line = 1; rest.find('\n') != std::string_view::npos; ++line) {
    add_line(stream, next_line(rest), fmt::format("{}:{}", file_name, line));
  }
  stream.whole_bytes = text.size() - rest.size();
  if (stream.launches.empty()) {
    throw usage_error(std::string(file_name), "is not a stream: it has no whole line",
                      "give a file that collbench wrote with --stream");
  }
  return stream;
}

Run run_of(const RunStream& stream) {
  Run run = stream.launches.back().run;
  std::vector<RowSamples> rows(run.rows.size());
  run.launches = 0;
  for (const StreamedLaunch& launch : stream.launches) {
    run.passes = 0;
    for (const MeasuredBlock& block : launch.blocks) {
      rows[block.row].add(block, run.launches);
      run.passes = std::max(run.passes, block.pass + 1);
    }
    ++run.launches;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].summarize(run.rows[i].measurement);
  run.complete = stream.launches.back().ended;
  run.incident = stream.launches.back().incident;
  return run;
}

Run run_from_text(std::string_view text, std::string_view file_name) {
  if (const auto foreign = foreign_file(text, file_name, "collbench report -")) throw Error(*foreign);
  if (trim(text).empty())
    throw usage_error(std::string(file_name), "the file is empty", "give a run's record");
  if (looks_like_csv(text)) {
    throw usage_error(std::string(file_name), "the file is CSV, which does not hold a whole run",
                      "give the record that -J wrote");
  }
  if (!trim(text).starts_with('{')) {
    throw usage_error(std::string(file_name), "the file is no record of a run",
                      "of a benchmark's log make one: collbench judge LOG -J run.json");
  }
  if (looks_like_stream(text)) return run_of(run_stream_from_text(text, file_name));
  return run_from_json_text(text, file_name);
}

void require_same_measurement(const Run& then, const Run& now, const std::string& where) {
  require_same(name(then.backend), name(now.backend), "backend ", where);
  require_same(reality_words(then), reality_words(now), "", where);
  require_same(then.versions.collbench, now.versions.collbench, "collbench ", where);
  require_same(then.versions.mpi, now.versions.mpi, "MPI ", where);
  require_same(then.versions.nccl, now.versions.nccl, "NCCL ", where);
  require_same(name(then.time_reduction), name(now.time_reduction), "times reduced over ranks by ", where);
  require_same(counted(then.ranks.size(), "rank"), counted(now.ranks.size(), "rank"), "", where);
  for (std::size_t rank = 0; rank < now.ranks.size(); ++rank) {
    require_same(then.ranks[rank].host, now.ranks[rank].host, fmt::format("rank {} on ", rank), where);
  }
  require_same(counted(then.buffers.unaligned_elements, "element"),
               counted(now.buffers.unaligned_elements, "element"), "buffers that begin late by ", where);
  require_same(walk_words(then.buffers), walk_words(now.buffers), "", where);
  require_same(words(then.process), words(now.process), "", where);
  require_same(fmt::to_string(then.graph_launches), fmt::to_string(now.graph_launches), "-G ", where);
  require_same(registration_words(then.buffers), registration_words(now.buffers), "-R ", where);
  require_same(counted(then.rows.size(), "row"), counted(now.rows.size(), "row"), "", where);
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    require_same(described(then.rows[i].measurement.key), described(now.rows[i].measurement.key),
                 fmt::format("row {} as ", i + 1), where);
  }
}

}  // namespace collbench
