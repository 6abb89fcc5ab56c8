#include "collectives/nccl/nccl_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include "base/record/nccl_selection.hpp"
#include "base/text_input.hpp"

namespace collbench::collectives {
namespace {

constexpr std::string_view kCtaPolicy = "CTAPolicy";
constexpr int kFirstWithZeroPolicy = 22800;  // NCCL_CTA_POLICY_ZERO, nccl.h of 2.28.3

/// Bounds of src/init.cc (parseCommConfig, v2.30.7-1); the first version of each by the headers of the tags.
constexpr std::array<NcclConfigField, 12> kFields{{
    {"cgaClusterSize", 21800, &NcclConfig::cga_cluster_size, 0, 8},
    {"minCTAs", 21800, &NcclConfig::min_ctas, 1, kMaxCtas},
    {"maxCTAs", 21800, &NcclConfig::max_ctas, 1, kMaxCtas},
    {"trafficClass", 22600, &NcclConfig::traffic_class, 0, 255},
    {"collnetEnable", 22700, &NcclConfig::collnet_enable, 0, 1},
    {kCtaPolicy, 22700, &NcclConfig::cta_policy, 0, 3},
    {"nvlsCTAs", 22700, &NcclConfig::nvls_ctas, 1, kMaxCtas},
    {"nChannelsPerNetPeer", 22800, &NcclConfig::channels_per_net_peer, 1, kMaxCtas},
    {"nvlinkCentricSched", 22800, &NcclConfig::nvlink_centric_scheduling, 0, 1},
    {"graphUsageMode", 22900, &NcclConfig::graph_usage_mode, 0, 2},
    {"maxP2pPeers", 23000, &NcclConfig::max_p2p_peers, 1, INT_MAX},
    {"graphStreamOrdering", 23007, &NcclConfig::graph_stream_ordering, 0, 1},
}};

const NcclConfigField* find_field(std::string_view name) {
  const auto* const found = std::ranges::find(kFields, name, &NcclConfigField::name);
  return found == kFields.end() ? nullptr : found;
}

Error unknown(std::string_view word, const std::string& option) {
  std::vector<std::string_view> names;
  for (const NcclConfigField& field : kFields) names.push_back(field.name);
  return usage_error(option, fmt::format("'{}' is no FIELD=NUMBER of NCCL's configuration", excerpt(word)),
                     fmt::format("give a list of {}", fmt::join(names, ", ")));
}

}  // namespace

std::span<const NcclConfigField> nccl_config_fields() { return kFields; }

NcclConfigValues parse_nccl_settings(std::string_view text, const std::string& option) {
  NcclConfigValues settings;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t equals = std::min(word.find('='), word.size());
    const NcclConfigField* const field = find_field(word.substr(0, equals));
    if (field == nullptr || equals == word.size()) throw unknown(word, option);
    const auto value = parse_integer(word.substr(equals + 1), field->minimum, field->maximum);
    if (!value) {
      throw usage_error(option, fmt::format("'{}' is not accepted by NCCL", excerpt(word)),
                        field->maximum == INT_MAX
                            ? fmt::format("give {} at least {}", field->name, field->minimum)
                            : fmt::format("give {} {} to {}", field->name, field->minimum, field->maximum));
    }
    settings[std::string(field->name)] = static_cast<int>(*value);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  // A maximum that is not given is INT_MIN to NCCL, and below any minimum.
  const auto least = settings.find("minCTAs");
  const auto most = settings.find("maxCTAs");
  if (least != settings.end() && (most == settings.end() || most->second < least->second)) {
    throw usage_error(option, "NCCL accepts minCTAs only together with a maxCTAs that is at least as large",
                      fmt::format("add maxCTAs={}", least->second));
  }
  return settings;
}

int parse_cta_policy(std::string_view text, const std::string& option) {
  constexpr std::array<std::string_view, 6> kNames{"0", "1", "2", "default", "efficiency", "zero"};
  const auto* const found = std::ranges::find(kNames, text);
  if (found == kNames.end()) {
    throw usage_error(option, fmt::format("'{}' is no CTA policy", excerpt(text)),
                      "give 0 or default, 1 or efficiency, or 2 or zero");
  }
  return static_cast<int>(found - kNames.begin()) % 3;
}

void require_settings(const NcclConfigValues& settings, int version) {
  for (const auto& [name, value] : settings) {
    int since = find_field(name)->since;
    if (name == kCtaPolicy && value > 1) since = kFirstWithZeroPolicy;
    if (version >= since) continue;
    throw Error(ExitStatus::not_here, fmt::format("{}={}", name, value),
                fmt::format("NCCL {} has no such setting; {} and newer do", nccl_version_text(version),
                            nccl_version_text(since)),
                "leave it out, or name a newer libnccl in COLLBENCH_NCCL");
  }
}

std::string settings_text(const NcclConfigValues& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

NcclConfig nccl_config(const NcclConfigValues& settings) {
  NcclConfig config;
  for (const auto& [name, value] : settings) config.*(find_field(name)->member) = value;
  return config;
}

}  // namespace collbench::collectives
