#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace collbench::collectives {

/// One message of a collective.
struct Message {
  int to = 0;               ///< rank in MPI_COMM_WORLD
  std::uint64_t bytes = 0;  ///< payload
  bool persistent = false;  ///< sent by MPI_Start of a persistent request

  bool operator==(const Message&) const = default;
};
using Messages = std::vector<Message>;

/// "→2 4 B, →1 8 B" for failure messages.
[[nodiscard]] std::string describe(const Messages& messages);

/// What this rank sends while `call` runs, which contains collectives only, in the order of sending. Works
/// where Open MPI was started with OMPI_MCA_pml_monitoring_enable=1, and the program exports its symbols;
/// elsewhere nothing is ever seen.
[[nodiscard]] Messages messages_of(const std::function<void()>& call);

}  // namespace collbench::collectives
