#include "analysis/history/machine_kind.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNamePart = 40;

/// Letters, digits and single dashes: what every file system takes.
std::string file_name_part(std::string_view text) {
  std::string part;
  for (const char letter : text) {
    const bool digit = letter >= '0' && letter <= '9';
    const bool capital = letter >= 'A' && letter <= 'Z';
    const bool small = letter >= 'a' && letter <= 'z';
    if (digit || small || capital) {
      part += capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    } else if (!part.empty() && part.back() != '-') {
      part += '-';
    }
    if (part.size() == kMaxNamePart) break;
  }
  while (part.ends_with('-')) part.pop_back();
  return part;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // isthe.com/chongo/tech/comp/fnv: 64 bits
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

std::string plural_part(std::size_t count, std::string_view noun) {
  return fmt::format("{}{}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> hosts_of(const Run& run) {
  std::set<std::string> hosts;
  for (const Identity& each : run.ranks) hosts.insert(each.host);
  return {hosts.begin(), hosts.end()};
}

std::string machine_kind(const Run& run) {
  std::string kind = fmt::format("{}-{}", name(run.backend), plural_part(run.ranks.size(), "rank"));
  if (!run.log || run.log->nodes)
    kind += "-" + plural_part(static_cast<std::size_t>(node_count(run.ranks)), "node");
  if (const std::string gpu = file_name_part(gpu_model(run)); !gpu.empty()) kind += "-" + gpu;
  kind += "-" + file_name_part(name(run.time_reduction));
  if (is_hot(run)) kind += "-hot";
  return run.simulated || run.gpus_simulated ? kind + "-simulated" : kind;
}

std::string record_file_name(const Run& run, const std::string& text) {
  std::string started;
  for (const char letter : run.started) {
    if ((letter >= '0' && letter <= '9') || letter == 'T' || letter == 'Z') started += letter;
  }
  const std::vector<std::string> hosts = hosts_of(run);
  const std::string host = hosts.empty() ? "" : file_name_part(hosts.front());
  return fmt::format("{}-{}-{:016x}.json", started.empty() ? "00000000T000000Z" : started,
                     host.empty() ? "unknown" : host, fnv1a(text));
}

}  // namespace collbench::analysis
