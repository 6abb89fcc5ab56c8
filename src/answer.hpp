#pragma once
#include <string>

#include "base/error.hpp"

namespace collbench {

/// What a command that needs no ranks says on stdout, and its exit status.
struct Answer {
  std::string text;
  ExitStatus status = ExitStatus::ok;
};

}  // namespace collbench
