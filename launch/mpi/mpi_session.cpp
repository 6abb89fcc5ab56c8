#include "launch/mpi/mpi_session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/host_name.hpp"

namespace collbench::launch {

void check_mpi(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ExitStatus::rank_lost, std::string(call),
              std::string(text.data(), static_cast<std::size_t>(length)), "see MPI's own messages above");
}

class MpiSession::MpiClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return MPI_Wtime(); }
};

MpiSession::MpiSession(int* argc, char*** argv, CallCounter& exchanges) : exchanges_(exchanges) {
  // Not MPI_THREAD_FUNNELED, which is what the standard asks for beside the watchdog's thread and, on GPUs,
  // the telemetry's: with it 8 B over shared memory take Open MPI 4.1.4 at least 1.2 times as long, and OSU
  // and IMB start MPI this way (docs/notes/benchmarks.md). Neither thread calls MPI; libraries start threads
  // of their own, too.
  {
    const CountedCall counted(exchanges);
    check_mpi(MPI_Init(argc, argv), "MPI_Init");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ranks_ = make_mpi_ranks(exchanges);
  clock_ = std::make_unique<MpiClock>();
}

MpiSession::~MpiSession() {
  ranks_.reset();
  MPI_Finalize();
}

Ranks& MpiSession::ranks() const { return *ranks_; }

std::unique_ptr<Ranks> MpiSession::ranks_of(int group) const { return make_mpi_ranks(exchanges_, group); }

const Clock& MpiSession::clock() const { return *clock_; }

std::string MpiSession::host() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return legal_host_name({name.data(), static_cast<std::size_t>(length)});
}

int MpiSession::shared_memory_leader() const {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks_->rank(), MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  int leader = ranks_->rank();
  const int code = MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  check_mpi(code, "MPI_Bcast");
  return leader;
}

std::string MpiSession::library_version() {
  // As much as any MPI writes: where another one is preloaded, this is how that shows.
  constexpr std::size_t kMaxOfMpich = 8192;
  std::array<char, std::max<std::size_t>(MPI_MAX_LIBRARY_VERSION_STRING, kMaxOfMpich)> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view version(text.data(), static_cast<std::size_t>(length));
  constexpr std::string_view kMpich = "MPICH Version:\t";
  if (version.starts_with(kMpich))
    return fmt::format("MPICH {}", version.substr(kMpich.size(), version.find('\n') - kMpich.size()));
  return std::string(version.substr(0, version.find_first_of(",\n")));
}

void MpiSession::abort(int status) const {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace collbench::launch
