#include "topology/graph/cpu_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/text_input.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

constexpr int kMaxCpus = 65536;  // Linux' own limit is 8192 (CONFIG_NR_CPUS); a larger number is damage
constexpr int kMaskWordBits = 32;
constexpr std::size_t kMaskWordDigits = 8;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

/// What libhwloc's allocating functions return; −1 and a null pointer mean that memory is out.
void require_memory(bool allocated) {
  if (!allocated) throw std::bad_alloc();
}

Bitmap empty_bitmap() {
  Bitmap bitmap(hwloc_bitmap_alloc());
  require_memory(bitmap != nullptr);
  return bitmap;
}

Bitmap bitmap_of(const std::vector<int>& cpus) {
  Bitmap bitmap = empty_bitmap();
  for (const int cpu : cpus) require_memory(hwloc_bitmap_set(bitmap.get(), static_cast<unsigned>(cpu)) == 0);
  return bitmap;
}

std::vector<int> numbers_in(const Bitmap& bitmap) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(bitmap.get()); cpu != -1; cpu = hwloc_bitmap_next(bitmap.get(), cpu))
    cpus.push_back(cpu);
  return cpus;
}

std::optional<int> cpu_number(std::string_view text) {
  const auto number = parse_integer(text, 0, kMaxCpus - 1);
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

/// The hexadecimal digits of a mask's word; none when something else is in it.
std::optional<std::string> mask_digits(const std::string& word) {
  const std::string digits = word.starts_with("0x") ? word.substr(2) : word;
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  return hexadecimal ? std::optional(digits) : std::nullopt;
}

}  // namespace

// hwloc_bitmap_list_sscanf also takes "5-" (without end), "010" (octal) and "5x6", all of which are damage
// here.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  const Bitmap bitmap = empty_bitmap();
  for (const std::string& range : split_cells(text, ',')) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = cpu_number(std::string_view(range).substr(0, dash));
    const auto last = dash == range.size() ? first : cpu_number(std::string_view(range).substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    require_memory(hwloc_bitmap_set_range(bitmap.get(), static_cast<unsigned>(*first), *last) == 0);
  }
  return numbers_in(bitmap);
}

std::optional<std::vector<int>> parse_cpu_mask(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split_cells(text, ',')) {
    auto digits = mask_digits(word);
    if (!digits) return std::nullopt;
    words.push_back(digits->empty() ? "0" : std::move(*digits));
  }
  const bool one_word = words.size() == 1;
  const auto fits = [&](const std::string& digits) {
    return digits.size() <= (one_word ? kMaxCpus / 4 : kMaskWordDigits);
  };
  if (words.size() > kMaxCpus / kMaskWordBits || !std::ranges::all_of(words, fits)) return std::nullopt;
  // hwloc calls one long word the format of taskset.
  const Bitmap bitmap = empty_bitmap();
  const std::string mask = fmt::format("{}", fmt::join(words, ","));
  const auto parse = one_word ? hwloc_bitmap_taskset_sscanf : hwloc_bitmap_sscanf;
  if (parse(bitmap.get(), mask.c_str()) != 0) return std::nullopt;
  return numbers_in(bitmap);
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  char* text = nullptr;
  require_memory(hwloc_bitmap_list_asprintf(&text, bitmap_of(cpus).get()) >= 0);
  const std::unique_ptr<char, decltype(&std::free)> owned(text, std::free);
  return owned.get();
}

std::string format_cpu_mask(const std::vector<int>& cpus) {
  const Bitmap bitmap = bitmap_of(cpus);
  constexpr int kWordsPerLong = static_cast<int>(sizeof(unsigned long)) * 8 / kMaskWordBits;
  std::vector<std::string> words;
  for (int word = std::max(hwloc_bitmap_last(bitmap.get()), 0) / kMaskWordBits; word >= 0; --word) {
    const unsigned long bits =
        hwloc_bitmap_to_ith_ulong(bitmap.get(), static_cast<unsigned>(word / kWordsPerLong));
    const int shift = word % kWordsPerLong * kMaskWordBits;
    words.push_back(fmt::format("{:08x}", static_cast<std::uint32_t>(bits >> static_cast<unsigned>(shift))));
  }
  return fmt::format("{}", fmt::join(words, ","));
}

std::vector<int> local_cpus(const Host& host, const Device& device) {
  const auto index = static_cast<std::size_t>(device.index);
  if (device.kind == DeviceKind::gpu && host.gpus.at(index).cpu_affinity.known())
    return parse_cpu_list(*host.gpus.at(index).cpu_affinity.value).value_or(std::vector<int>());
  const std::optional<int> wanted = numa_node_of(host, device);
  for (const NumaNode& node : host.numa_nodes)
    if (wanted == node.index) return parse_cpu_list(node.cpus.value_or("")).value_or(std::vector<int>());
  return {};
}

}  // namespace collbench::topology
