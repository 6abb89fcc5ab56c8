#include "topology/graph/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text_input.hpp"

namespace collbench::topology {
namespace {

constexpr int kMaxCpus = 65536;  // Linux' own limit is 8192 (CONFIG_NR_CPUS); a larger number is damage

std::optional<int> cpu_number(std::string_view text) {
  const auto number = parse_integer(text, 0, kMaxCpus - 1);
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& range : split_cells(text, ',')) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = cpu_number(std::string_view(range).substr(0, dash));
    const auto last = dash == range.size() ? first : cpu_number(std::string_view(range).substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_mask(std::string_view text) {
  std::vector<std::string> words = split_cells(text, ',');
  std::vector<int> cpus;
  std::reverse(words.begin(), words.end());
  int base = 0;
  for (const std::string& word : words) {
    std::string digits = word.substr(0, 2) == "0x" ? word.substr(2) : word;
    if (words.size() > 1 && digits.size() > 8) return std::nullopt;
    std::reverse(digits.begin(), digits.end());
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto bits = parse_hex(std::string_view(digits).substr(i, 1));
      if (!bits) return std::nullopt;
      for (int bit = 0; bit < 4; ++bit) {
        const int cpu = base + 4 * static_cast<int>(i) + bit;
        if ((*bits >> static_cast<unsigned>(bit) & 1U) != 0U) cpus.push_back(cpu);
      }
    }
    base += 32;
    if (base > kMaxCpus || digits.size() > kMaxCpus / 4) return std::nullopt;
  }
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

std::string format_cpu_mask(const std::vector<int>& cpus) {
  const int highest = cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end());
  std::vector<std::uint32_t> words(static_cast<std::size_t>(highest / 32) + 1, 0);
  for (const int cpu : cpus)
    words[static_cast<std::size_t>(cpu / 32)] |= 1U << static_cast<unsigned>(cpu % 32);
  std::reverse(words.begin(), words.end());  // the highest CPUs come first
  std::string text;
  for (const std::uint32_t word : words) text += fmt::format("{}{:08x}", text.empty() ? "" : ",", word);
  return text;
}

}  // namespace collbench::topology
