#include "tests/collectives/mpi/open_mpi/message_log.hpp"

#include <fmt/format.h>

#include <utility>

namespace {
/// A global, because the library calls a plain function.
collbench::collectives::Messages log_of_this_process;
}  // namespace

/// Open MPI's component pml/monitoring reports every message that it sends, whichever algorithm sends it, to
/// a function of this name (ompi/mca/common/monitoring/common_monitoring.h). The dynamic linker prefers the
/// definition of the program, so the reports come here. (Its performance variables would be the official way;
/// Open MPI 4.1.4 withdraws them during MPI_Init.) Collectives use tags below 0;
/// a message that a persistent request starts is always reported with tag 1 (pml_monitoring_start.c).
extern "C" void mca_common_monitoring_record_pml(int world_rank, std::size_t bytes, int tag) {
  log_of_this_process.push_back({world_rank, bytes, tag == 1});
}

namespace collbench::collectives {

std::string describe(const Messages& messages) {
  std::string text;
  for (const auto& [to, bytes, persistent] : messages) {
    text += fmt::format("{}→{} {} B{}", text.empty() ? "" : ", ", to, bytes, persistent ? " persistent" : "");
  }
  return text.empty() ? "nothing" : text;
}

Messages messages_of(const std::function<void()>& call) {
  log_of_this_process.clear();
  call();
  return std::exchange(log_of_this_process, {});
}

}  // namespace collbench::collectives
