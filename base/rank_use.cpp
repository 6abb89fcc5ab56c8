#include "base/rank_use.hpp"

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench {
namespace {

constexpr std::string_view kBefore = "collbench rank use: ";

}  // namespace

std::string rank_use_line(const std::vector<RankUse>& uses) {
  nlohmann::json list = nlohmann::json::array();
  for (const RankUse& use : uses)
    list.push_back({use.ran_seconds, use.waited_seconds, use.tcp_sent_bytes, use.tcp_resent_bytes});
  return std::string(kBefore) + list.dump();
}

std::vector<RankUse> rank_uses_in(std::string_view said) {
  const std::size_t at = said.rfind(kBefore);
  if (at == std::string_view::npos) return {};
  said.remove_prefix(at + kBefore.size());
  try {
    const nlohmann::json document = parse_json(said.substr(0, said.find('\n')), "the use of ranks");
    std::vector<RankUse> uses;
    for (const JsonReader& use : JsonReader(document, "the use of ranks").items()) {
      const std::vector<JsonReader> cells = use.items();
      if (cells.size() != 4) return {};
      uses.push_back({cells[0].number(kQuantity), cells[1].number(kQuantity),
                      cells[2].integer<std::uint64_t>(), cells[3].integer<std::uint64_t>()});
    }
    return uses;
  } catch (const Error&) {
    return {};  // what others printed between its letters
  }
}

}  // namespace collbench
