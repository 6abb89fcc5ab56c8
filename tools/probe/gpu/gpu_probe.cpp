#include "tools/probe/gpu/gpu_probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "tools/probe/gpu/gpu_copies.hpp"
#include "tools/probe/gpu/gpu_matmul.hpp"

namespace collbench::collectives {
namespace {

constexpr int kSoakSize = 16384;
constexpr int kMinSize = 256;
constexpr std::size_t kMaxTimedOutPairs = 2;  ///< each costs GpuProbe::timeout_seconds
constexpr double kUsableShare = 0.9;          ///< of the free memory: code and handles of libraries take some
/// More than four times the last cache of any GPU (B200: 126 MB), and no more than a third of a small one's
/// memory.
constexpr std::uint64_t kArrayBytes = kGiB;
constexpr std::uint64_t kLinkBytes = 256 * kMiB;

/// Lists what CUDA found. One that cannot be used is listed without memory, with a failure; where others hold
/// its memory, or it is theirs alone, with a note.
void add_gpus(const CudaLibrary& cuda, const std::vector<CudaGpu>& found, GpuProbeResult& result) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    ProbeGpu gpu{.name = fmt::format("GPU {}", i),
                 .model = found[i].model,
                 .uuid = found[i].id.uuid,
                 .address = found[i].id.address};
    std::size_t free = 0;
    std::size_t total = 0;
    const char* call = "cudaSetDevice";
    CudaResult status = cuda.set_device(static_cast<int>(i));
    if (status == CudaResult::success) {
      call = "cudaMemGetInfo";
      status = cuda.memory_info(&free, &total);
    }
    if (status == CudaResult::success) {
      gpu.memory_bytes = total;
    } else {
      const std::string what = fmt::format("{} failed: {}", call, cuda.get_error_string(status));
      if (status == CudaResult::memory_allocation || status == CudaResult::devices_unavailable)
        result.notes.push_back(fmt::format("{}: not run: another process may have it: {}", gpu.name, what));
      else
        result.failures.push_back({gpu.name, "its first use", what});
    }
    result.gpus.push_back(std::move(gpu));
  }
}

/// Of those of `devices` that can be asked; the greatest number where none can.
std::uint64_t least_free_bytes(const CudaLibrary& cuda, const std::vector<int>& devices) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const int device : devices) {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cuda.set_device(device) != CudaResult::success ||
        cuda.memory_info(&free, &total) != CudaResult::success)
      continue;
    least = std::min<std::uint64_t>(least, free);
  }
  return least;
}

/// GPUs that work at the same time on one thing.
class GpuProber {
 public:
  GpuProber(const GpuProbe& probe, const Clock& clock, const GpuLibraries& libraries, GpuProbeResult& result)
      : probe_(probe),
        clock_(clock),
        libraries_(libraries),
        result_(result),
        seconds_left_(gpu_probe_seconds(probe, static_cast<int>(result.gpus.size()))) {
    // One whose memory is not known cannot be used: add_gpus says why.
    for (std::size_t gpu = 0; gpu < result.gpus.size(); ++gpu)
      if (result.gpus[gpu].memory_bytes > 0) working_.push_back(static_cast<int>(gpu));
  }

  void run() {
    for (const GemmType& type : gemm_types()) {
      if (is_wanted(probe_, type.id)) products(type);
    }
    if (is_wanted(probe_, kGpuHbmCopy)) memory(kGpuHbmCopy, "HBM copy", "cudaMemcpyAsync", 2, hbm_copy_work);
    if (is_wanted(probe_, kGpuHbmTriad)) memory(kGpuHbmTriad, "HBM triad", "own kernel", 3, hbm_triad_work);
    if (is_wanted(probe_, kHostToGpu)) host_copies(kHostToGpu, "copy to the GPU", true);
    if (is_wanted(probe_, kGpuToHost)) host_copies(kGpuToHost, "copy from the GPU", false);
    if (is_wanted(probe_, kGpuPeer)) peers();
    // Last, so that what it heats up disturbs nothing.
    if (probe_.soak_seconds > 0) soak();
  }

 private:
  using MakeWork = std::function<GpuWork(std::size_t index)>;

