#include "src/run/incident.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>
#include <utility>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_reader.hpp"
#include "base/record/run_stream.hpp"
#include "launch/flight/flight_folder.hpp"
#include "src/run/outcome.hpp"
#include "src/run/output_files.hpp"

namespace collbench::program {
namespace {

// The main thread of rank 0 may be inside a file system that does not answer.
constexpr auto kFilePatience = std::chrono::seconds(1);

std::optional<Incident> incident_from_line(const std::string& line) {
  if (line.empty()) return std::nullopt;
  try {
    const nlohmann::json document = parse_json_line(line, "incident");
    return incident_from_json(JsonReader(document, "incident"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether the last launch of a stream began then, and it can be appended to.
bool is_stream_of(const std::string& text, const std::string& started, const std::string& path) {
  constexpr std::string_view kLaunch = "{\"launch\":";
  if (text.empty() || text.back() != '\n') return false;  // its writer died inside a line
  std::size_t at = text.rfind("\n" + std::string(kLaunch));
  at = at == std::string::npos ? 0 : at + 1;
  const std::string line = text.substr(at, text.find('\n', at) + 1 - at);
  if (!line.starts_with(kLaunch) || text.find("\n{\"incident\":", at) != std::string::npos) return false;
  return run_stream_from_text(line, path).launches.front().run.started == started;
}

}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

IncidentLog::IncidentLog(const RunOptions& options, std::filesystem::path flight_folder)
    : options_(options), flight_folder_(std::move(flight_folder)) {}

void IncidentLog::begin(std::string started, std::string root_host) {
  const std::string record = record_file(options_.documents);
  const std::string& file = record.empty() ? options_.stream_path : record;
  std::error_code ignored;
  sees_files_ = file.empty() || std::filesystem::exists(file, ignored);
  started_ = std::move(started);
  root_host_ = std::move(root_host);
  has_begun_ = true;
}

std::string IncidentLog::next_step() const {
  std::string text = kept_results(options_, has_begun_);
  if (has_begun_ && !sees_files_)
    text +=
        fmt::format(" on {}, where this is not noted: its folder is not shared with this host", root_host_);
  return text;
}

bool IncidentLog::claim(const Incident& incident) {
  const std::lock_guard lock(claimed_mutex_);
  if (claimed_ || !launch::leave_incident(flight_folder_, json_line(incident_to_json(incident))))
    return false;
  claimed_ = incident;
  return true;
}

std::optional<Incident> IncidentLog::known() const {
  const std::lock_guard lock(claimed_mutex_);
  return claimed_ ? claimed_ : incident_from_line(launch::left_incident(flight_folder_));
}

std::unique_lock<std::timed_mutex> IncidentLog::lock_files() {
  return std::unique_lock(files_, kFilePatience);
}

void IncidentLog::write(const Incident& incident) {
  if (!has_begun_) return;
  const auto lock = lock_files();
  if (!lock) return;
  for (const auto part : {&IncidentLog::write_record, &IncidentLog::write_stream}) {
    try {
      (this->*part)(incident);
    } catch (const Error& error) {
      spdlog::debug("what happened could not be noted: {}", describe(error));
    }
  }
}

void IncidentLog::write_record(const Incident& incident) const {
  const std::string path = record_file(options_.documents);
  if (path.empty()) return;
  Run run = run_from_json_text(read_file(path), path);
  if (run.started != started_ || run.complete || run.incident) return;
  run.incident = incident;
  for (const OutputDocument& each : options_.documents) {
    if (RecordFiles::rewrites(each)) write_file_by_rename(each.path, analysis::report(run, each.format));
  }
}

void IncidentLog::write_stream(const Incident& incident) const {
  const std::string& path = options_.stream_path;
  if (path.empty()) return;
  const std::string text = read_file(path);
  if (!is_stream_of(text, started_, path)) return;
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file.get() < 0) throw file_error(path, "written", errno);
  write_all(file.get(), incident_line(incident), path);
  sync_file(file.get(), path);
}

std::vector<RankPause> gather_pauses(launch::Ranks& ranks, const std::vector<RankPause>& seen) {
  constexpr std::string_view kWhere = "a rank's pause";
  std::vector<std::string> lines;
  for (const RankPause& pause : seen) lines.push_back(json_line(pause_to_json(pause)));
  std::vector<RankPause> pauses;
  for (const std::string& of_rank : ranks.gather(launch::packed(lines))) {
    for (const std::string& line : launch::unpacked(of_rank)) {
      const nlohmann::json document = parse_json_line(line, kWhere);
      pauses.push_back(pause_from_json(JsonReader(document, kWhere)));
    }
  }
  return pauses;
}

Incident incident_of(IncidentKind kind, std::string sentence, ExitStatus status,
                     const std::vector<RankActivity>& blamed, const RankActivity& own) {
  const RankActivity& first = blamed.empty() ? own : blamed.front();
  Incident incident{.kind = kind,
                    .sentence = std::move(sentence),
                    .ranks = {},
                    .step = first.step,
                    .pass = first.pass,
                    .call = first.call_of_step(),
                    .time = utc_now(),
                    .exit_status = static_cast<int>(status)};
  for (const RankActivity& rank : blamed) incident.ranks.push_back({rank.rank, rank.host});
  return incident;
}

}  // namespace collbench::program
