#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/run.hpp"
#include "collectives/buffer_layout.hpp"
#include "collectives/data/data_pattern.hpp"
#include "collectives/engine/block_timer.hpp"

namespace collbench::collectives {

/// Whose memory the buffers are in: the host's, or a GPU's.
enum class MemoryKind { host, device };

/// The largest message, in bytes of payload, that is sent without waiting for its receiver; 0 when unknown.
struct EagerLimits {
  std::uint64_t within_host_bytes = 0;
  std::uint64_t across_hosts_bytes = 0;
};

/// What can be done with a backend beside running its operations.
struct BackendCapabilities {
  MemoryKind memory = MemoryKind::host;
  /// Its messages can be calibrated through MPI (mpi/calibration.hpp), and its rows be expected from that.
  bool calibrates = false;
  /// Its data cross between hosts as MPI's do, so that a probe of MPI's links is one of its own.
  bool has_links_to_probe = false;
  /// Its buffers have to be of the same sizes on all ranks.
  bool equal_buffers = false;
  /// Its communicators know the buffers: these outlive them, and stay where they stay.
  bool communicators_hold_buffers = false;
  EagerLimits eager{};  ///< of its messages, where it calibrates
};

/// What a backend takes, and what it takes for itself.
struct BackendLimits {
  std::uint64_t elements_per_call = 0;      ///< the largest count argument
  std::uint64_t default_largest_bytes = 0;  ///< upper end of the sizes, when nobody says
  std::uint64_t smallest_buffer_bytes = 0;  ///< of each of the two that is used at all
  /// Buffers as large as the larger of the two, which the library may take on its own.
  std::uint64_t library_buffers = 0;
};

/// One row, ready to run: communicator chosen, arguments set up, data known. The buffers belong to the
/// backend's pass.
class PreparedRow {
 public:
  virtual ~PreparedRow() = default;

  /// Writes the data of `iteration` where the operation reads, and poison wherever else it must write.
  virtual void fill(std::uint64_t iteration) = 0;
  /// Data for iterations that nobody checks: the result may be the next input, so values that stay what they
  /// are however often they are reduced.
  virtual void fill_to_repeat() = 0;
  /// The operation, `iterations` times, untimed. Collective, as is time.
  virtual void run(std::uint64_t iterations) = 0;
  /// The operation, `iterations` times, in samples of `iterations_per_sample`; fewer where `goes_on` is asked
  /// and ends it.
  [[nodiscard]] virtual Block time(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                                   const GoesOn& goes_on) = 0;
  /// Host seconds of one call, from its begin until it returns, over `calls` of them; none where a call
  /// returns when the operation is done. Collective.
  [[nodiscard]] virtual std::optional<double> enqueue_seconds(std::uint64_t /*calls*/) {
    return std::nullopt;
  }
  /// Looks at every element of the result of `iteration`. Collective.
  [[nodiscard]] virtual std::optional<Mismatch> check(std::uint64_t iteration) = 0;
  /// What the library chose while run() ran; none where it does not report it.
  [[nodiscard]] virtual std::optional<NcclSelection> library_choice() const { return std::nullopt; }
};

/// What runs the operations: MPI on host memory, or NCCL on GPUs. Calls marked collective are made by all
/// ranks in the same order.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Writes into the run's record what it says of this backend: its name, its libraries' versions, what
  /// making communicators took.
  virtual void describe(Run& run) const = 0;
  [[nodiscard]] virtual BackendCapabilities capabilities() const = 0;
  [[nodiscard]] virtual const Clock& clock() const = 0;
  /// What the end of a sample adds to it: a reading of the clock, or an event.
  [[nodiscard]] virtual double clock_read_seconds() const { return 0; }
  /// Names for --algo beside "auto".
  [[nodiscard]] virtual std::vector<std::string> algorithms(OperationId operation) const = 0;
  /// Why no row of the type can run here; none when some can.
  [[nodiscard]] virtual std::optional<std::string> unsupported_type_reason(DataType /*type*/) const {
    return std::nullopt;
  }
  /// Why this row cannot run here; none when it can.
  [[nodiscard]] virtual std::optional<std::string> unsupported_reason(const RowKey& key) const = 0;
  /// What runs for this row, the library's fallbacks included.
  [[nodiscard]] virtual std::string algorithm_ran(const RowKey& key) const = 0;
  /// What a reader must know of the row, such as "reduced by collbench"; empty for most.
  [[nodiscard]] virtual std::string note(const RowKey& key) const = 0;
  /// What the row takes on this rank. To be kept, and passed to prepare.
  [[nodiscard]] virtual RowLayout layout(const RowKey& key) const = 0;
  [[nodiscard]] virtual BackendLimits limits() const = 0;

  /// Fresh buffers of these sizes. Frees the old ones first. May throw std::bad_alloc.
  virtual void allocate(const BufferBytes& bytes) = 0;
  /// In place of allocate: the pass that begins has the buffers of the last one.
  virtual void keep_buffers() {}
  /// Destroys the communicators, so that each row's prepare makes a new one. Collective.
  virtual void renew_communicators() = 0;
  /// What the machine is like now, in about a millisecond; the same on every rank. None where nobody looks:
  /// of GPUs the telemetry tells. Collective.
  [[nodiscard]] virtual std::optional<MachineProbe> probe_machine() { return std::nullopt; }
  /// Collective.
  [[nodiscard]] virtual std::unique_ptr<PreparedRow> prepare(const RowKey& key, const RowLayout& layout) = 0;
};

}  // namespace collbench::collectives
