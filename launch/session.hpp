#pragma once
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// What connects the ranks of a run, from their start to their end: MPI (MpiSession), or sockets where there
/// is none (SocketSession). One per process.
class Session {
 public:
  virtual ~Session() = default;
  [[nodiscard]] virtual Ranks& ranks() const = 0;
  /// Those ranks that give the same `group`, in the same order. Collective over all.
  [[nodiscard]] virtual std::unique_ptr<Ranks> ranks_of(int group) const = 0;
  [[nodiscard]] virtual const Clock& clock() const = 0;
  /// This rank's, as records have it (legal_host_name).
  [[nodiscard]] virtual std::string host() const = 0;
  /// The lowest rank on the same machine: what tells nodes apart. Collective.
  [[nodiscard]] virtual int shared_memory_leader() const = 0;
  [[nodiscard]] virtual bool has_mpi() const = 0;
  /// What connects them, as records have it: "Open MPI v4.1.4", "no MPI (torchrun)".
  [[nodiscard]] virtual std::string library() const = 0;
  /// Ends this rank with `status`, and the others: at once under MPI, else where they next wait for it. For a
  /// failure that cannot be agreed on any more.
  [[noreturn]] virtual void abort(int status) const = 0;
};

}  // namespace collbench::launch
