#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/benchmark_logs.hpp"
#include "analysis/import/import_log.hpp"
#include "base/json_reader.hpp"
#include "base/record/log_facts.hpp"

// Outputs of benchmarks whose tests have names of their own and are no collective operation: nvbandwidth's
// and those of programs written with Google Benchmark. Each test becomes a row of OperationId::test, which is
// reported and compared, and neither expected nor judged.

namespace collbench::analysis {

/// One value of one test.
struct TestValue {
  int line = 0;
  std::string test;    ///< "host_to_device_memcpy_ce: CPU 0 -> GPU 1"
  double seconds = 0;  ///< of one operation; of `kRateBytes` where only a rate is stated
  bool states_rate = false;
  std::optional<double> moved_bytes{};  ///< by one operation; none: not said
  std::uint64_t iterations = 0;
  int launch = 0;           ///< which of the file's invocations of the program, from 0
  std::string unavailable;  ///< not empty: there is no value, and why
  std::string note;
};

/// A rank as a log names it.
struct TestRank {
  std::string host;
  int line = 0;
};

/// All that an output says.
struct TestLog {
  std::string_view format;  ///< "nvbandwidth text"
  std::string program;
  std::string version;  ///< of the program or its library; empty: not said
  int version_line = 0;
  std::string cuda;             ///< with the driver; empty: not said
  std::string started;          ///< UTC, ISO 8601; empty: not said
  std::vector<TestRank> ranks;  ///< empty: one process, of an unknown host
  std::vector<TestValue> values;
  bool complete = true;  ///< false: the output ends before the program did
  LogFacts facts;        ///< GPU, notes and what was left out

  /// Counts something that does not become a row.
  void skip_line(const std::string& what, int line);
};

/// nvbandwidth's text, versions 0.1 to 0.8 as its sources print it (github.com/NVIDIA/nvbandwidth, output.cpp
/// and inline_common.h): each cell of a matrix is a test. Never throws for a log's content.
[[nodiscard]] bool recognizes_nvbandwidth(std::string_view start);
[[nodiscard]] TestLog read_nvbandwidth_text(const NextLine& next);

/// The name of a cell of the matrix of `test` under a description such as "memcpy CE GPU(row) <- GPU(column)
/// bandwidth (GB/s)": "device_to_device_memcpy_read_ce: GPU 0 <- GPU 1", with `part` ("total") behind it.
[[nodiscard]] std::string nvbandwidth_test_name(const std::string& test, std::string_view description,
                                                const std::string& row, std::size_t column,
                                                const std::string& part);

/// A cell as a value: GB/s, or nanoseconds where the description says "(ns)". False for one that has none:
/// N/A, and (with the reason counted in `log`) what is no finite positive number.
[[nodiscard]] bool add_nvbandwidth_cell(TestLog& log, std::string name, std::string_view description,
                                        const std::string& cell, int line, int launch);

/// What an nvbandwidth test that did not run says of itself, as a value without a time.
void add_unavailable_test(TestLog& log, const std::string& test, const std::string& why, int line,
                          int launch);

/// "12040" to "12.4".
[[nodiscard]] std::string cuda_version(std::string_view code);

/// A JSON document of one of these programs inside `text`, which may begin and end with lines of launchers
/// and warnings; empty where there is none.
[[nodiscard]] std::string_view tests_json_in(std::string_view text);

/// What nvbandwidth wrote with -j (0.5 to 0.8), or a program of Google Benchmark with
/// --benchmark_format=json: a text in which tests_json_in finds one. Throws Error (usage) that names the
/// place for one that is cut or damaged, or has no list of tests.
[[nodiscard]] TestLog read_tests_json(std::string_view text, std::string_view file);

/// The two of them. `line_of_entry`: the line of the nth object of the document's list of tests.
using EntryLines = std::function<int(std::size_t)>;
[[nodiscard]] TestLog read_nvbandwidth_json(const JsonReader& json, const EntryLines& line_of_entry);
[[nodiscard]] TestLog read_google_benchmark(const JsonReader& json, const EntryLines& line_of_entry);

/// "2024-05-01T14:00:00+02:00" as "2024-05-01T12:00:00Z"; empty for a time without its distance from UTC.
[[nodiscard]] std::string utc_of_local_time(std::string_view time);

/// The run of an output: the values of one test are its passes, or its launches where the file holds several
/// invocations; options.run chooses one of those. Throws Error (usage) where there is no value, and for
/// options that tests have no use for.
[[nodiscard]] Run run_of_tests(TestLog log, const ImportOptions& options, std::string_view file);

}  // namespace collbench::analysis
