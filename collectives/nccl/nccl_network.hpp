#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/record/nccl_selection.hpp"

namespace collbench::collectives {

// The network that NCCL carries data between hosts by: IB, Socket, or that of a plugin. NCCL looks for one
// when a communicator is made, and says which it took only in its log.

/// Keeps NCCL of `version` from forgetting a plugin that the user names. When the last communicator of a
/// network plugin ends, NCCL 2.28 and 2.29 unload it and erase its name, so that every later communicator is
/// made over InfiniBand or sockets (NVIDIA/nccl#1978; src/plugin/net.cc, ncclNetPluginUnload). A reference
/// count that begins at 1, as in 2.27, keeps it loaded: NCCL_NET_PLUGIN_REF_COUNT, unless the user has set
/// it. Before NCCL's first call.
void keep_network_plugin(int version);

/// The name in the last line of `log` in which NCCL says "Using network"; none where no line does.
[[nodiscard]] std::optional<std::string> network_in(std::string_view log);

/// Seconds of each step of the last line of `log` that says "Init timings", in its order; empty where none
/// does: "rank 1 nranks 2 total 1.43 (kernels 0.18, alloc 1.18, …)".
[[nodiscard]] std::vector<std::pair<std::string, double>> init_timings_in(std::string_view log);

/// The slowest rank of each step, of what ranks gave in their order; empty unless all gave the same steps.
[[nodiscard]] std::vector<NcclInitStep> slowest_steps(
    const std::vector<std::vector<std::pair<std::string, double>>>& of_ranks);

/// What `log` has behind "NCCL WARN", each once, the newest last: at most kMaxNcclWarnings.
[[nodiscard]] std::vector<std::string> nccl_warnings_in(std::string_view log);
/// What fails first may be several lines before the last one, which says what failed because of it.
inline constexpr std::size_t kMaxNcclWarnings = 3;

/// NCCL's log of what it sets up and of what fails, in memory.
class NcclNetworkLog {
 public:
  /// Turns NCCL's log on (NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE), unless the user has set one of
  /// them. It has lines while communicators and connections are made, and of an operation only warnings.
  /// Before NCCL's first call.
  explicit NcclNetworkLog(int version);

  /// Its lines for network_in() and init_timings_in(), of the communicator made since the last call.
  [[nodiscard]] std::string newest();
  /// What NCCL warned of since then, as nccl_warnings_in() has it; nothing where its log is the user's.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Why it is not known; empty where it is.
  [[nodiscard]] const std::string& unknown_reason() const { return unknown_reason_; }

 private:
  [[nodiscard]] std::string unseen() const;

  FileDescriptor memory_;
  off_t seen_ = 0;  // bytes of it that were looked at, and are freed
  std::string unknown_reason_;
};

}  // namespace collbench::collectives
