#pragma once
#include <optional>
#include <string>

#include "collectives/nccl/observer/observer_interface.hpp"

namespace collbench::collectives {

/// The observer library, reached through one table of functions. NCCL loads the same file: what it tells
/// there can be asked for here.
struct ObserverLibrary {
  std::string path;
  ObserverLoadedCall* loaded = nullptr;
  ObserverBegin* begin = nullptr;
  ObserverEnd* end = nullptr;

  /// COLLBENCH_OBSERVER, beside the program, or in lib beside the program's folder. None when it is not there
  /// or is another build's: `unsupported_reason` then says so.
  [[nodiscard]] static std::optional<ObserverLibrary> find(std::string& unsupported_reason);
};

}  // namespace collbench::collectives
