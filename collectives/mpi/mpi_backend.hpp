#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/compute/step_kernel.hpp"
#include "collectives/data/data_pattern.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/mpi/host_buffer.hpp"
#include "collectives/mpi/machine_prober.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"
#include "launch/flight/flight_page.hpp"

namespace collbench::collectives {

class MpiRow;

/// The operations on host memory through MPI. Lives between MPI_Init and MPI_Finalize. The header knows no
/// mpi.h.
class MpiBackend : public Backend {
 public:
  /// `traffic` is what AllToAllv moves. Calls are counted in `counters`, which must outlive it.
  /// `step_matrix`: the n of a Step's product; 0: no Step is measured. Collective where it is not 0.
  MpiBackend(const Clock& clock, TrafficMatrix traffic, launch::CallCounters counters,
             const BufferUse& buffers, int step_matrix = 0);
  MpiBackend(const MpiBackend&) = delete;
  MpiBackend& operator=(const MpiBackend&) = delete;
  ~MpiBackend() override;

  [[nodiscard]] BackendCapabilities capabilities() const override;
  void describe(Run& run) const override { run.backend = BackendId::mpi; }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] double clock_read_seconds() const override;
  [[nodiscard]] std::vector<std::string> algorithms(OperationId operation) const override;
  [[nodiscard]] std::optional<std::string> unsupported_type_reason(DataType type) const override;
  [[nodiscard]] std::optional<std::string> unsupported_reason(const RowKey& key) const override;
  [[nodiscard]] std::string algorithm_ran(const RowKey& key) const override;
  [[nodiscard]] std::string note(const RowKey& key) const override;
  [[nodiscard]] RowLayout layout(const RowKey& key) const override;
  [[nodiscard]] BackendLimits limits() const override;

  void allocate(const BufferBytes& bytes) override;
  void renew_communicators() override;
  [[nodiscard]] std::optional<MachineProbe> probe_machine() override;
  [[nodiscard]] std::unique_ptr<PreparedRow> prepare(const RowKey& key, const RowLayout& layout) override;

 private:
  struct Handles;  // what MPI gave: communicators and ops

  /// Worked out for the first row of its kind: what comes out of a reduction takes all ranks' contributions.
  [[nodiscard]] const DataPattern& pattern(const RowKey& key);
  [[nodiscard]] std::unique_ptr<MpiRow> mpi_row(const RowKey& key, const RowLayout& layout);

  const Clock& clock_;
  launch::CallCounters counters_;
  AlgorithmControl control_;
  std::unique_ptr<Handles> handles_;
  std::unique_ptr<MachineProber> prober_;    // from the first probe
  std::unique_ptr<StepKernel> step_kernel_;  // where a Step is measured
  TrafficMatrix traffic_;
  BufferUse buffer_use_;
  std::map<std::pair<DataType, std::optional<Reduction>>, DataPattern> patterns_;
  int rank_ = 0;
  int ranks_ = 1;
  HostBuffer send_;
  HostBuffer receive_;
};

}  // namespace collbench::collectives
