#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/import/log_readers.hpp"
#include "base/record/operation.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// The word behind the first `name` among `words`, as an integer in [0, most].
std::optional<std::int64_t> integer_after(const std::vector<std::string>& words, std::string_view name,
                                          std::int64_t most) {
  const auto found = std::ranges::find(words, name);
  if (found == words.end() || std::next(found) == words.end()) return std::nullopt;
  return parse_integer(*std::next(found), 0, most);
}

/// The digits at the end of a word to which a prefix may be stuck: "0:", "<stdout>:8589934592".
std::string trailing_digits(const std::string& word) {
  const std::size_t other = word.find_last_not_of("0123456789");
  if (other == std::string::npos) return word;
  const bool prefixed = std::string_view(":>]|").find(word[other]) != std::string_view::npos;
  return prefixed ? word.substr(other + 1) : "";
}

bool is_type(const std::string& word) {
  return find_data_type(word) != nullptr || word.starts_with("f8e") || word.starts_with("fp8");
}

bool is_masked(const std::string& word) {
  return word.find_first_not_of("Xx*#.-?") == std::string::npos &&
         word.find_first_of("Xx*?") != std::string::npos;
}

/// Reductions that nccl-tests prints: those we know, "mulsum", and "none".
bool is_reduction(const std::string& word) {
  return find_reduction(word) != nullptr || word == "none" || word == "mulsum";
}

/// How many of the words behind the type are not yet numbers of a measurement.
std::size_t words_before_measures(const RowStart& start, const NcclTestsColumns& columns) {
  std::size_t words = 0;
  if (words < start.rest.size() && is_reduction(start.rest[words])) ++words;
  if (columns.root && words < start.rest.size() && parse_integer(start.rest[words], -1, 1 << 24U)) ++words;
  return words;
}

std::optional<PrintedNumber> printed(const std::string& word) {
  const auto number = leading_log_number(word);
  if (!number || number->length != word.size() || number->value < 0) return std::nullopt;
  return PrintedNumber{number->value, 0.5 * std::pow(10.0, -number->decimals)};
}

/// A rate that is masked says nothing, and takes nothing from the time beside it.
PrintedNumber rate_of(const std::string& word) {
  return printed(word).value_or(PrintedNumber{0, std::numeric_limits<double>::infinity()});
}

/// Whether algbw agrees with size over time, as far as both are printed: a row that lost a column does not.
bool agrees(const LogHalf& half, PrintedNumber microseconds, std::uint64_t size_bytes) {
  const double bytes = static_cast<double>(size_bytes) / kGigabyte / kMicrosecond;
  const double least = bytes / (microseconds.value + microseconds.half_unit);
  const double most = microseconds.value > microseconds.half_unit
                          ? bytes / (microseconds.value - microseconds.half_unit)
                          : std::numeric_limits<double>::infinity();
  constexpr double kSlack = 0.01;  // the rate is made from more digits of the time than are printed
  const PrintedNumber rate = half.algorithm_bandwidth;
  return rate.value + rate.half_unit >= least * (1 - kSlack) &&
         rate.value - rate.half_unit <= most * (1 + kSlack);
}

/// Where the columns of -I begin in a half.
constexpr std::size_t kCallColumns = 4;

struct HalfOrReason {
  LogHalf half;
  std::string reason;
};

