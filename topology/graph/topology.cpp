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
  std::string_view nccl;
};

constexpr std::array<TypeNames, 12> kTypeNames{{
    {PathType::loc, "LOC", "X", "LOC"},
    {PathType::nvl, "NVL", "NV", "NVL"},
    {PathType::nvb, "NVB", "", "NVB"},
    {PathType::c2c, "C2C", "C2C", "C2C"},
    {PathType::pix, "PIX", "PIX", "PIX"},
    {PathType::pxb, "PXB", "PXB", "PXB"},
    {PathType::p2c, "P2C", "", "P2C"},
    {PathType::pxn, "PXN", "", "PXN"},
    {PathType::phb, "PHB", "PHB", "PHB"},
    {PathType::node, "NODE", "NODE", "PHB"},
    {PathType::sys, "SYS", "SYS", "SYS"},
    {PathType::net, "NET", "", "NET"},
}};

const TypeNames& names_of(PathType type) {
  return *std::find_if(kTypeNames.begin(), kTypeNames.end(),
                       [type](const TypeNames& w) { return w.type == type; });
}

}  // namespace

std::string_view path_type_name(PathType type) { return names_of(type).name; }

std::optional<PathType> path_type_from_name(std::string_view name) {
  const auto* found = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                                   [name](const TypeNames& w) { return w.name == name; });
  if (found == kTypeNames.end()) return std::nullopt;
  return found->type;
}

std::optional<std::string_view> nvidia_smi_word(PathType type) {
  const std::string_view word = names_of(type).nvidia_smi;
  if (word.empty()) return std::nullopt;
  return word;
}

std::string_view nccl_word(PathType type) { return names_of(type).nccl; }

}  // namespace collbench::topology
