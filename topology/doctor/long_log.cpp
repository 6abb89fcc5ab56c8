#include "topology/doctor/evidence.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"
#include "topology/doctor/nccl_messages.hpp"
#include "topology/doctor/text_index.hpp"

namespace collbench::topology {
namespace {

/// A log of 1,024 ranks has some hundred kinds of lines; more are those of a program that names no two things
/// alike.
constexpr std::size_t kMaxKinds = 8192;
constexpr std::size_t kMaxOfKind = 12;
/// The first rows of tables.
constexpr std::size_t kMaxRows = 10'000;
/// Lines that say which processes are of one job (jobs_in): of 1,024 ranks with ten communicators each some
/// ten thousand.
constexpr std::size_t kMaxOfProcesses = 50'000;
/// NCCL cuts a line at 1,024 bytes.
constexpr std::size_t kMaxLine = 2048;

/// Whether a line may be of NCCL, a plugin, PyTorch or CUDA, is of a table of nccl-tests, tells how a process
/// ended, has a text of nccl_messages.txt, or is an error of another program.
bool may_matter(std::string_view line) {
  static const TextIndex messages(texts_of_all_lines());
  static constexpr std::array<std::string_view, 27> kSigns{
      "NCCL",      "nccl",     "CUDA",      "via NET/",   "rror",      "ailed",  " WARN ",
      "ignal",     "illed",    "ion fault", "egfault",    "xit c",     "xit C",  "xitc",
      "ompletion", "<warn>",   "ERROR",     "atal",       "FATAL",     "ssh: ",  "nable to",
      "not found", "ould not", "xception",  "examples/s", "WARN src/", "] [c10d"};
  return has_one_of(line, kSigns) || !messages.found_in(line).empty() ||
         error_of_a_daemon(line) != std::string_view::npos;
}

class LogCondenser {
 public:
  explicit LogCondenser(std::string file) : file_(std::move(file)) {}

  void add(std::string_view line, int number) {
    line = trim(line);
    if (line.empty()) return;
    // A row between two headings says that they are of two runs, one after the other.
    const bool comment = line.front() == '#';
    const bool quoted = before_.ends_with("Last error:");
    const bool row = after_comment_ && !comment;
    after_comment_ = comment || (after_comment_ && may_matter(line));
    before_ = line.substr(line.size() - std::min<std::size_t>(line.size(), 16));
    if (!comment && !quoted && !may_matter(line) && !row) return;
    // A rank's timings differ from another's in numbers only, and these matter.
    if (row || line.find("Init timings") != std::string_view::npos) {
      if (rows_++ < kMaxRows) kept_.push_back({std::string(line), number, 0});
      return;
    }
    const LogLine parts = log_line(line);
    if (says_who(line, parts) && kept_of_processes_ < kMaxOfProcesses) {
      ++kept_of_processes_;
      kept_.push_back({std::string(line), number, 0});
      return;
    }
    keep(parts.level == LogLevel::none ? line : parts.message, line, number);
  }

  /// In the order of the file.
  std::vector<EvidenceLine> take() {
    std::ranges::sort(kept_, {}, &Kept::number);
    std::vector<EvidenceLine> lines;
    lines.reserve(kept_.size());
    for (Kept& each : kept_) lines.push_back({std::move(each.text), location(file_, each.number), each.more});
    return lines;
  }

 private:
  struct Kept {
    std::string text;
    int number = 0;
    std::size_t more = 0;
  };
  struct Kind {
    std::size_t count = 0;
    std::size_t last = 0;  ///< index of the newest
  };

  /// Whether a process begins, or names a communicator for the first time.
  bool says_who(std::string_view line, const LogLine& parts) {
    const std::string_view communicator = communicator_of(line);
    if (communicator.empty()) return begins_process(line);
    return communicators_.emplace(std::string(parts.process()) + ' ' + std::string(communicator)).second;
  }

  /// The number by which a process ended is what matters.
  static bool is_of_an_end(std::string_view line) {
    return line.find("xit code") != std::string_view::npos ||
           line.find("xitcode") != std::string_view::npos ||
           line.find("xit Code") != std::string_view::npos ||
           line.find("return code") != std::string_view::npos || line.find("ignal") != std::string_view::npos;
  }

  void keep(std::string_view message, std::string_view line, int number) {
    std::string name = is_of_an_end(message) ? std::string(message) : message_kind(message);
    auto kind = kinds_.find(name);
    if (kind == kinds_.end()) {
      // Of what comes later the warnings are still counted, as one kind.
      if (kinds_.size() >= kMaxKinds)
        name = log_line(line).level == LogLevel::warning ? "warnings" : "others";
      kind = kinds_.try_emplace(std::move(name)).first;
    }
    if (kind->second.count++ < kMaxOfKind) {
      kind->second.last = kept_.size();
      kept_.push_back({std::string(line), number, 0});
    } else {
      Kept& newest = kept_[kind->second.last];
      newest.text = line;
      newest.number = number;
      ++newest.more;
    }
  }

  std::string file_;
  std::string before_;
  bool after_comment_ = false;
  std::size_t rows_ = 0;
  std::size_t kept_of_processes_ = 0;
  std::unordered_set<std::string> communicators_;  ///< "PROCESS HASH"
  std::unordered_map<std::string, Kind> kinds_;
  std::vector<Kept> kept_;
};

}  // namespace

std::vector<EvidenceLine> read_long_log(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(path.string(), "cannot be read", "give a file that can be read");
  LogCondenser condenser(path.string());
  std::array<char, kMaxLine> buffer{};
  std::string text;
  std::string clean;
  for (int number = 1; file; ++number) {
    file.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto read = static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()));
    text.assign(buffer.data(), std::min(read, buffer.size()));
    std::erase(text, '\0');  // also the end that getline writes
    const std::string_view line(text);
    if (file.fail() && file.gcount() > 0 && !file.eof()) {  // longer than the buffer
      file.clear();
      if (text.empty()) {  // zeros alone, so far
        --number;
        continue;
      }
      file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    } else if (file.fail()) {
      break;
    }
    condenser.add(clean_line(line, clean), number);
  }
  return condenser.take();
}

}  // namespace collbench::topology
