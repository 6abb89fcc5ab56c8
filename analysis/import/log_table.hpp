#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/number_range.hpp"
#include "base/record/data_type.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/measurement.hpp"
#include "base/record/states.hpp"

namespace collbench::analysis {

/// A number as printed, with half of its last digit: what it may really have been.
struct PrintedNumber {
  double value = 0;
  double half_unit = 0;
};

/// Whether something can have taken that long.
[[nodiscard]] constexpr bool is_duration(double seconds) { return seconds > 0 && kSeconds.contains(seconds); }

/// What nccl-tests' -I (2.19.2 and newer) says of the single calls: all in -J, three figures in the table.
struct LogCalls {
  std::vector<double> seconds{};    ///< of each, without those that -K skips
  std::vector<RankTimes> ranks{};   ///< of each process, by its first rank, where they say who waited
  std::optional<double> minimum{};  ///< seconds
  std::optional<double> p99{};      ///< seconds
  double variation = 0;             ///< standard deviation / mean
};

/// What one row says of one placement of the buffers.
struct LogHalf {
  double seconds = 0;
  PrintedNumber algorithm_bandwidth;  ///< GB/s; 0 ± infinity where it is masked
  PrintedNumber bus_bandwidth;
  bool checked = false;                         ///< the data was checked: the column holds a number
  std::optional<std::uint64_t> wrong_elements;  ///< none in old logs, which print a relative error
  LogCalls calls{};
};

struct LogRow {
  int line = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  DataType type = DataType::float32;
  std::optional<Reduction> reduction{};
  std::optional<int> root{};  ///< −1 in logs of operations without one
  LogHalf out_of_place{};
  std::optional<LogHalf> in_place{};
};

/// A line of the device list: "#  Rank  0 Group  0 Pid  64904 on  mew0 device  0 [0000:17:00] NVIDIA A100".
struct LogDevice {
  int rank = 0;
  int pid = 0;
  std::string host;
  std::string gpu;
  int line = 0;
  std::string slot;  ///< "0 [0x1b]": its number on its host, and its PCIe address; empty where that is none
  int group = 0;     ///< its communicator, of several that NCCL_TESTS_SPLIT makes
};

/// What NCCL says on one host, where others may say otherwise.
struct LogHost {
  LogFacts facts;                                       ///< nics, link_layer and connections
  std::map<std::string, LogFact<double>> nic_megabits;  ///< per second, by the NIC's name
};

/// One table of a benchmark with everything that the log says around it.
struct LogTable {
  int first_line = 0;  ///< of its header, or of its first row
  std::vector<LogRow> rows;
  std::vector<LogDevice> devices;
  bool devices_per_process = false;   ///< the list may hold only the first device of each process (JSON)
  bool reduction_column = true;       ///< the heading has "redop" and "root"; old ones only where they mean
  bool root_column = true;            ///< something
  bool interleaved = false;           ///< several processes wrote their own tables into one another
  bool ended = false;                 ///< the footer is there
  MaybeLogFact<std::string> failure;  ///< the first line that says that the program died
  int invocations = 1;                ///< of the program, as a script starts it once per size
  bool cpu_time = false;              ///< times are of the calls alone (nccl-tests -C)
  std::uint64_t iterations = 0;       ///< per row; 0: not said
  std::uint64_t calls_per_iteration = 1;
  std::uint64_t skipped_iterations = 0;                   ///< of the figures of -I (-K)
  bool calls_have_starts = false;                         ///< -z 3
  RankAggregate time_reduction = RankAggregate::average;  ///< nccl-tests' own default
  std::optional<BufferRegistration> registration;         ///< none: not said
  std::string started;
  std::string finished;
  LogFacts facts;
  std::map<std::string, LogHost> hosts;  ///< by the names in NCCL's own lines
  std::map<std::string, std::string> environment;

  /// Counts something that does not become a row. After the first 20 kinds, which no real log has, the rest
  /// is one.
  void skip_line(const std::string& what, int line) { skip_line(facts, what, line); }
  static void skip_line(LogFacts& facts, const std::string& what, int line) {
    constexpr std::size_t kMaxKinds = 20;
    for (LogSkipped& each : facts.left_out) {
      if (each.what == what) {
        ++each.count;
        return;
      }
    }
    constexpr const char* kOther = "lines left out for other reasons";
    if (facts.left_out.size() < kMaxKinds || what == kOther) {
      facts.left_out.push_back({what, 1, line});
    } else {
      skip_line(facts, kOther, line);
    }
  }
};

}  // namespace collbench::analysis
