#include "src/cli/nccl_tests_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {
namespace {

/// An option of nccl-tests (src/common.cu).
struct TestsOption {
  std::string_view names;  ///< "-n,--iters"; ours has the same letter
  const char* value;       ///< without it
  bool passed = false;     ///< to ours as it is, where it is not that value
  const char* instead{};   ///< why it is not done; null: it is, or changes nothing

  [[nodiscard]] char letter() const { return names.at(1); }
};

constexpr std::array<TestsOption, 31> kTestsOptions{{
    {"-t,--nthreads", "1"},
    {"-g,--ngpus", "1"},
    {"-b,--minbytes", "32M"},
    {"-e,--maxbytes", "32M"},
    {"-i,--stepbytes", "1M"},
    {"-f,--stepfactor", "1"},
    {"-n,--iters", "20", true},
    {"-m,--agg_iters", "1", true},
    {"-w,--warmup_iters", "1", true},
    {"-N,--run_cycles", "1", true},
    {"-c,--check", "1", true},
    {"-o,--op", "sum", true},
    {"-d,--datatype", "float", true},
    {"-r,--root", "0"},
    {"-z,--blocking", "0", true},
    {"-T,--timeout", "0", true},
    {"-G,--cudagraph", "0", true},
    {"-a,--average", "1", true},
    {"-R,--local_register", "0", true},
    {"-x,--cta_policy", "", true},
    {"-u,--unalign", "0", true},
    {"-J,--output_file", ""},
    {"-p,--parallel_init", "0", false, "ranks make their communicators at the same time anyway"},
    {"-y,--stream_null", "0", false, "a stream of its own is used"},
    {"-C,--report_cputime", "0", false, "--enqueue-time measures the host's time of a call, into --record"},
    {"-S,--report_timestamps", "0", false, "--record has start and end"},
    {"-M,--memory", "0", true},
    {"-I,--per_iter_timing", "0", false, "--record has the distribution of calls, --samples each of them"},
    {"-K,--per_iter_skip", "0"},
    {"-D,--device_implementation", "0"},
    {"-V,--device_cta_count", "16"},
}};

/// By letter.
using TestsValues = std::map<char, std::string>;

const Operation* operation_of(const std::string& program) {
  constexpr std::string_view kEnding = "_perf";
  std::string name = std::filesystem::path(program).filename().string();
  if (!name.ends_with(kEnding)) return nullptr;
  name.resize(name.size() - kEnding.size());
  const auto found = std::ranges::find(operations(), name, &Operation::nccl_tests_name);
  return name.empty() || found == operations().end() ? nullptr : &*found;
}

bool is_asked_for(const TestsValues& values, char letter) {
  const std::string& value = values.at(letter);
  return !value.empty() && value != "0";
}

/// The sizes that nccl-tests runs: from the least on as long as they are not above the largest, which need
/// not be one of them.
std::vector<std::string> size_words(const TestsValues& values) {
  const std::uint64_t first = parse_size(values.at('b'), "-b");
  const std::uint64_t most = parse_size(values.at('e'), "-e");
  if (first > most)
    throw usage_error("-b", fmt::format("{} is above -e {}", values.at('b'), values.at('e')),
                      "give a -b that is at most -e");
  constexpr std::uint64_t kMaxFactor = 1'000'000;
  const auto factor = parse_number<std::uint64_t>(values.at('f'), "-f", 0, kMaxFactor);
  std::uint64_t last = first;
  if (factor > 1 && first > 0) {
    while (last <= most / factor) last *= factor;
    if (last > first)
      return {"-b", std::to_string(first), "-e", std::to_string(last), "-f", std::to_string(factor)};
  } else {
    const std::uint64_t step = parse_size(values.at('i'), "-i");
    last = step == 0 ? first : first + (most - first) / step * step;
    if (last > first)
      return {"-b", std::to_string(first), "-e", std::to_string(last), "-i", std::to_string(step)};
  }
  return {"--sizes", std::to_string(first)};
}

/// Those of each process.
std::vector<std::string> process_words(const TestsValues& values, bool on_gpus) {
  constexpr int kMaxGpus = 1024;
  const int threads = parse_number(values.at('t'), "-t", 1, kMaxGpus);
  const int gpus = threads * parse_number(values.at('g'), "-g", 1, kMaxGpus);
  if (gpus == 1) return {};
  if (!on_gpus) return {"-g", std::to_string(gpus)};
  return {"--gpus-per-process", std::to_string(gpus), "--threads", std::to_string(threads)};
}

std::vector<std::string> notes_of(const TestsValues& values) {
  std::vector<std::string> notes;
  for (const TestsOption& each : kTestsOptions)
    if (each.instead != nullptr && is_asked_for(values, each.letter()))
      notes.push_back(fmt::format("-{} is not done: {}", each.letter(), each.instead));
  return notes;
}

/// Values by letter; what is no option of nccl-tests in `others`.
TestsValues parsed(const std::string& program, const std::vector<std::string>& words,
                   std::vector<std::string>& others) {
  TestsValues values;
  CLI::App app;
  app.set_help_flag("-h,--help");
  app.allow_extras();
  for (const TestsOption& each : kTestsOptions) {
    std::string& value = values[each.letter()] = each.value;
    app.add_option(std::string(each.names), value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    others = {"help", "run"};
    return {};
  } catch (const CLI::ParseError& error) {
    throw usage_error(program, error.what(),
                      "its options are those of nccl-tests, and collbench help run has more");
  }
  others = app.remaining();
  return values;
}

/// What nccl-tests takes from the environment and nothing here does: the figures would be of something else
/// (src/common.cu, src/alltoallv.cu).
void refuse_other_measurements(const Operation& asked, const EnvironmentValue& variable) {
  for (const char* name : {"NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK"})
    if (!variable(name).empty())
      throw usage_error(name,
                        "it asks for groups of ranks side by side, and one group of all is measured here",
                        "unset it; collbench burnin measures groups of hosts at the same time");
  if (asked.id != OperationId::all_to_all_v) return;
  for (const char* name : {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "NCCL_TESTS_ALLTOALLV_SPREAD"})
    if (!variable(name).empty())
      throw usage_error(name, "what each rank sends is not taken from there",
                        "unset it and give the matrix by --counts FILE, in elements instead of bytes");
}

/// `pairs` of option and value, but for those that `others` give.
void add_unless_given(const std::vector<std::pair<std::string, std::string>>& pairs,
                      const std::vector<std::string>& others, std::vector<std::string>& words) {
  for (const auto& each : pairs) {
    const bool given = std::ranges::any_of(others, [&each](const std::string& other) {
      return other == each.first || other.starts_with(each.first + "=");
    });
    if (!given) words.insert(words.end(), {each.first, each.second});
  }
}

}  // namespace

std::optional<NcclTestsLine> nccl_tests_line(const std::string& program,
                                             const std::vector<std::string>& words,
                                             const std::function<bool()>& has_gpus,
                                             const EnvironmentValue& variable) {
  const Operation* const operation = operation_of(program);
  if (operation == nullptr) return std::nullopt;
  refuse_other_measurements(*operation, variable);
  std::vector<std::string> others;
  const TestsValues values = parsed(std::filesystem::path(program).filename().string(), words, others);
  if (values.empty()) return NcclTestsLine{.words = others, .notes = {}};
  if (is_asked_for(values, 'D'))
    throw usage_error("-D", "it asks for kernels of nccl-tests' own, which are not here",
                      "leave -D and -V out");

  NcclTestsLine line{.words = {"--ops", std::string(operation->option)}, .notes = notes_of(values)};
  const auto add = [&line](const std::vector<std::string>& more) {
    line.words.insert(line.words.end(), more.begin(), more.end());
  };
  const auto backend =
      std::ranges::find_if(others, [](const std::string& other) { return other.starts_with("--backend"); });
  const auto names = [&](const std::string& name) {
    return backend != others.end() &&
           (backend->ends_with("=" + name) || (backend + 1 != others.end() && backend[1] == name));
  };
  const bool is_named = backend != others.end() && !names("auto");
  line.sees_no_gpu = !is_named && !has_gpus();
  add(process_words(values, is_named ? names("nccl") : !line.sees_no_gpu));
  add(size_words(values));
  for (const TestsOption& each : kTestsOptions) {
    const std::string& value = values.at(each.letter());
    const bool differs_here = std::string_view("nwNca").find(each.letter()) != std::string_view::npos;
    if (each.passed && (differs_here || value != each.value)) add({fmt::format("-{}", each.letter()), value});
  }
  if (operation->has_root) add({"-r", values.at('r').starts_with('-') ? "all" : values.at('r')});
  if (!values.at('J').empty()) add({"--nccl-tests-json", values.at('J')});
  if (!variable("NCCL_TESTS_DEVICE").empty())
    line.notes.emplace_back("NCCL_TESTS_DEVICE is not done: CUDA_VISIBLE_DEVICES chooses the GPUs");
  if (const std::string min_busbw = variable("NCCL_TESTS_MIN_BW"); !min_busbw.empty()) {
    constexpr double kOfIt = 0.9;  // src/util.cu: what is less fails
    constexpr double kMaxRate = 1e6;
    const double rate = parse_number(min_busbw, "NCCL_TESTS_MIN_BW", 0.0, kMaxRate, "GB/s");
    if (rate > 0) {
      add({"--min-busbw", fmt::format("{}@mean>={}", operation->option, kOfIt * rate)});
      line.notes.push_back(
          fmt::format("NCCL_TESTS_MIN_BW: the average has to reach {} of it, {} GB/s", kOfIt, kOfIt * rate));
    }
  }
  add_unless_given({{"--format", "nccl-tests"},
                    {"--place", "both"},
                    {"--time", "86400"},
                    {"--calibration", "none"},
                    {"--fail-on", "none"}},
                   others, line.words);
  for (const char* flag : {"--no-nodes-alone", "--fit"})
    if (std::ranges::find(others, flag) == others.end()) add({flag});
  add(others);
  return line;
}

}  // namespace collbench::program
