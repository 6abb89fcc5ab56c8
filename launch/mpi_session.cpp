#include "launch/mpi_session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {

void check_mpi(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ExitStatus::rank_lost, std::string(call),
              fmt::format("MPI failed: {}", std::string_view(text.data(), static_cast<std::size_t>(length))),
              "see MPI's own messages above, and run fewer operations to find the one that fails");
}

namespace {

/// Texts of several ranks, one behind the other.
struct Joined {
  /// Throws Error (rank_lost) beyond what MPI's counts can say.
  explicit Joined(const std::vector<int>& lengths) {
    for (const int length : lengths) {
      offsets.push_back(total);
      if (length > std::numeric_limits<int>::max() - total) {
        throw Error(ExitStatus::rank_lost, "launch", "the ranks' messages are more than 2 GiB in total",
                    "measure fewer rows at a time");
      }
      total += length;
    }
  }

  [[nodiscard]] std::vector<std::string> split(const std::string& joined,
                                               const std::vector<int>& lengths) const {
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      texts.push_back(
          joined.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
    }
    return texts;
  }

  std::vector<int> offsets;
  int total = 0;
};

}  // namespace

class MpiSession::MpiClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return MPI_Wtime(); }
};

/// Over a duplicate of MPI_COMM_WORLD, so that the harness's messages never meet the measured ones.
class MpiSession::MpiRanks : public Ranks {
 public:
  MpiRanks() {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
    exact_barrier_ = exact_barrier(*this);
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  MpiRanks(MpiRanks&&) = delete;
  MpiRanks& operator=(MpiRanks&&) = delete;
  ~MpiRanks() override { MPI_Comm_free(&communicator_); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

  void barrier() override {
    if (exact_barrier_) {
      exact_barrier_();
    } else {
      check_mpi(MPI_Barrier(communicator_), "MPI_Barrier");
    }
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    check_mpi(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, communicator_),
              "MPI_Bcast");
  }

  /// To rank 0 and from there to all: as many messages as ranks, where an all-to-all exchange may take the
  /// square of that (SMPI's MPI_Allgather does).
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    std::string joined = gather_joined(text, lengths);
    broadcast(std::as_writable_bytes(std::span(lengths)), 0);
    const Joined all(lengths);
    joined.resize(static_cast<std::size_t>(all.total));
    broadcast(std::as_writable_bytes(std::span(joined)), 0);
    return all.split(joined, lengths);
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    std::vector<int> lengths(static_cast<std::size_t>(rank_ == 0 ? size_ : 0));
    const std::string joined = gather_joined(text, lengths);
    if (rank_ != 0) return {};
    return Joined(lengths).split(joined, lengths);
  }

  void reduce(std::span<double> values, RankAggregate how) override {
    const int count = static_cast<int>(values.size());
    if (how == RankAggregate::rank0) {
      check_mpi(MPI_Bcast(values.data(), count, MPI_DOUBLE, 0, communicator_), "MPI_Bcast");
      return;
    }
    const MPI_Op op = how == RankAggregate::minimum   ? MPI_MIN
                      : how == RankAggregate::maximum ? MPI_MAX
                                                      : MPI_SUM;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, op, communicator_),
              "MPI_Allreduce");
    if (how == RankAggregate::average) {
      for (double& value : values) value /= size_;
    }
  }

 private:
  /// On rank 0 the texts of all, one behind the other, and their lengths.
  [[nodiscard]] std::string gather_joined(const std::string& text, std::vector<int>& lengths) const {
    const int length = static_cast<int>(text.size());
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_), "MPI_Gather");
    const Joined all(rank_ == 0 ? lengths : std::vector<int>{});
    std::string joined(static_cast<std::size_t>(all.total), '\0');
    check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), all.offsets.data(),
                          MPI_CHAR, 0, communicator_),
              "MPI_Gatherv");
    return joined;
  }

  std::function<void()> exact_barrier_;  // where there is one
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

MpiSession::MpiSession(int* argc, char*** argv) {
  // Not MPI_THREAD_FUNNELED, which is what the standard asks for beside the watchdog's thread and, on GPUs,
  // the telemetry's: with it 8 B over shared memory take Open MPI 4.1.4 at least 1.2 times as long, and OSU
  // and IMB start MPI this way (docs/benchmarks.md). Neither thread calls MPI; libraries start threads of
  // their own, too.
  check_mpi(MPI_Init(argc, argv), "MPI_Init");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ranks_ = std::make_unique<MpiRanks>();
  clock_ = std::make_unique<MpiClock>();
}

MpiSession::~MpiSession() {
  ranks_.reset();
  MPI_Finalize();
}

Ranks& MpiSession::ranks() const { return *ranks_; }

const Clock& MpiSession::clock() const { return *clock_; }

std::string MpiSession::host() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

int MpiSession::shared_memory_leader() const {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(ranks_->communicator(), MPI_COMM_TYPE_SHARED, ranks_->rank(), MPI_INFO_NULL, &node),
      "MPI_Comm_split_type");
  int leader = ranks_->rank();
  const int code = MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  check_mpi(code, "MPI_Bcast");
  return leader;
}

std::string MpiSession::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view version(text.data(), static_cast<std::size_t>(length));
  return std::string(version.substr(0, version.find_first_of(",\n")));
}

void MpiSession::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace collbench::launch