/// `part_bytes`: of count elements.
HalfOrReason read_half(const RowStart& start, std::size_t first, const NcclTestsColumns& columns,
                       std::uint64_t size_bytes, std::uint64_t part_bytes) {
  const auto word = [&](std::size_t column) -> const std::string& { return start.rest[first + column]; };
  if (is_masked(word(0))) return {{}, "rows whose times are masked"};
  auto time = printed(word(0));
  if (!time) return {{}, std::string(kRowsWithoutTime)};
  time->value *= columns.time_unit_microseconds;
  time->half_unit *= columns.time_unit_microseconds;
  LogHalf half;
  half.seconds = time->value * kMicrosecond;
  if (!is_duration(half.seconds)) return {{}, std::string(kRowsWithoutTime)};
  half.algorithm_bandwidth = rate_of(word(1));
  half.bus_bandwidth = rate_of(word(2));
  if (columns.per_half > 3) {
    const auto wrong = printed(word(3));
    half.checked = wrong.has_value();
    if (wrong && !columns.wrong_is_error && wrong->value < 1e18) {
      half.wrong_elements = static_cast<std::uint64_t>(wrong->value);
    }
  }
  if (columns.per_call) {
    constexpr double kPercent = 100;
    const auto fastest = printed(word(kCallColumns));
    const auto p99 = printed(word(kCallColumns + 2));
    const auto variation = printed(word(kCallColumns + 3));
    if (fastest && p99 && variation && fastest->value <= p99->value &&
        is_duration(fastest->value * kMicrosecond) && is_duration(p99->value * kMicrosecond))
      half.calls = {.minimum = fastest->value * kMicrosecond,
                    .p99 = p99->value * kMicrosecond,
                    .variation = variation->value / kPercent};
  }
  // AllGather and ReduceScatter before June 2020 (nccl-tests ec1b5e2), and HyperCube: what comes from others
  // alone, over the time, is algbw and busbw.
  if (part_bytes < size_bytes && word(1) == word(2) && agrees(half, *time, size_bytes - part_bytes)) {
    half.algorithm_bandwidth.value = static_cast<double>(size_bytes) / kGigabyte / half.seconds;
    half.algorithm_bandwidth.half_unit = half.algorithm_bandwidth.value * time->half_unit / time->value;
  }
  if (!agrees(half, *time, size_bytes)) return {{}, "rows whose algbw is not size / time"};
  return {half, ""};
}

/// A row by its type and numbers, whose size or count is none: negative, or of more digits than bytes have.
bool is_damaged_row(const std::vector<std::string>& words) {
  constexpr std::size_t kType = 2;
  constexpr std::ptrdiff_t kMinNumbers = 4;  // of a half
  return words.size() > kType && is_type(words[kType]) &&
         std::count_if(words.begin() + kType, words.end(),
                       [](const std::string& word) { return printed(word).has_value(); }) >= kMinNumbers;
}

/// Without "[0]", which launchers put before each piece that a rank writes (MPICH and Intel MPI: mpiexec -l):
/// "[0]  1024  256  float  sum  -1[0]  12.50  0.08". A row itself has no bracket.
std::string without_rank_tags(std::string_view line) {
  std::string text(line);
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
    const std::size_t close = text.find_first_not_of("0123456789", open + 1);
    if (close == std::string::npos || close == open + 1 || text[close] != ']') continue;
    std::fill(std::next(text.begin(), static_cast<std::ptrdiff_t>(open)),
              std::next(text.begin(), static_cast<std::ptrdiff_t>(close) + 1), ' ');
  }
  return text;
}

RowStart row_from(std::vector<std::string> words, std::size_t type, std::string size, int number) {
  RowStart start{number, std::move(size), std::move(words[type - 1]), std::move(words[type]), {}};
  words.erase(words.begin(), std::next(words.begin(), static_cast<std::ptrdiff_t>(type) + 1));
  start.rest = std::move(words);
  return start;
}

}  // namespace

std::optional<NcclTestsColumns> nccl_tests_columns(std::string_view line) {
  const bool first_tables = line.find("bytes") != std::string_view::npos;
  if (!first_tables && line.find("count") == std::string_view::npos) return std::nullopt;
  auto words = split_words(line);
  if (first_tables) {
    constexpr std::array<std::array<std::string_view, 2>, 4> kLaterNames{
        {{"bytes", "size"}, {"N", "count"}, {"op", "redop"}, {"res", "error"}}};
    for (std::string& word : words)
      for (const auto& [first, later] : kLaterNames)
        if (word == first) word = later;
  }
  const auto size = std::ranges::find_if(words, [](const std::string& word) {
    return word == "size" || word == "#size" || word.ends_with(":size");
  });
  if (std::distance(size, words.end()) < 6 || *(size + 1) != "count" || *(size + 2) != "type") {
    return std::nullopt;
  }
  const auto is_time = [](const std::string& word) { return word == "time" || word == "cputime"; };
  const auto time = std::find_if(size + 3, words.end(), is_time);
  if (time == words.end()) return std::nullopt;
  NcclTestsColumns columns;
  columns.reduction = std::find(size + 3, time, "redop") != time;
  columns.root = std::find(size + 3, time, "root") != time;
  columns.cpu_time = *time == "cputime";
  if (first_tables) columns.time_unit_microseconds = 1000;
  columns.per_half =
      static_cast<std::size_t>(std::distance(time, std::find_if(time + 1, words.end(), is_time)));
  columns.per_call = columns.per_half == kCallColumns + 4 && *(time + kCallColumns) == "i_min";
  columns.wrong_is_error = std::find(time, words.end(), "error") != words.end();
  if (columns.per_half < 3) return std::nullopt;
  return columns;
}

