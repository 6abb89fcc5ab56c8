#include "topology/doctor/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

using Lines = std::vector<EvidenceLine>;
using SetId = std::size_t;
constexpr SetId kNobody = std::numeric_limits<SetId>::max();

/// More in one log are no page that anybody reads.
constexpr std::size_t kMaxJobsOfFile = 1000;

/// What belongs together, as far as it is known.
class DisjointSets {
 public:
  SetId add() {
    parents_.push_back(parents_.size());
    return parents_.back();
  }
  SetId root(SetId set) {
    while (parents_[set] != set) set = parents_[set] = parents_[parents_[set]];
    return set;
  }
  void join(SetId a, SetId b) { parents_[root(a)] = root(b); }

 private:
  std::vector<SetId> parents_;
};

/// A file's lines among all.
struct LogFile {
  std::string_view name;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// "FILE:LINE".
std::string_view file_of(const EvidenceLine& line) {
  return std::string_view(line.location).substr(0, line.location.rfind(':'));
}
std::string_view number_of(const EvidenceLine& line) {
  return std::string_view(line.location).substr(line.location.rfind(':') + 1);
}

std::vector<LogFile> files_in(const Lines& log) {
  std::vector<LogFile> files;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (files.empty() || files.back().name != file_of(log[i])) files.push_back({file_of(log[i]), i, i});
    files.back().end = i + 1;
  }
  return files;
}

/// Who wrote the lines of a log.
struct Process {
  SetId set = 0;
  std::size_t first = 0;  ///< of its lines
  std::size_t last = 0;
  double max_ranks = 0;       ///< of its communicators; 0: it names none
  bool after_others = false;  ///< it began when others had made a communicator
};

class JobFinder {
 public:
  explicit JobFinder(const Lines& log) : log_(log), owners_(log.size(), kNobody) {}

  /// Notes of each line in the file which process wrote it, and joins processes of one job.
  void add(const LogFile& file) {
    bool informs = false;
    const std::vector<Process> processes = processes_in(file, informs);
    const bool named = std::ranges::any_of(processes, [](const Process& each) { return each.max_ranks > 0; });
    // A rank that warns before it has a communicator is of the job beside it, unless that had long begun.
    const SetId others = sets_.add();
    std::vector<bool> is_free(others + 1);
    for (const Process& each : processes) {
      if (each.max_ranks > 0) continue;
      if (named ? each.after_others : informs) {
        sets_.join(each.set, others);
      } else {
        is_free[each.set] = true;
      }
    }
    for (std::size_t i = file.begin; i < file.end; ++i)
      if (owners_[i] != kNobody && is_free[owners_[i]]) owners_[i] = kNobody;
    join_lone_ranks(processes);
  }

  [[nodiscard]] bool has_communicators() const { return !communicators_.empty(); }

  /// The job of each line; kNobody where no process of a job wrote it.
  std::vector<SetId> take() {
    for (SetId& owner : owners_)
      if (owner != kNobody) owner = sets_.root(owner);
    return std::move(owners_);
  }

 private:
  std::vector<Process> processes_in(const LogFile& file, bool& informs) {
    std::vector<Process> all;
    std::map<std::string_view, std::size_t> newest;  // by "HOST:PID"
    bool complete = false;
    for (std::size_t i = file.begin; i < file.end; ++i) {
      const std::string_view text = log_[i].text;
      const LogLine parts = log_line(text);
      const std::string_view name = parts.process();
      if (name.empty()) continue;
      informs = informs || parts.level == LogLevel::info;
      const auto [known, is_new] = newest.try_emplace(name, all.size());
      const bool begins = begins_process(text);
      // A container that began again has the same pid.
      if (is_new || (begins && all[known->second].max_ranks > 0)) {
        known->second = all.size();
        all.push_back({sets_.add(), i, i, 0, false});
      }
      Process& process = all[known->second];
      process.after_others = process.after_others || (begins && complete);
      process.last = i;
      owners_[i] = process.set;
      const std::string_view communicator = communicator_of(text);
      if (communicator.empty()) continue;
      const double ranks = number_behind(text, " nranks ").value_or(1);
      process.max_ranks = std::max(process.max_ranks, ranks);
      const auto [hash, first_seen] = communicators_.try_emplace(communicator, 0);
      if (first_seen) hash->second = sets_.add();
      sets_.join(process.set, hash->second);
      complete = complete || (ranks > 1 && has_text(text, "Init COMPLETE"));
    }
    return all;
  }

  /// Ranks that measure alone at the same time are one launch (log-separate-runs says what is wrong with it).
  void join_lone_ranks(const std::vector<Process>& processes) {
    const Process* longest = nullptr;
    for (const Process& each : processes) {  // by their first lines
      if (each.max_ranks != 1) continue;
      if (longest != nullptr && each.first < longest->last) sets_.join(each.set, longest->set);
      if (longest == nullptr || each.last > longest->last) longest = &each;
    }
  }

  const Lines& log_;
  std::vector<SetId> owners_;
  DisjointSets sets_;
  std::map<std::string_view, SetId> communicators_;
};

