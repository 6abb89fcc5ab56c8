#include "topology/graph/topology.hpp"

#include <algorithm>
#include <array>

namespace collbench::topology {
namespace {

/// The one place where the vocabularies meet. An empty word: the program has none.
struct TypeNames {
  PathType type;
  std::string_view name;
  std::string_view nvidia_smi;
};

constexpr std::array<TypeNames, 12> kTypeNames{{
    {PathType::loc, "LOC", "X"},
    {PathType::nvl, "NVL", "NV"},
    {PathType::nvb, "NVB", ""},
    {PathType::c2c, "C2C", "C2C"},
    {PathType::pix, "PIX", "PIX"},
    {PathType::pxb, "PXB", "PXB"},
    {PathType::p2c, "P2C", ""},
    {PathType::pxn, "PXN", ""},
    {PathType::phb, "PHB", "PHB"},
    {PathType::node, "NODE", "NODE"},
    {PathType::sys, "SYS", "SYS"},
    {PathType::net, "NET", ""},
}};

const TypeNames& names_of(PathType type) { return *std::ranges::find(kTypeNames, type, &TypeNames::type); }

}  // namespace

std::string_view path_type_name(PathType type) { return names_of(type).name; }

std::optional<PathType> path_type_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kTypeNames, name, &TypeNames::name);
  if (found == kTypeNames.end()) return std::nullopt;
  return found->type;
}

std::optional<std::string_view> nvidia_smi_word(PathType type) {
  const std::string_view word = names_of(type).nvidia_smi;
  if (word.empty()) return std::nullopt;
  return word;
}

}  // namespace collbench::topology