std::optional<LogDevice> nccl_tests_device(std::string_view line, int number) {
  if (line.find("device") == std::string_view::npos) return std::nullopt;
  const auto words = split_words(line);
  const auto rank = integer_after(words, "Rank", RankRange::kMaxRanks);
  // The first lists had none.
  const bool has_pid = std::ranges::find(words, "Pid") != words.end();
  const auto pid = has_pid ? integer_after(words, "Pid", std::int64_t{1} << 30U) : 0;
  const auto on = std::ranges::find(words, "on");
  const bool has_host = on != words.end();  // some pages leave it out
  const auto slot = std::find(has_host ? on : words.begin(), words.end(), "device");
  if (!rank || !pid || (has_host && std::distance(on, slot) < 2) || std::distance(slot, words.end()) < 2)
    return std::nullopt;
  // The name of a host may have blanks in it.
  LogDevice device{static_cast<int>(*rank),
                   static_cast<int>(*pid),
                   has_host ? fmt::format("{}", fmt::join(on + 1, slot, " ")) : "",
                   "",
                   number,
                   "",
                   static_cast<int>(integer_after(words, "Group", RankRange::kMaxRanks).value_or(0))};
  // Virtual machines have 0x00 for all of them, which tells none apart.
  if (std::distance(slot, words.end()) > 2 &&
      (slot + 2)->find_first_of("123456789abcdef") != std::string::npos) {
    device.slot = *(slot + 1) + " " + *(slot + 2);
  }
  if (const std::size_t close = line.rfind(']'); close != std::string_view::npos) {
    device.gpu = line.substr(close + 1);
    // What a table of a web page leaves at the end of a line that was copied from it.
    device.gpu.erase(device.gpu.find_last_not_of(" \t|") + 1);
    device.gpu.erase(0, device.gpu.find_first_not_of(" \t"));
  }
  return device;
}

std::optional<NcclTestsParameters> nccl_tests_parameters(std::string_view line) {
  if (line.find("nThread") == std::string_view::npos) return std::nullopt;
  const auto words = split_words(line);
  const auto threads = integer_after(words, "nThread", RankRange::kMaxRanks);
  const auto gpus = integer_after(words, "nGpus", RankRange::kMaxRanks);
  if (!threads || !gpus || *threads == 0 || *gpus == 0) return std::nullopt;
  NcclTestsParameters parameters{static_cast<int>(*threads), static_cast<int>(*gpus), 0};
  for (auto word = words.begin(); word + 1 < words.end(); ++word) {
    // "warmup iters: 5 iters: 20 agg iters: 1"
    if (*word != "iters:" || word == words.begin() || *(word - 1) == "warmup") continue;
    const bool of_each = *(word - 1) == "agg";
    const auto count = parse_integer(*(word + 1), of_each ? 1 : 0, std::int64_t{1} << 40U);
    (of_each ? parameters.calls_per_iteration : parameters.iterations) =
        static_cast<std::uint64_t>(count.value_or(of_each ? 1 : 0));
  }
  return parameters;
}

std::string nccl_tests_program(std::string_view line) {
  if (line.find("_perf") == std::string_view::npos) return "";
  for (const std::string& word : split_words(line)) {
    constexpr std::string_view kPerf = "_perf";
    const std::size_t end = word.rfind(kPerf);
    if (end == std::string::npos) continue;
    // Its makefile names them with a suffix where it is asked to: "all_reduce_perf_mpi" (NAME_SUFFIX=_mpi).
    const std::string_view suffix = std::string_view(word).substr(end + kPerf.size());
    if (!suffix.empty() && (!suffix.starts_with('_') || suffix.find('.') != std::string_view::npos)) continue;
    const std::size_t start = word.find_last_of("/:'\"`", end) + 1;
    const std::string program = word.substr(start);
    const std::string_view name = std::string_view(word).substr(start, end - start);
    const auto is_it = [&](const Operation& operation) { return operation.nccl_tests_name == name; };
    const auto all = operations();
    if (std::ranges::find_if(all, is_it) != all.end()) return program;
  }
  return "";
}