/// The lines of a file that are of one job, or may be.
struct Section {
  SetId job = kNobody;
  std::size_t first = 0;  ///< of its processes' lines
  std::size_t last = 0;
  std::size_t begin = 0;  ///< what others wrote from here on
  std::size_t end = 0;
};

/// In the order in which they begin.
std::vector<Section> sections_of(const LogFile& file, const Lines& log, const std::vector<SetId>& owners) {
  std::vector<Section> sections;
  std::map<SetId, std::size_t> index;
  std::size_t begin = file.begin;  // of what may belong to the next job
  for (std::size_t i = file.begin; i < file.end; ++i) {
    if (owners[i] == kNobody) {
      // A program of nccl-tests says what it will do before NCCL says a word.
      if (begin == file.end && has_text(log[i].text, "# nThread")) begin = i;
      continue;
    }
    const auto [known, is_new] = index.try_emplace(owners[i], sections.size());
    if (is_new) sections.push_back({owners[i], i, i, std::min(begin, i), file.end});
    sections[known->second].last = i;
    begin = file.end;
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto next =
        std::find_if(sections.begin() + static_cast<std::ptrdiff_t>(i), sections.end(),
                     [last = sections[i].last](const Section& section) { return section.first > last; });
    if (next != sections.end()) sections[i].end = std::max(next->begin, sections[i].last + 1);
  }
  return sections;
}

struct JobLines {
  std::vector<std::size_t> lines;  ///< among all
  std::vector<std::string> names;  ///< a file's, or a part's of it
};

void add_section(JobLines& job, const LogFile& file, const Section& section, const Lines& log,
                 const std::vector<SetId>& owners) {
  const std::size_t before = job.lines.size();
  for (std::size_t i = section.begin; i < section.end; ++i)
    if (owners[i] == section.job || owners[i] == kNobody) job.lines.push_back(i);
  const bool all = job.lines.size() - before == file.end - file.begin;
  job.names.push_back(all ? std::string(file.name)
                          : fmt::format("{}:{}-{}", file.name, number_of(log[section.begin]),
                                        number_of(log[section.end - 1])));
}

std::string name_of(const JobLines& job) {
  const std::size_t more = job.names.size() - 1;
  return more == 0 ? job.names.front()
                   : fmt::format("{} and {} more file{}", job.names.front(), more, more == 1 ? "" : "s");
}

/// Whether a process of NCCL names itself in a log that no job is known of.
bool has_process(const LogFile& file, const Lines& log) {
  return std::any_of(log.begin() + static_cast<std::ptrdiff_t>(file.begin),
                     log.begin() + static_cast<std::ptrdiff_t>(file.end),
                     [](const EvidenceLine& line) { return !log_line(line.text).process().empty(); });
}

std::vector<JobLines> lines_by_job(const Lines& log) {
  const std::vector<LogFile> files = files_in(log);
  JobFinder finder(log);
  for (const LogFile& file : files) finder.add(file);
  if (!finder.has_communicators()) return {};
  const std::vector<SetId> owners = finder.take();

  std::vector<JobLines> jobs;
  std::map<SetId, std::size_t> index;
  std::vector<const LogFile*> of_nobody;
  for (const LogFile& file : files) {
    const std::vector<Section> sections = sections_of(file, log, owners);
    if (sections.empty()) of_nobody.push_back(&file);
    if (sections.size() > kMaxJobsOfFile)
      throw usage_error(std::string(file.name), fmt::format("holds the lines of {} jobs", sections.size()),
                        "give each job a file of its own: collbench doctor JOB1.log JOB2.log");
    for (const Section& section : sections) {
      const auto [known, is_new] = index.try_emplace(section.job, jobs.size());
      if (is_new) jobs.emplace_back();
      add_section(jobs[known->second], file, section, log, owners);
    }
  }
  // What the launcher of the only job wrote is of that job.
  const std::size_t named = jobs.size();
  for (const LogFile* file : of_nobody) {
    const bool is_of_first = named == 1 && !has_process(*file, log);
    if (!is_of_first && jobs.size() == named) jobs.emplace_back();
    add_section(is_of_first ? jobs.front() : jobs.back(), *file, {kNobody, 0, 0, file->begin, file->end}, log,
                owners);
  }
  return jobs;
}

}  // namespace

std::vector<JobEvidence> jobs_in(const Evidence& evidence) {
  const Lines& log = evidence.of("nccl-log");
  const std::vector<JobLines> jobs = lines_by_job(log);
  if (jobs.size() < 2) return {};
  Evidence machine = evidence;
  machine.lines.erase("nccl-log");
  machine.whole.erase("nccl-log");
  std::vector<JobEvidence> apart;
  for (const JobLines& job : jobs) {
    JobEvidence& each = apart.emplace_back(JobEvidence{name_of(job), machine});
    Lines& lines = each.evidence.lines["nccl-log"];
    for (const std::size_t i : job.lines) lines.push_back(log[i]);
    if (any_line_has(lines, "Init COMPLETE")) each.evidence.whole.emplace("nccl-log");
  }
  return apart;
}

}  // namespace collbench::topology
