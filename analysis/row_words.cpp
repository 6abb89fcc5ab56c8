#include "analysis/row_words.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace collbench {

std::string row_in_words(const RowKey& key) {
  std::string text = fmt::format("{} {} {}", operation(key.operation).name, format_bytes(key.size_bytes),
                                 traits(key.type).name);
  if (key.reduction) text += fmt::format(" {}", name(*key.reduction));
  if (operation(key.operation).has_in_place) text += key.in_place ? ", in place" : ", out of place";
  return text + (key.algorithm == kLibraryChoice ? "" : ", " + key.algorithm);
}

std::string span_in_words(const std::string& from, const std::string& to) {
  return from == to ? from : fmt::format("{} to {}", from, to);
}

}  // namespace collbench