std::optional<BufferRegistration> nccl_tests_registration(std::span<const std::string> words) {
  std::optional<BufferRegistration> found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const bool has_next = at + 1 < words.size();
    std::string_view value;
    if (word == "-R" || word == "--local_register") {
      value = has_next ? std::string_view(words[at + 1]) : "";
    } else if (word.starts_with("--local_register=")) {
      value = word.substr(word.find('=') + 1);
    } else if (word.starts_with("-R")) {
      value = word.substr(2);
    }
    if (const auto how = parse_integer(value, 0, 2)) found = static_cast<BufferRegistration>(*how);
  }
  return found;
}

std::optional<RowStart> row_start(std::string_view line, int number) {
  std::string text = without_rank_tags(line);
  std::ranges::replace(text, '|', ' ');
  std::vector<std::string> words = split_words(text);
  for (std::size_t type = 2; type < words.size(); ++type) {
    if (!is_type(words[type])) continue;
    std::string size = trailing_digits(words[type - 2]);
    if (size.empty() || !parse_integer(words[type - 1], 0, std::numeric_limits<std::int64_t>::max()))
      continue;
    return row_from(std::move(words), type, std::move(size), number);
  }
  if (is_damaged_row(words)) {
    std::string size = words[0];
    return row_from(std::move(words), 2, std::move(size), number);
  }
  return std::nullopt;
}

std::vector<std::string> row_continuation(std::string_view line) {
  std::vector<std::string> words = split_words(without_rank_tags(line));
  for (const std::string& word : words) {
    if (word != "N/A" && !printed(word) && !is_masked(word)) return {};
  }
  return words;
}

std::size_t row_measures(const RowStart& start, const NcclTestsColumns& columns) {
  return start.rest.size() - words_before_measures(start, columns);
}

RowOrReason read_row(const RowStart& start, const NcclTestsColumns& columns) {
  constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();
  const auto size = parse_integer(start.size, 0, kMaxCount);
  const auto count = parse_integer(start.count, 0, kMaxCount);
  if (!size || !count) return {std::nullopt, "rows whose size or count cannot be read"};
  if (*size == 0) return {std::nullopt, std::string(kRowsOfNoBytes)};
  const DataTypeTraits* type = find_data_type(start.type);
  if (type == nullptr) return {std::nullopt, "rows of type " + excerpt(start.type)};
  LogRow row{.line = start.line,
             .size_bytes = static_cast<std::uint64_t>(*size),
             .count = static_cast<std::uint64_t>(*count),
             .type = type->id};
  std::size_t next = 0;
  if (!start.rest.empty() && is_reduction(start.rest[0])) {
    const Reduction* reduction = find_reduction(start.rest[next]);
    if (reduction != nullptr) row.reduction = *reduction;
    if (start.rest[next] == "mulsum") return {std::nullopt, "rows of reduction mulsum"};
    ++next;
  }
  const std::size_t first = words_before_measures(start, columns);
  if (first > next) row.root = static_cast<int>(*parse_integer(start.rest[next], -1, 1 << 24U));
  const std::size_t measures = start.rest.size() - first;
  // With -S a date and a time stand behind the numbers.
  if (measures != columns.per_half && measures < 2 * columns.per_half) {
    return {std::nullopt, "rows with more or fewer columns than their heading"};
  }
  const std::uint64_t part_bytes = row.count <= row.size_bytes ? row.count * type->bytes : row.size_bytes;
  const HalfOrReason out = read_half(start, first, columns, row.size_bytes, part_bytes);
  if (!out.reason.empty()) return {std::nullopt, out.reason};
  row.out_of_place = out.half;
  // An operation without a form in place, as collbench writes it.
  const bool has_in_place = measures >= 2 * columns.per_half && start.rest[first + columns.per_half] != "N/A";
  if (has_in_place) {
    const HalfOrReason in = read_half(start, first + columns.per_half, columns, row.size_bytes, part_bytes);
    if (!in.reason.empty()) return {std::nullopt, in.reason};
    row.in_place = in.half;
  }
  return {row, ""};
}

}  // namespace collbench::analysis
