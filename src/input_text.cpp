#include "src/input_text.hpp"

#include <iostream>
#include <iterator>

#include "base/atomic_file.hpp"

namespace collbench {

std::string input_text(const std::string& place) {
  if (place != "-") return read_file(place);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string input_name(const std::string& place) { return place == "-" ? "stdin" : place; }

}  // namespace collbench
