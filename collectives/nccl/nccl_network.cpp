#include "collectives/nccl/nccl_network.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/environment.hpp"
#include "base/statistics.hpp"
#include "base/text_input.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/plugin_slot.hpp"

namespace collbench::collectives {
namespace {

constexpr std::string_view kNetworkMark =
    "Using network ";  // src/init.cc or src/net.cc, src/plugin/net.cc: 2.18 to 2.30

constexpr std::string_view kTimingsMark = "Init timings - ";  // src/init.cc, 2.22 to 2.30

/// The rest of the last line of `log` that has `mark`, from there on; empty where none has.
std::string_view from_last(std::string_view mark, std::string_view log) {
  const std::size_t at = log.rfind(mark);
  if (at == std::string_view::npos) return {};
  log.remove_prefix(at);
  return log.substr(0, log.find('\n'));
}

constexpr int kFirstThatForgets = 22800;
constexpr int kFirstThatRemembers = 23000;

// Older ones print their version on stdout as soon as there is a log (v2.22.3-1, src/init.cc, showVersion).
constexpr int kFirstWithQuietLog = 22304;

}  // namespace

void keep_network_plugin(int version) {
  constexpr const char* kCount = "NCCL_NET_PLUGIN_REF_COUNT";
  if (version < kFirstThatForgets || version >= kFirstThatRemembers) return;
  if (nccl_setting("NCCL_NET_PLUGIN") && !nccl_setting(kCount)) change_variable(kCount, "1");
}

std::optional<std::string> network_in(std::string_view log) {
  const std::string_view line = from_last(kNetworkMark, log);
  if (line.empty()) return std::nullopt;
  return std::string(line.substr(kNetworkMark.size()));
}

std::vector<std::pair<std::string, double>> init_timings_in(std::string_view log) {
  const std::string_view line = from_last(kTimingsMark, log);
  const std::size_t open = std::min(line.find('('), line.size());
  const std::size_t length = std::min(line.find(')'), line.size()) - open;
  if (length < 2) return {};
  std::vector<std::pair<std::string, double>> steps;
  for (const std::string& step : split_cells(line.substr(open + 1, length - 1), ',')) {
    const std::string_view words = step;
    const std::size_t blank = std::min(words.find(' '), words.size());
    const auto seconds = leading_number(trim(words.substr(blank)));
    if (!seconds) return {};
    steps.emplace_back(words.substr(0, blank), *seconds);
  }
  return steps;
}

std::vector<NcclInitStep> slowest_steps(
    const std::vector<std::vector<std::pair<std::string, double>>>& of_ranks) {
  std::vector<NcclInitStep> steps;
  for (std::size_t step = 0; !of_ranks.empty() && step < of_ranks.front().size(); ++step) {
    std::vector<double> seconds;
    for (const auto& rank : of_ranks) {
      if (rank.size() <= step || rank[step].first != of_ranks.front()[step].first) return {};
      seconds.push_back(rank[step].second);
    }
    const auto slowest = std::ranges::max_element(seconds);
    steps.push_back({of_ranks.front()[step].first, *slowest, static_cast<int>(slowest - seconds.begin()), 0});
    steps.back().median_seconds = median(std::move(seconds));
  }
  return steps;
}

std::vector<std::string> nccl_warnings_in(std::string_view log) {
  constexpr std::string_view kMark = "NCCL WARN ";  // src/debug.cc
  std::vector<std::string> warnings;
  for (std::size_t at = log.find(kMark); at != std::string_view::npos; at = log.find(kMark, at)) {
    at += kMark.size();
    std::string warning(log.substr(at, log.find('\n', at) - at));
    std::erase(warnings, warning);
    warnings.push_back(std::move(warning));
  }
  if (warnings.size() > kMaxNcclWarnings) warnings.erase(warnings.begin(), warnings.end() - kMaxNcclWarnings);
  return warnings;
}

NcclNetworkLog::NcclNetworkLog(int version) : memory_(::memfd_create("collbench: NCCL's log", MFD_CLOEXEC)) {
  if (version < kFirstWithQuietLog) {
    unknown_reason_ = fmt::format("NCCL {} would print on stdout; 2.23 is the first that does not",
                                  nccl_version_text(version));
    return;
  }
  const std::string path = fmt::format("/proc/self/fd/{}", memory_.get());
  const std::array<std::pair<const char*, std::string>, 3> settings{
      {{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT"}, {"NCCL_DEBUG_FILE", path}}};
  for (const auto& [name, value] : settings) {
    if (!nccl_setting(name)) continue;
    unknown_reason_ = fmt::format("{} is set; with INFO, NCCL's own log has it: Using network", name);
    return;
  }
  // Where NCCL could not open its file it would log on stdout.
  const FileDescriptor opened(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (opened.get() < 0) {
    unknown_reason_ = "this system has no memory for a log: /proc is missing, or memfd_create";
    return;
  }
  for (const auto& [name, value] : settings) change_variable(name, value);
}

std::string NcclNetworkLog::unseen() const {
  struct stat is{};
  if (!unknown_reason_.empty() || ::fstat(memory_.get(), &is) != 0 || is.st_size <= seen_) return {};
  std::string text(static_cast<std::size_t>(is.st_size - seen_), '\0');
  const ssize_t bytes = ::pread(memory_.get(), text.data(), text.size(), seen_);
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return text;
}

std::vector<std::string> NcclNetworkLog::warnings() const { return nccl_warnings_in(unseen()); }

std::string NcclNetworkLog::newest() {
  const std::string text = unseen();
  if (text.empty()) return {};
  seen_ += static_cast<off_t>(text.size());
  // NCCL writes on where it was: what is before that needs no memory.
  static_cast<void>(::ftruncate(memory_.get(), 0));
  return fmt::format("{}\n{}\n", from_last(kNetworkMark, text), from_last(kTimingsMark, text));
}

}  // namespace collbench::collectives
