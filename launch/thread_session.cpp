#include "launch/thread_session.hpp"

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace collbench::launch {

/// Where the threads of one process meet. What one of them leaves here is read between two meetings.
struct MeetingPoint {
  MeetingPoint(Ranks& between_processes, int threads)
      : processes(between_processes),
        barrier(threads),
        texts(static_cast<std::size_t>(threads)),
        bytes(static_cast<std::size_t>(threads)),
        values(static_cast<std::size_t>(threads)) {}

  Ranks& processes;
  std::barrier<> barrier;
  std::vector<std::string> texts;  // by thread, as the next two
  std::vector<std::span<std::byte>> bytes;
  std::vector<std::span<double>> values;
  std::vector<std::string> texts_of_all;

  [[nodiscard]] int threads() const { return static_cast<int>(texts.size()); }
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(MeetingPoint& at, int thread, CallCounter& exchanges)
      : at_(at), thread_(thread), exchanges_(exchanges) {}

  [[nodiscard]] int rank() const override { return at_.processes.rank() * at_.threads() + thread_; }
  [[nodiscard]] int size() const override { return at_.processes.size() * at_.threads(); }
  [[nodiscard]] int number_in_run(int rank) const override {
    return at_.processes.number_in_run(rank / at_.threads()) * at_.threads() + rank % at_.threads();
  }

  void barrier() override {
    meet([this] { at_.processes.barrier(); });
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    own(at_.bytes) = bytes;
    meet([&] {
      const int process = root / at_.threads();
      if (at_.processes.rank() == process) copy(at_.bytes[index(root % at_.threads())], bytes);
      at_.processes.broadcast(bytes, process);
      for (const std::span<std::byte>& to : at_.bytes) copy(bytes, to);
    });
  }

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    own(at_.texts) = text;
    meet([this] { at_.texts_of_all = unpacked_all(at_.processes.all_gather(packed(at_.texts))); });
    return at_.texts_of_all;  // which nobody writes before all have met again
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    own(at_.texts) = text;
    std::vector<std::string> texts;
    meet([&] { texts = unpacked_all(at_.processes.gather(packed(at_.texts))); });
    return texts;
  }

  void reduce(std::span<double> values, RankAggregate how) override {
    own(at_.values) = values;
    meet([&] {
      for (int thread = 1; thread < at_.threads(); ++thread) combine(values, at_.values[index(thread)], how);
      at_.processes.reduce(values, how);
      if (how == RankAggregate::average)  // over the processes, of sums over their threads
        for (double& value : values) value /= at_.threads();
      for (int thread = 1; thread < at_.threads(); ++thread)
        std::ranges::copy(values, at_.values[index(thread)].begin());
    });
  }

  /// All threads of the process come, one of them does `work` with the other processes, and all go on.
  template <typename Work>
  void meet(const Work& work) const {
    const CountedCall counted(exchanges_);
    at_.barrier.arrive_and_wait();
    if (thread_ == 0) work();
    at_.barrier.arrive_and_wait();
  }

 private:
  [[nodiscard]] static std::size_t index(int thread) { return static_cast<std::size_t>(thread); }

  template <typename Value>
  [[nodiscard]] Value& own(std::vector<Value>& by_thread) const {
    return by_thread[index(thread_)];
  }

  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.data() != to.data()) std::ranges::copy(from, to.begin());
  }

  [[nodiscard]] static std::vector<std::string> unpacked_all(const std::vector<std::string>& of_processes) {
    std::vector<std::string> all;
    for (const std::string& each : of_processes) std::ranges::move(unpacked(each), std::back_inserter(all));
    return all;
  }

  MeetingPoint& at_;
  int thread_;
  CallCounter& exchanges_;
};

/// Those of one group of processes, as long as all threads may use them.
struct GroupOfProcesses {
  GroupOfProcesses(std::unique_ptr<Ranks> between_processes, int threads)
      : processes(std::move(between_processes)), point(*processes, threads) {}

  std::unique_ptr<Ranks> processes;
  MeetingPoint point;
};

struct ThreadSessions::Shared {
  Shared(const Session& between_processes, int threads)
      : processes(between_processes),
        host(between_processes.host()),
        library(between_processes.library()),
        point(between_processes.ranks(), threads) {}

  const Session& processes;
  std::string host;
  std::string library;
  MeetingPoint point;
  std::vector<int> groups_asked_for = std::vector<int>(point.texts.size());  // by thread
  std::deque<GroupOfProcesses> groups;
  int leader = 0;
  SteadySeconds clock;
};

namespace {

class ThreadSession : public Session {
 public:
  ThreadSession(ThreadSessions::Shared& shared, int thread, CallCounter& exchanges)
      : shared_(shared), thread_(thread), exchanges_(exchanges), ranks_(shared.point, thread, exchanges) {}

  [[nodiscard]] Ranks& ranks() const override { return ranks_; }

  /// Of processes, whose threads all have to be in one group: MPI may be called by one of them only.
  [[nodiscard]] std::unique_ptr<Ranks> ranks_of(int group) const override {
    shared_.groups_asked_for[static_cast<std::size_t>(thread_)] = group;
    ranks_.meet([&] {
      const auto& asked = shared_.groups_asked_for;
      if (std::ranges::any_of(asked, [&](int each) { return each != group; }))
        throw Error(ExitStatus::internal, "groups of ranks", "the threads of a process are in several",
                    "report this");
      shared_.groups.emplace_back(shared_.processes.ranks_of(group), shared_.point.threads());
    });
    return std::make_unique<ThreadRanks>(shared_.groups.back().point, thread_, exchanges_);
  }

  [[nodiscard]] const Clock& clock() const override { return shared_.clock; }
  [[nodiscard]] std::string host() const override { return shared_.host; }

  [[nodiscard]] int shared_memory_leader() const override {
    ranks_.meet(
        [this] { shared_.leader = shared_.processes.shared_memory_leader() * shared_.point.threads(); });
    return shared_.leader;
  }

  /// Only one of the ranks of a process may call it.
  [[nodiscard]] bool has_mpi() const override { return false; }
  [[nodiscard]] std::string library() const override { return shared_.library; }

  [[noreturn]] void abort(int status) const override {
    // MPI is thread 0's; a launcher ends the others of a job whose process ends without MPI_Finalize.
    if (thread_ != 0 || shared_.processes.ranks().size() == 1) std::_Exit(status);
    shared_.processes.abort(status);
    std::abort();  // GCC does not see that a virtual function never returns
  }

 private:
  ThreadSessions::Shared& shared_;
  int thread_;
  CallCounter& exchanges_;
  mutable ThreadRanks ranks_;
};

}  // namespace

ThreadSessions::ThreadSessions(const Session& processes, int threads)
    : shared_(std::make_unique<Shared>(processes, threads)) {}

ThreadSessions::~ThreadSessions() = default;

std::unique_ptr<Session> ThreadSessions::session(int thread, CallCounter& exchanges) {
  return std::make_unique<ThreadSession>(*shared_, thread, exchanges);
}

}  // namespace collbench::launch
