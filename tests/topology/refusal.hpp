#pragma once
#include <string>

#include "base/error.hpp"

namespace collbench::topology {

/// The message that the user gets when `read` refuses its input; "(accepted)" when it does not.
template <class Read>
std::string refusal(Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    return describe(error);
  }
  return "(accepted)";
}

}  // namespace collbench::topology
