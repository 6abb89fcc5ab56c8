#include "src/cli/host_list.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

constexpr std::size_t kMaxHosts = 100'000;
constexpr std::size_t kMaxHostLetters = 253;  // of a name in DNS (RFC 1035, section 2.3.4)
constexpr std::ptrdiff_t kMaxBrackets = 4;    // of one name: expand() goes as deep

Error bad_hosts(std::string_view option, const std::string& what, const std::string& next) {
  return usage_error(std::string(option), what, next);
}

/// At the commas that stand in no bracket.
std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> parts(1);
  bool in_bracket = false;
  for (const char letter : text) {
    if (letter == '[' || letter == ']') in_bracket = letter == '[';
    if (letter == ',' && !in_bracket) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// "08", "09", "10" of "08-10"; empty where it says nothing.
std::vector<std::string> numbers_of(std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const auto low = parse_integer(first, 0, kMaxHosts);
  const auto high =
      dash == std::string_view::npos ? low : parse_integer(range.substr(dash + 1), 0, kMaxHosts);
  std::vector<std::string> numbers;
  if (!low || !high || first.size() > kMaxHostLetters) return numbers;
  for (std::int64_t each = *low; each <= *high; ++each)
    numbers.push_back(fmt::format("{:0{}}", each, first.size()));
  return numbers;
}

void add_host(const std::string& name, std::string_view option, std::vector<std::string>& hosts) {
  if (name.size() > kMaxHostLetters)
    throw bad_hosts(option, fmt::format("'{}' is longer than {} letters", excerpt(name), kMaxHostLetters),
                    "no host has such a name");
  if (hosts.size() == kMaxHosts)
    throw bad_hosts(option, fmt::format("more than {} hosts", kMaxHosts), "name fewer");
  hosts.push_back(name);
}

/// A name of few brackets as the hosts that it stands for.
void expand(const std::string& name, std::string_view option, std::vector<std::string>& hosts) {
  const std::size_t open = name.find('[');
  const std::size_t close = name.find(']');
  if (open == std::string::npos && close == std::string::npos) {
    add_host(name, option, hosts);
    return;
  }
  const auto damaged = [&] {
    return bad_hosts(option, fmt::format("the brackets of '{}' say nothing", excerpt(name)),
                     "write them as Slurm does: node[01-30,35]");
  };
  if (open == std::string::npos || close == std::string::npos || close < open) throw damaged();
  for (const std::string& range : split_outside_brackets(name.substr(open + 1, close - open - 1))) {
    const std::vector<std::string> numbers = numbers_of(range);
    if (numbers.empty()) throw damaged();
    for (const std::string& number : numbers)
      expand(name.substr(0, open) + number + name.substr(close + 1), option, hosts);
  }
}

void require_few_brackets(const std::string& name, std::string_view option) {
  if (std::ranges::count(name, '[') <= kMaxBrackets) return;
  throw bad_hosts(option, fmt::format("'{}' has more than {} brackets", excerpt(name), kMaxBrackets),
                  "write them as Slurm does: rack[1-8]node[01-30,35]");
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

void require_names(const std::vector<std::string>& hosts, std::string_view option) {
  std::set<std::string> known;
  for (const std::string& host : hosts) {
    if (is_address(host)) {
      throw bad_hosts(
          option, fmt::format("{} is an address", host),
          "give the names that the hosts call themselves (hostname): ranks are told apart by them");
    }
    if (!is_host_name(host))
      throw bad_hosts(option, fmt::format("'{}' is no name of a host", excerpt(host)),
                      "give the names that the hosts call themselves (hostname)");
    const std::string name = host.substr(0, host.find('.'));
    if (!known.insert(name).second)
      throw bad_hosts(option,
                      fmt::format("{} is there twice (names count up to the first dot)", excerpt(name)),
                      "name each once");
  }
}

/// The first word of each line.
std::vector<std::string> names_in_file(const std::string& path) {
  std::vector<std::string> names;
  std::istringstream lines(read_file(path, kMaxInputBytes));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = split_words(line.substr(0, line.find('#')));
    if (!words.empty()) names.push_back(words.front());
  }
  return names;
}

}  // namespace

std::vector<std::string> parse_hosts(const std::string& text, std::string_view option) {
  std::error_code failure;
  if (!text.starts_with('@') && std::filesystem::is_regular_file(text, failure))
    throw bad_hosts(option, fmt::format("'{}' is a file", excerpt(text)), fmt::format("write @{}", text));
  std::vector<std::string> hosts;
  for (const std::string& each :
       text.starts_with('@') ? names_in_file(text.substr(1)) : split_outside_brackets(text)) {
    for (const std::string& name : split_outside_brackets(each)) {
      const std::string word(trim(name));
      if (word.empty()) continue;
      require_few_brackets(word, option);
      expand(word, option, hosts);
    }
  }
  require_names(hosts, option);
  return hosts;
}

}  // namespace collbench::program
