
#include <mpi.h>

#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "launch/mpi/mpi_session.hpp"
#include "launch/ranks.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {
namespace {

/// Throws Error (rank_lost) beyond what MPI's counts can say.
int message_size(std::size_t bytes) {
  if (std::in_range<int>(bytes)) return static_cast<int>(bytes);
  throw Error(ExitStatus::rank_lost, "launch", "the ranks' messages are more than 2 GiB in total",
              "measure fewer rows at a time");
}

/// Over a communicator of its own, so that the harness's messages never meet the measured ones.
class MpiRanks : public Ranks {
 public:
  MpiRanks(CallCounter& exchanges, std::optional<int> group) : exchanges_(exchanges) {
    const CountedCall counted(exchanges_);
    if (group) {
      check_mpi(MPI_Comm_split(MPI_COMM_WORLD, *group, 0, &communicator_), "MPI_Comm_split");
    } else {
      check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
    }
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
    if (group) numbers_in_run_ = numbers_in_run();
    exact_barrier_ = exact_barrier(*this);
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  ~MpiRanks() override { MPI_Comm_free(&communicator_); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] int number_in_run(int rank) const override {
    return numbers_in_run_.empty() ? rank : numbers_in_run_[static_cast<std::size_t>(rank)];
  }

  void barrier() override {
    const CountedCall counted(exchanges_);
    if (exact_barrier_) {
      exact_barrier_();
    } else {
      check_mpi(MPI_Barrier(communicator_), "MPI_Barrier");
    }
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    const CountedCall counted(exchanges_);
    check_mpi(MPI_Bcast(bytes.data(), message_size(bytes.size()), MPI_BYTE, root, communicator_),
              "MPI_Bcast");
  }

  /// To rank 0 and from there to all: as many messages as ranks, where an all-to-all exchange may take the
  /// square of that (SMPI's MPI_Allgather does).
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    return unpacked(broadcast_text(*this, packed(gather(text))));
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> texts{text};  // of this rank and the next ones
    climb_tree(
        [&](int from) {
          std::vector<std::string> next = unpacked(receive_text(from));
          std::move(next.begin(), next.end(), std::back_inserter(texts));
        },
        [&](int to) { send_text(packed(texts), to); });
    if (rank_ != 0) return {};
    return texts;
  }

  void reduce(std::span<double> values, RankAggregate how) override {
    if (how != RankAggregate::rank0) {
      std::vector<double> others(values.size());
      climb_tree(
          [&](int from) {
            receive(std::as_writable_bytes(std::span(others)), from);
            combine(values, others, how);
          },
          [&](int to) { send(std::as_bytes(values), to); });
    }
    broadcast(std::as_writable_bytes(values), 0);
    if (how == RankAggregate::average) {
      for (double& value : values) value /= size_;
    }
  }

 private:
  [[nodiscard]] std::vector<int> numbers_in_run() const {
    std::vector<int> own_numbers(static_cast<std::size_t>(size_));
    std::iota(own_numbers.begin(), own_numbers.end(), 0);
    std::vector<int> numbers(own_numbers.size());
    MPI_Group own = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(communicator_, &own);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(own, size_, own_numbers.data(), all, numbers.data());
    MPI_Group_free(&own);
    MPI_Group_free(&all);
    return numbers;
  }

  /// Up a binomial tree to rank 0: `take(rank)` for each rank below this one, the nearest first, then
  /// `give(rank)` to the one above. No rank meets more than log2 of the ranks, and as many messages as ranks
  /// do. MPI_Gatherv has all send to rank 0, in Open MPI and in SMPI, and SMPI's MPI_Allreduce does so, too.
  template <typename Take, typename Give>
  void climb_tree(const Take& take, const Give& give) const {
    for (int distance = 1; distance < size_; distance *= 2) {
      if ((rank_ & distance) != 0) return give(rank_ - distance);
      if (rank_ + distance < size_) take(rank_ + distance);
    }
  }

  void send(std::span<const std::byte> bytes, int to) const {
    const CountedCall counted(exchanges_);
    check_mpi(MPI_Send(bytes.data(), message_size(bytes.size()), MPI_BYTE, to, 0, communicator_), "MPI_Send");
  }

  void receive(std::span<std::byte> bytes, int from) const {
    const CountedCall counted(exchanges_);
    check_mpi(MPI_Recv(bytes.data(), message_size(bytes.size()), MPI_BYTE, from, 0, communicator_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
  }

  /// Its size goes ahead of it: to wait for a message of any size, SMPI lets time pass.
  void send_text(const std::string& text, int to) const {
    const int size = message_size(text.size());
    send(std::as_bytes(std::span(&size, 1)), to);
    send(std::as_bytes(std::span(text)), to);
  }

  [[nodiscard]] std::string receive_text(int from) const {
    int size = 0;
    receive(std::as_writable_bytes(std::span(&size, 1)), from);
    std::string text(static_cast<std::size_t>(size), '\0');
    receive(std::as_writable_bytes(std::span(text)), from);
    return text;
  }

  CallCounter& exchanges_;
  std::function<void()> exact_barrier_;  // where there is one
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<int> numbers_in_run_;  // of a group, asked once: threads that may not call MPI want to know
};

}  // namespace

std::unique_ptr<Ranks> make_mpi_ranks(CallCounter& exchanges) {
  return std::make_unique<MpiRanks>(exchanges, std::nullopt);
}

std::unique_ptr<Ranks> make_mpi_ranks(CallCounter& exchanges, int group) {
  return std::make_unique<MpiRanks>(exchanges, group);
}

}  // namespace collbench::launch
