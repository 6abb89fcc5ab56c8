#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/engine/backend.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/nccl/algorithm_override.hpp"
#include "collectives/nccl/gpu_memory_use.hpp"
#include "collectives/nccl/gpu_session.hpp"
#include "collectives/nccl/nccl_communicator.hpp"
#include "collectives/nccl/nccl_process.hpp"
#include "collectives/nccl/nccl_row.hpp"
#include "launch/collective_wait.hpp"

namespace collbench::collectives {

/// How the user wants GPUs to be used.
struct NcclOptions {
  bool share_gpu = false;                  ///< ranks may share a GPU: then only correctness is checked
  bool inside_slurm = false;               ///< for the advice in messages
  PlanRequest request{};                   ///< what is measured, and by which algorithms
  std::uint64_t operations_per_group = 1;  ///< issued between ncclGroupStart and ncclGroupEnd
  TrafficMatrix traffic{};                 ///< what AllToAllv moves
  int graph_launches = 0;                  ///< a block launches a CUDA graph so often; 0: call by call
  BufferRegistration registration = BufferRegistration::none;
  NcclConfigValues settings{};  ///< of every communicator
  CallWait call_wait = CallWait::none;
  bool hot = false;     ///< timed calls repeat on the same addresses, and find small data in the GPU's L2
  bool memory = false;  ///< what takes the GPUs' memory is wanted
};

/// The operations on GPUs through NCCL.
class NcclBackend : public Backend {
 public:
  /// Finds libraries and GPUs, and tries whether NCCL works between these ranks. Collective. Throws the same
  /// AgreedError on all ranks when it does not. `waiter`, `process`, which this rank's process has one of,
  /// and `calls`, which counts those of rows, outlive the backend.
  NcclBackend(const launch::CollectiveWait& waiter, NcclProcess& process, const Identities& machines,
              launch::CallCounter& calls, const NcclOptions& options);
  NcclBackend(const NcclBackend&) = delete;
  NcclBackend& operator=(const NcclBackend&) = delete;
  /// After a failure the buffers are left to the end of the process: cudaFree waits for the GPU, which may
  /// never come back.
  ~NcclBackend() override;

  void describe(Run& run) const override;
  [[nodiscard]] BackendCapabilities capabilities() const override {
    return {.memory = MemoryKind::device,
            .equal_buffers = options_.registration == BufferRegistration::symmetric,
            // NCCL registers the buffers of a captured graph by itself (NCCL_GRAPH_REGISTER).
            .communicators_hold_buffers =
                options_.graph_launches > 0 || options_.registration != BufferRegistration::none};
  }
  [[nodiscard]] const Clock& clock() const override { return all_.clock(); }
  [[nodiscard]] double clock_read_seconds() const override;
  [[nodiscard]] std::vector<std::string> algorithms(OperationId operation) const override;
  [[nodiscard]] std::optional<std::string> unsupported_type_reason(DataType type) const override;
  [[nodiscard]] std::optional<std::string> unsupported_reason(const RowKey& key) const override;
  [[nodiscard]] std::string algorithm_ran(const RowKey& key) const override;
  [[nodiscard]] std::string note(const RowKey& key) const override;
  [[nodiscard]] RowLayout layout(const RowKey& key) const override;
  [[nodiscard]] BackendLimits limits() const override;

  void allocate(const BufferBytes& bytes) override;
  void keep_buffers() override {
    memory_use_.end_pass();
    if (waiter_ == &all_) ++kept_passes_;
  }
  void renew_communicators() override;
  [[nodiscard]] std::unique_ptr<PreparedRow> prepare(const RowKey& key, const RowLayout& layout) override;

  [[nodiscard]] const GpuSession& gpu() const { return gpu_; }

  /// What took the GPUs' memory in the first pass, which is over; none where that was not asked for, or some
  /// rank does not know it. Collective.
  [[nodiscard]] std::optional<GpuMemory> memory_use();

  /// From here on rows are measured among the ranks of `some`, which outlives that and has this rank among
  /// them. Collective over the ranks before and after.
  void measure_among(const launch::CollectiveWait& some);

 private:
  [[nodiscard]] NcclCommunicator& communicator(std::string algorithm);
  void note_made(double seconds);
  void try_algorithms();
  void try_algorithm(const AlgorithmOverride& forced, const std::vector<RowKey>& trials,
                     std::unique_ptr<NcclCommunicator>& communicator);
  [[nodiscard]] std::unique_ptr<PreparedRow> row_on(NcclCommunicator& communicator, const RowKey& key,
                                                    const RowLayout& layout, const BufferWalk& walk,
                                                    bool in_graphs) const;
  [[nodiscard]] bool is_first_of_process() const { return rank_in_process_ == 0; }
  [[nodiscard]] AlgorithmOverride of_communicator(const AlgorithmOverride& choice) const;
  void leave_buffers();
  void free_buffers();
  void allocate_exactly(const BufferBytes& bytes);

  const launch::CollectiveWait& all_;
  const launch::CollectiveWait* waiter_;  // of the ranks that rows are measured among
  NcclOptions options_;
  NcclProcess& process_;
  int rank_in_process_;
  GpuSession gpu_;
  GpuMemoryUse memory_use_;       // before NCCL has taken any
  const NcclObserver& observer_;  // before any communicator
  launch::CallCounter& calls_;
  /// Of rows among some ranks, who make as many calls as they have time for: nobody may compare these.
  mutable launch::CallCounter calls_among_some_;
  std::uint64_t walk_bytes_;  // of each buffer, that timed calls walk through; 0: they do not
  OverrideBy override_by_ = OverrideBy::communicator;
  std::map<RowKey, std::string> declined_;  // by trial_key, and why
  int kept_passes_ = 0;                     // whose buffers were those of the pass before
  std::vector<double> communicator_seconds_;
  std::vector<NcclInitStep> init_steps_;  // of the first
  std::vector<std::string> networks_;     // of all ranks' communicators, each once, the first one's first
  DeviceBuffer send_;
  DeviceBuffer receive_;
  DeviceBuffer scratch_;  // an NcclRowScratch
  /// By algorithm, or one where the calls ask for theirs. They go first: what they run may still use the
  /// buffers.
  std::map<std::string, std::unique_ptr<NcclCommunicator>> communicators_;
};

}  // namespace collbench::collectives