  void note(const ProbeMeasurement& about, const std::string& why) {
    result_.notes.push_back(fmt::format("{}{}: not run: {}", about.name,
                                        about.size > 0 ? fmt::format(", n = {}", about.size) : "", why));
  }

  void begin(const std::string& what, double seconds) {
    if (probe_.began) probe_.began(what, seconds_left_);
    seconds_left_ = std::max(0.0, seconds_left_ - seconds);
  }

  /// What fails after a copy between two GPUs may fail because of that: a context's error stays.
  void note_failure(ProbeFailure failure, const std::optional<PeerCopy>& peer, bool timed_out) {
    if (failed_pairs_ > 0) failure.what.insert(0, kAfterAnotherFailure);
    result_.failures.push_back(std::move(failure));
    if (peer) ++failed_pairs_;
    if (peer && timed_out) timed_out_pairs_.push_back(*peer);
  }

  /// Runs on `devices` at once, and adds to `found` what each of them did. Refusals are said once for all
  /// that have the same.
  void add(GpuMeasurement& found, const std::vector<int>& devices, const GpuTiming& timing,
           const MakeWork& make, std::optional<PeerCopy> peer = std::nullopt) {
    const std::vector<GpuRates> rates = run_on_gpus(libraries_, devices, clock_, timing, make);
    std::map<std::string, std::vector<std::string>> refused;
    std::vector<int> failed;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const ProbeGpu& gpu = result_.gpus[static_cast<std::size_t>(devices[i])];
      const std::string name = peer ? fmt::format("{} to {}", peer->from, peer->to) : gpu.name;
      if (!rates[i].failure.empty()) {
        note_failure({name, found.about.name, rates[i].failure}, peer, rates[i].timed_out);
        if (!peer || rates[i].timed_out) failed.push_back(devices[i]);
      } else if (!rates[i].refused.empty()) {
        refused[rates[i].refused].push_back(name);
      } else {
        ProbePart part{.name = name, .model = gpu.model, .windows = rates[i].windows, .peer = peer};
        for (const std::uint64_t each : rates[i].results)
          part.results.push_back(fmt::format("{:016x}", each));
        found.about.parts.push_back(std::move(part));
        found.spans.push_back(rates[i].spans);
      }
    }
    for (const auto& [why, names] : refused) {
      note(found.about, names.size() == devices.size() && !peer
                            ? why
                            : fmt::format("{} ({})", why, fmt::join(names, ", ")));
    }
    for (const int device : failed) std::erase(working_, device);  // last: it may be `devices`
  }

  void keep(GpuMeasurement found) {
    if (!found.about.parts.empty()) result_.measurements.push_back(std::move(found));
    if (probe_.ended) probe_.ended(result_);
  }

  /// Of the GPU that has least: all of them do the same work.
  [[nodiscard]] std::uint64_t usable_bytes() const {
    return static_cast<std::uint64_t>(static_cast<double>(least_free_bytes(libraries_.cuda, working_)) *
                                      kUsableShare);
  }

  /// `bytes`, or as much less that so many arrays fit.
  [[nodiscard]] std::uint64_t halved_to_fit(std::uint64_t bytes, std::uint64_t arrays) const {
    while (bytes > kMiB && arrays * bytes > usable_bytes()) bytes /= 2;
    return bytes;
  }

  /// The sizes that fit; where none does, the largest power of two that does.
  std::vector<int> sizes_that_fit(const GemmType& type, ProbeMeasurement about) {
    const std::uint64_t usable = usable_bytes();
    std::vector<int> sizes;
    for (const int n : kGpuProductSizes) {
      if (gemm_bytes(type, n) <= usable) {
        sizes.push_back(n);
        continue;
      }
      about.size = n;
      note(about, fmt::format("it takes {}, and {} are free on the GPU that has least",
                              format_bytes(gemm_bytes(type, n)), format_bytes(usable)));
    }
    if (!sizes.empty()) return sizes;
    for (int n = kGpuProductSizes.front() / 2; n >= kMinSize; n /= 2) {
      if (gemm_bytes(type, n) <= usable) return {n};
    }
    return {};
  }

  [[nodiscard]] ProbeMeasurement about_product(const GemmType& type, int n) const {
    return {.id = std::string(type.id),
            .name = std::string(type.name),
            .size = n,
            .by = fmt::format("cuBLASLt {}", cublas_version_text(libraries_.cublas_lt->version)),
            .work = type.how.empty() ? fmt::format("n = {} a GPU", n)
                                     : fmt::format("n = {} a GPU, {}", n, type.how)};
  }

  void products(const GemmType& type) {
    if (libraries_.cublas_lt == nullptr || working_.empty()) return;
    std::optional<double> rate;  // of the slowest GPU, in the size before
    for (const int n : sizes_that_fit(type, about_product(type, 0))) {
      GpuMeasurement found{about_product(type, n), {}};
      const double unit = rate ? 2.0 * n * n * n / *rate : 0;
      if (unit > longest_product_seconds(probe_)) {
        result_.notes.push_back(fmt::format("{}, n = {}: left out: one product would take {}",
                                            found.about.name, n, format_seconds(unit)));
        seconds_left_ = std::max(0.0, seconds_left_ - total_seconds(product_timing(probe_, false)));
        return;
      }
      begin(fmt::format("{}, n = {}", type.name, n), total_seconds(product_timing(probe_, false)));
      add(found, working_, product_timing(probe_, std::exchange(is_first_product_, false)),
          [&](std::size_t) { return gemm_work(libraries_, type, n); });
      // What one size lacks is missing in the other, too.
      const bool is_refused = found.about.parts.empty();
      for (const ProbePart& part : found.about.parts)
        rate = std::min(rate.value_or(std::numeric_limits<double>::max()), median(part.windows));
      keep(std::move(found));
      if (is_refused) return;
    }
  }

  void soak() {
    const GemmType& type = gemm_types().front();
    if (libraries_.cublas_lt == nullptr || working_.empty()) return;
    ProbeMeasurement about = about_product(type, kSoakSize);
    about.id = "gpu-soak";
    about.name = fmt::format("soak, {}", type.name);
    const std::uint64_t usable = usable_bytes();
    while (about.size > kMinSize && gemm_bytes(type, about.size) > usable) about.size /= 2;
    const int n = about.size;
    const GpuTiming timing = soak_timing(probe_);
    about.work = fmt::format("n = {} a GPU, {} windows", n, timing.windows);
    GpuMeasurement found{std::move(about), {}};
    begin(found.about.name, probe_.soak_seconds);
    add(found, working_, timing, [&](std::size_t) { return gemm_work(libraries_, type, n); });
    keep(std::move(found));
  }

  void memory(std::string_view id, const std::string& name, const std::string& by, std::uint64_t arrays,
              GpuWork (*make)(const GpuLibraries&, std::uint64_t)) {
    if (working_.empty()) return;
    const std::uint64_t bytes = halved_to_fit(kArrayBytes, arrays);
    GpuMeasurement found{{.id = std::string(id),
                          .name = name,
                          .unit = ProbeUnit::byte,
                          .by = by,
                          .work = fmt::format("{} arrays of {}", arrays, format_bytes(bytes))},
                         {}};
    begin(name, total_seconds(memory_timing(probe_)));
    add(found, working_, memory_timing(probe_), [&](std::size_t) { return make(libraries_, bytes); });
    keep(std::move(found));
  }

  void host_copies(std::string_view id, const std::string& name, bool to_gpu) {
    const std::uint64_t bytes = halved_to_fit(kLinkBytes, 2);
    GpuMeasurement found{{.id = std::string(id),
                          .name = name,
                          .unit = ProbeUnit::byte,
                          .by = "cudaMemcpyAsync, pinned memory",
                          .work = fmt::format("{}, one GPU at a time", format_bytes(bytes))},
                         {}};
    begin(name, total_seconds(link_timing(probe_)) * static_cast<double>(working_.size()));
    for (const int device : std::vector<int>(working_))
      add(found, {device}, link_timing(probe_), [&](std::size_t) {
        if (is_kept_far(libraries_.cuda, device))
          throw GpuRefusal{"pinned memory may be far: this process may run on none of the GPU's processors"};
        return host_copy_work(libraries_, bytes, to_gpu);
      });
    keep(std::move(found));
  }

  void peers() {
    if (working_.size() < 2) {
      result_.notes.emplace_back("copies between GPUs: not run: fewer than two GPUs take part");
      return;
    }
    const std::uint64_t bytes = halved_to_fit(kLinkBytes, 2);
    GpuMeasurement found{{.id = std::string(kGpuPeer),
                          .name = "copy between GPUs",
                          .unit = ProbeUnit::byte,
                          .by = "cudaMemcpyPeerAsync",
                          .work = fmt::format("{}, one pair at a time", format_bytes(bytes))},
                         {}};
    const std::vector<int> all = working_;
    begin(found.about.name,
          total_seconds(link_timing(probe_)) * static_cast<double>(all.size() * (all.size() - 1)));
    std::vector<std::string> left_out;
    for (const int from : all) {
      for (const int to : all) {
        // Memory of a sender whose copy never ends can be neither taken nor freed. The receiver's can, as far
        // as is known, and its next copy tells whose fault it is.
        if (from == to || !works(to)) continue;
        const int failed_before = failed_pairs_;
        const bool direct = has_peer_access(libraries_.cuda, from, to);
        add(
            found, {from}, link_timing(probe_),
            [&](std::size_t) { return peer_copy_work(libraries_, from, to, bytes, direct); },
            PeerCopy{gpu_name(from), gpu_name(to), direct});
        if (failed_pairs_ == failed_before) continue;
        // The sender's context may be lost: what it would fail in next says nothing of the receiver.
        if (to != all.back()) left_out.push_back(gpu_name(from));
        break;
      }
      if (timed_out_pairs_.size() < kMaxTimedOutPairs) continue;
      result_.notes.emplace_back(
          "copies between GPUs: those after the second pair that made no progress were not run");
      break;
    }
    if (!left_out.empty()) {
      result_.notes.push_back(
          fmt::format("copies between GPUs: not run after one that failed: the others from {}",
                      fmt::join(left_out, ", ")));
    }
    for (const PeerCopy& pair : timed_out_pairs_) {
      std::erase_if(working_, [&](int gpu) { return gpu_name(gpu) == pair.to; });
      result_.notes.push_back(fmt::format(
          "{} and {}: left out of what follows: a copy between them did not end", pair.from, pair.to));
    }
    keep(std::move(found));
  }

  [[nodiscard]] bool works(int gpu) const { return std::ranges::find(working_, gpu) != working_.end(); }

  [[nodiscard]] const std::string& gpu_name(int device) const {
    return result_.gpus[static_cast<std::size_t>(device)].name;
  }
  const GpuProbe& probe_;
  const Clock& clock_;
  const GpuLibraries& libraries_;
  GpuProbeResult& result_;
  std::vector<int> working_;  // CUDA's indices of those that did not fail
  int failed_pairs_ = 0;
  std::vector<PeerCopy> timed_out_pairs_;
  bool is_first_product_ = true;
  double seconds_left_;
};

}  // namespace

GpuProbeResult probe_gpus(const GpuProbe& probe, const Clock& clock) {
  GpuProbeResult result;
  const CudaLibrary cuda = CudaLibrary::load();
  cuda.need_probe_functions();
  add_gpus(cuda, cuda_gpus(cuda, "leave GPUs out (--only cpu)"), result);
  const KernelLibrary kernels = KernelLibrary::load(cuda.driver_version());
  std::optional<CublasLtLibrary> cublas_lt;
  if (wants_products(probe)) {
    try {
      cublas_lt = CublasLtLibrary::load(cuda);
    } catch (const Error& error) {
      if (!wants_copies(probe)) throw;
      result.notes.push_back(
          fmt::format("products on GPUs: not run: {}; {}", error.what(), error.next_step()));
    }
  }
  const GpuLibraries libraries{cuda, kernels, cublas_lt ? &*cublas_lt : nullptr};
  GpuProber(probe, clock, libraries, result).run();
  return result;
}

}  // namespace collbench::collectives
