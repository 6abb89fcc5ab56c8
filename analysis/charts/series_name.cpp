#include "analysis/charts/series_name.hpp"

#include <fmt/format.h>

namespace collbench::analysis {

std::string variant_name(const RowKey& key) {
  std::string text(traits(key.type).name);
  if (key.reduction) text += fmt::format(" {}", name(*key.reduction));
  if (operation(key.operation).has_in_place) text += key.in_place ? ", in place" : ", out of place";
  if (key.algorithm != kLibraryChoice) text += ", " + key.algorithm;
  return key.root ? text + fmt::format(", root {}", *key.root) : text;
}

std::string series_name(const RowKey& key) {
  return fmt::format("{} {}", operation(key.operation).name, variant_name(key));
}

}  // namespace collbench::analysis
