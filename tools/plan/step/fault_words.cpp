#include "tools/plan/step/fault_cost.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kFaultForm =
    "write 'nic 3 of node 17 at half', or at quarter, 25 % or 200 Gb/s, or 'nic 3 down'; of node N may be "
    "left out";

template <typename Number>
std::optional<Number> number_from_zero(const std::string& text) {
  const auto value = whole_number<Number>(text);
  return value && *value >= 0 ? value : std::nullopt;  // which no NaN is
}

/// "half", "25%", "200gb/s": behind "at", without spaces. False for anything else.
bool take_rate(std::string text, SlowNic& slow) {
  if (text == "half" || text == "quarter") {
    slow.part = text == "half" ? 0.5 : 0.25;
    return true;
  }
  constexpr std::string_view kGigabits = "gb/s";
  if (text.ends_with(kGigabits)) {
    text.resize(text.size() - kGigabits.size());
    slow.gigabits_per_second = number_from_zero<double>(text);
    return slow.gigabits_per_second && *slow.gigabits_per_second > 0;
  }
  if (!text.ends_with('%')) return false;
  text.pop_back();
  const std::optional<double> percent = number_from_zero<double>(text);
  if (!percent || *percent <= 0 || *percent >= 100) return false;
  slow.part = *percent / 100;
  return true;
}

std::optional<SlowNic> slow_nic_of(const std::vector<std::string>& words) {
  std::size_t at = 0;
  const auto next_is = [&](std::string_view word) {
    const bool is = at < words.size() && words[at] == word;
    at += is ? 1 : 0;
    return is;
  };
  const auto next_number = [&] {
    return at < words.size() ? number_from_zero<int>(words[at++]) : std::nullopt;
  };
  SlowNic slow;
  if (!next_is("nic")) return std::nullopt;
  const std::optional<int> nic = next_number();
  if (!nic) return std::nullopt;
  slow.nic = *nic;
  if (next_is("of")) {
    if (!next_is("node")) return std::nullopt;
    slow.node = next_number();
    if (!slow.node) return std::nullopt;
  }
  slow.down = next_is("down");
  if (slow.down) return at == words.size() ? std::optional(slow) : std::nullopt;
  if (!next_is("at")) return std::nullopt;
  std::string rate;
  for (; at < words.size(); ++at) rate += words[at];
  return take_rate(std::move(rate), slow) ? std::optional(slow) : std::nullopt;
}

}  // namespace

SlowNic parse_slow_nic(const std::string& words, const std::string& where) {
  const std::optional<SlowNic> slow = slow_nic_of(split_words(lower(words)));
  if (slow) return *slow;
  throw usage_error(where, fmt::format("'{}' is no fault that can be said in words", words), kFaultForm);
}

topology::Host with_slow_nic(topology::Host host, const SlowNic& slow, int nodes, const std::string& where) {
  if (slow.node && *slow.node >= nodes) {
    throw usage_error(where, fmt::format("there is no node {}: the job has {}", *slow.node, nodes),
                      "nodes count from 0");
  }
  if (static_cast<std::size_t>(slow.nic) >= host.nics.size()) {
    throw usage_error(where, fmt::format("there is no NIC {}: a node has {}", slow.nic, host.nics.size()),
                      "NICs count from 0, as collbench topo show lists them");
  }
  if (slow.down) return host;
  auto& ports = host.nics[static_cast<std::size_t>(slow.nic)].ports;
  for (auto& port : ports) {
    std::optional<double>& rate = port.gigabits_per_second.value;
    const double slower = slow.part ? rate.value_or(0) * *slow.part : *slow.gigabits_per_second;
    if (!rate || slower >= *rate) {
      throw usage_error(where,
                        rate ? fmt::format("{:g} Gb/s is not slower than its {:g} Gb/s", slower, *rate)
                             : fmt::format("the rate of NIC {} is not known", slow.nic),
                        rate ? "give less" : "give a machine that states it");
    }
    rate = slower;
  }
  if (ports.empty())
    throw usage_error(where, fmt::format("the rate of NIC {} is not known", slow.nic),
                      "give a machine that states it");
  return host;
}

}  // namespace collbench::analysis
