#include "collectives/nccl/loader/observer_library.hpp"

#include <cstdlib>

#include "base/shared_library.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {

std::optional<ObserverLibrary> ObserverLibrary::find(std::string& unsupported_reason) {
  const auto places =
      own_library_candidates("libcollbench_observer.so", own_program(), std::getenv("COLLBENCH_OBSERVER"));
  const auto library = first_library(places, unsupported_reason);
  if (!library) return std::nullopt;
  ObserverInterface* interface = nullptr;
  ObserverLibrary observer{.path = library->path()};
  library->find(interface, "collbench_observer_interface");
  library->find(observer.loaded, "collbench_observer_loaded");
  library->find(observer.begin, "collbench_observer_begin");
  library->find(observer.end, "collbench_observer_end");
  if (interface == nullptr || interface() != kObserverInterface || observer.loaded == nullptr ||
      observer.begin == nullptr || observer.end == nullptr) {
    unsupported_reason = observer.path + " belongs to another version of collbench";
    return std::nullopt;
  }
  return observer;
}

}  // namespace collbench::collectives
