#include "src/run/incident.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/output_lock.hpp"
#include "base/record/run_stream.hpp"
#include "launch/flight/flight_folder.hpp"
#include "src/run/outcome.hpp"
#include "src/run/output_files.hpp"
#include "src/run/run_end.hpp"

namespace collbench::program {
namespace {

// The main thread of rank 0 may be inside a file system that does not answer.
constexpr auto kFilePatience = std::chrono::seconds(1);
constexpr auto kCheckOfLock = std::chrono::milliseconds(10);

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

IncidentLog::IncidentLog(RunOptions options, std::filesystem::path flight_folder)
    : options_(std::move(options)), flight_folder_(std::move(flight_folder)) {}

void IncidentLog::begin(std::string started, std::string other_host, bool is_kept) {
  std::error_code ignored;
  started_ = std::move(started);
  other_host_ = std::filesystem::exists(kept_file(options_), ignored) ? "" : std::move(other_host);
  is_kept_ = is_kept;
  has_begun_ = true;
}

std::string IncidentLog::next_step() const {
  const std::string file = kept_file(options_);
  if (is_complete_)
    return fmt::format("the run had ended{}: nothing has to be run again",
                       file.empty() ? "" : fmt::format(", and {} is complete", file));
  if (has_begun_ && !is_kept_)
    return fmt::format("results so far may be lost: {} could not be written", file);
  std::string text = kept_results(options_, has_begun_);
  if (has_begun_ && !file.empty() && !other_host_.empty())
    text += fmt::format("; {} is on {} and does not have this incident", file, other_host_);
  return text;
}

bool IncidentLog::claim(const Incident& incident) {
  const std::lock_guard lock(claimed_mutex_);
  if (claimed_ || !launch::leave_incident(flight_folder_, json_line(record_to_json(incident)))) return false;
  claimed_ = incident;
  return true;
}

std::optional<Incident> IncidentLog::known() const {
  const std::lock_guard lock(claimed_mutex_);
  return claimed_ ? claimed_ : incident_from_line(launch::left_incident(flight_folder_));
}

bool IncidentLog::learn_from_record() {
  const std::string path = record_file(options_.documents);
  if (!has_begun_ || path.empty()) return false;
  try {
    const Run run = run_from_json_text(read_file(path), path);
    if (run.started != started_ || !run.incident || run.incident->kind == IncidentKind::interrupted)
      return false;
    const std::lock_guard lock(claimed_mutex_);
    if (!claimed_) claimed_ = run.incident;
    return true;
  } catch (const Error&) {  // it cannot be read: nothing is learned
    return false;
  }
}

/// Who is stopped while it has the lock of the other ranks does not keep them from writing.
IncidentLog::FileLock IncidentLog::lock_files() {
  const auto until = std::chrono::steady_clock::now() + kFilePatience;
  std::unique_lock thread(files_, kFilePatience);
  const int folder =
      flight_folder_.empty() ? -1 : ::open(flight_folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kCheckOfLock);
  return {std::move(thread), FileDescriptor(folder)};
}

void IncidentLog::write(const Incident& incident) {
  write_parts({&IncidentLog::write_record, &IncidentLog::write_stream}, incident);
}

void IncidentLog::write_for_now(const Incident& incident) {
  write_parts({&IncidentLog::write_record}, incident);
}

void IncidentLog::write_parts(const std::vector<Part>& parts, const Incident& incident) {
  if (!has_begun_ || is_complete_) return;
  const FileLock lock = lock_files();
  if (!lock.thread) return;
  for (const Part part : parts) {
    try {
      (this->*part)(incident);
    } catch (const std::exception& error) {
      spdlog::debug("what happened could not be noted: {}", error.what());
    }
  }
}

void IncidentLog::write_record(const Incident& incident) const {
  const std::string path = record_file(options_.documents);
  if (path.empty()) return;
  // Rank 0 has the lock while it lives. When it is gone, so has the next run, unless that is kept out here.
  std::optional<OutputLock> lock;
  try {
    lock.emplace(path, "-J");
  } catch (const Error&) {
    const bool is_root_lost =
        incident.kind == IncidentKind::rank_lost &&
        std::ranges::any_of(incident.ranks, [](const auto& each) { return each.rank == 0; });
    if (is_root_lost) throw;
  }
  Run run = run_from_json_text(read_file(path), path);
  // An order to end may be what followed from what another rank has to say; what else interrupts follows it.
  const bool stays = run.incident && (run.incident->kind != IncidentKind::interrupted ||
                                      incident.kind == IncidentKind::interrupted);
  if (run.started != started_ || run.complete || stays) return;
  run.incident = incident;
  for (const OutputDocument& each : options_.documents) {
    if (RecordFiles::rewrites(each)) write_file_by_rename(each.path, rewritten(run, each));
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

void IncidentLog::remove_locks() const {
  for (const OutputDocument& each : options_.documents)
    if (!each.path.empty()) OutputLock::remove_own(each.path);
  if (!options_.samples_path.empty()) OutputLock::remove_own(options_.samples_path);
  if (!options_.stream_path.empty()) OutputLock::remove_own(locked_stream(options_));
}

std::vector<RankPause> gather_pauses(launch::Ranks& ranks, const std::vector<RankPause>& seen) {
  constexpr std::string_view kWhere = "a rank's pause";
  std::vector<std::string> lines;
  for (const RankPause& pause : seen) lines.push_back(json_line(record_to_json(pause)));
  std::vector<RankPause> pauses;
  for (const std::string& of_rank : ranks.gather(launch::packed(lines))) {
    for (const std::string& line : launch::unpacked(of_rank)) {
      const nlohmann::json document = parse_json_line(line, kWhere);
      pauses.push_back(record_from_json<RankPause>(JsonReader(document, kWhere)));
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

Incident agreed_incident(const launch::AgreedError& error, const RankActivity& own) {
  return incident_of(IncidentKind::error, fmt::format("{}: {}", error.where(), error.what()), error.status(),
                     {}, own);
}

}  // namespace collbench::program
