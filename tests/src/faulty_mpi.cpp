// A library to preload: spoils the last element that an MPI call delivers on rank 1, makes a rank late, lets
// one hang or gives MPI a wrong count, through MPI's profiling interface.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>

namespace {

/// The calls that can be spoiled. Each flips the bits of its own number, from 1, in a float's lowest ones: a
/// wrong element tells which call it came from (main_job_test.py has the same list).
constexpr std::array kCalls = {
    "MPI_Allreduce", "MPI_Allgather", "MPI_Reduce_scatter", "MPI_Alltoall", "MPI_Sendrecv", "MPI_Alltoallv",
    "MPI_Bcast",     "MPI_Reduce",    "MPI_Gather",         "MPI_Scatter",  "MPI_Recv"};

unsigned char bits_of(const char* call) {
  unsigned char number = 1;
  for (const char* known : kCalls) {
    if (std::strcmp(known, call) == 0) return number;
    ++number;
  }
  std::abort();
}

/// Whether AllToAllv was called: a run does so in its rows only.
bool has_measured = false;

/// What FAULTY_MPI_CALL names: one call, or "all".
bool is_spoiled(const char* call) {
  const char* chosen = std::getenv("FAULTY_MPI_CALL");
  return chosen != nullptr && (std::strcmp(chosen, call) == 0 || std::strcmp(chosen, "all") == 0);
}

void spoil(const char* call, MPI_Comm communicator, void* buffer, long elements, MPI_Datatype type) {
  int rank = 0;
  int bytes = 0;
  PMPI_Comm_rank(communicator, &rank);
  PMPI_Type_size(type, &bytes);
  // The measured operations move floats; the harness's own messages are chars, ints and doubles.
  if (!is_spoiled(call) || rank != 1 || type != MPI_FLOAT || elements == 0) return;
  auto* const last = static_cast<unsigned char*>(buffer) + (elements - 1) * bytes;
  last[0] ^= bits_of(call);
}

/// Keeps rank FAULTY_MPI_LATE busy for 50 us, or FAULTY_MPI_SECONDS, where FAULTY_MPI_WHERE says so:
/// "between" calls (after an AllReduce), inside every "message", or before each "step".
void be_late(const char* where) {
  const char* rank = std::getenv("FAULTY_MPI_LATE");
  const char* chosen = std::getenv("FAULTY_MPI_WHERE");
  int own = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (rank == nullptr || chosen == nullptr || std::atoi(rank) != own || std::strcmp(chosen, where) != 0)
    return;
  const char* seconds = std::getenv("FAULTY_MPI_SECONDS");
  const double until = PMPI_Wtime() + (seconds == nullptr ? 50e-6 : std::atof(seconds));
  while (PMPI_Wtime() < until) continue;
}

/// Stops rank FAULTY_MPI_STOP, as a debugger would: inside a measured call, as soon as the file
/// FAULTY_MPI_STOP_FILE is there, or in its first call of FAULTY_MPI_STOP_IN.
void stop_inside(MPI_Datatype type) {
  const char* rank = std::getenv("FAULTY_MPI_STOP");
  int own = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (rank == nullptr || type != MPI_FLOAT || std::atoi(rank) != own) return;
  const char* file = std::getenv("FAULTY_MPI_STOP_FILE");
  if (file != nullptr && access(file, F_OK) == 0) std::raise(SIGSTOP);
}

void stop_in(const char* call) {
  const char* rank = std::getenv("FAULTY_MPI_STOP");
  const char* chosen = std::getenv("FAULTY_MPI_STOP_IN");
  int own = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (rank == nullptr || chosen == nullptr || std::atoi(rank) != own) return;
  if (std::strcmp(chosen, call) == 0) std::raise(SIGSTOP);
}

/// What rank FAULTY_MPI_HALF_COUNT gives MPI for 256 floats, which are 1 KiB: half of them, less than the
/// others send it.
int count_of(int count, MPI_Datatype type) {
  const char* rank = std::getenv("FAULTY_MPI_HALF_COUNT");
  int own = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  return rank != nullptr && std::atoi(rank) == own && type == MPI_FLOAT && count == 256 ? count / 2 : count;
}

/// Whether this rank, FAULTY_MPI_RANK, does `what` (FAULTY_MPI_ONCE) now: once, in the first measured call
/// after the file FAULTY_MPI_FILE is there. "memory" and "file" are what the program itself may run into
/// there.
bool once(const char* what, MPI_Datatype type) {
  static bool done = false;
  const char* rank = std::getenv("FAULTY_MPI_RANK");
  const char* chosen = std::getenv("FAULTY_MPI_ONCE");
  const char* file = std::getenv("FAULTY_MPI_FILE");
  if (done || rank == nullptr || chosen == nullptr || file == nullptr || type != MPI_FLOAT) return false;
  int own = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (std::atoi(rank) != own || std::strcmp(chosen, what) != 0 || access(file, F_OK) != 0) return false;
  done = true;
  return true;
}

/// Rank FAULTY_MPI_RANK hangs before it starts MPI, where FAULTY_MPI_ONCE is "init".
void hang_in_init() {
  const char* rank = std::getenv("FAULTY_MPI_RANK");
  const char* chosen = std::getenv("FAULTY_MPI_ONCE");
  const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr || chosen == nullptr || own == nullptr) return;
  while (std::strcmp(chosen, "init") == 0 && std::strcmp(rank, own) == 0) pause();
}

int ranks_of(MPI_Comm communicator) {
  int ranks = 1;
  PMPI_Comm_size(communicator, &ranks);
  return ranks;
}

}  // namespace

extern "C" {

int MPI_Init(int* count, char*** arguments) {
  hang_in_init();
  return PMPI_Init(count, arguments);
}

int MPI_Pcontrol(const int /*level*/, ...) {
  be_late("step");
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm* duplicate) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  while (std::getenv("FAULTY_MPI_HANG") != nullptr && rank == 1) pause();  // a signal ends one pause
  return PMPI_Comm_dup(communicator, duplicate);
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm communicator) {
  stop_inside(type);
  if (once("skip", type)) return MPI_SUCCESS;
  if (once("memory", type)) throw std::bad_alloc();
  if (once("file", type))
    throw std::filesystem::filesystem_error("open", "/gone", std::make_error_code(std::errc::io_error));
  // What the others send does not fit: with longer messages Open MPI itself writes behind the buffer.
  if (count == 2 && once("count", type)) count = 1;
  const int code = PMPI_Allreduce(send, receive, count_of(count, type), type, op, communicator);
  spoil("MPI_Allreduce", communicator, receive, count, type);
  be_late("between");
  return code;
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                  MPI_Datatype type, MPI_Comm communicator) {
  const int code = PMPI_Allgather(send, send_count, send_type, receive, count, type, communicator);
  spoil("MPI_Allgather", communicator, receive, static_cast<long>(count) * ranks_of(communicator), type);
  return code;
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm communicator) {
  const int code = PMPI_Reduce_scatter(send, receive, counts, type, op, communicator);
  spoil("MPI_Reduce_scatter", communicator, receive, counts[1], type);
  return code;
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                 MPI_Datatype type, MPI_Comm communicator) {
  const int code = PMPI_Alltoall(send, send_count, send_type, receive, count, type, communicator);
  spoil("MPI_Alltoall", communicator, receive, static_cast<long>(count) * ranks_of(communicator), type);
  return code;
}

int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag,
                 void* receive, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                 MPI_Status* status) {
  stop_in("MPI_Sendrecv");
  const int code = PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, count, type, from, tag,
                                 communicator, status);
  spoil("MPI_Sendrecv", communicator, receive, count, type);
  return code;
}

int MPI_Alltoallv(const void* send, const int send_counts[], const int send_displacements[],
                  MPI_Datatype send_type, void* receive, const int counts[], const int displacements[],
                  MPI_Datatype type, MPI_Comm communicator) {
  const int code = PMPI_Alltoallv(send, send_counts, send_displacements, send_type, receive, counts,
                                  displacements, type, communicator);
  has_measured = true;
  const int last = ranks_of(communicator) - 1;
  spoil("MPI_Alltoallv", communicator, receive, static_cast<long>(displacements[last]) + counts[last], type);
  return code;
}

int MPI_Recv(void* receive, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
             MPI_Status* status) {
  const int code = PMPI_Recv(receive, count, type, from, tag, communicator, status);
  spoil("MPI_Recv", communicator, receive, count, type);
  return code;
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  const int code = PMPI_Bcast(data, count, type, root, communicator);
  spoil("MPI_Bcast", communicator, data, count, type);
  return code;
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm communicator) {
  const int code = PMPI_Reduce(send, receive, count, type, op, root, communicator);
  if (root == 1) spoil("MPI_Reduce", communicator, receive, count, type);
  return code;
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
               MPI_Datatype type, int root, MPI_Comm communicator) {
  const int code = PMPI_Gather(send, send_count, send_type, receive, count, type, root, communicator);
  const long elements = static_cast<long>(count) * ranks_of(communicator);
  if (root == 1) spoil("MPI_Gather", communicator, receive, elements, type);
  return code;
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                MPI_Datatype type, int root, MPI_Comm communicator) {
  const int code = PMPI_Scatter(send, send_count, send_type, receive, count, type, root, communicator);
  spoil("MPI_Scatter", communicator, receive, count, type);
  return code;
}

/// The clock that goes on while a machine is suspended, as this one is for FAULTY_MPI_SUSPENDED seconds while
/// a run measures.
int clock_gettime(clockid_t clock_id, timespec* tp) noexcept {
  using Gettime = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Gettime>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int code = real(clock_id, tp);
  const char* const seconds =
      has_measured && clock_id == CLOCK_BOOTTIME ? std::getenv("FAULTY_MPI_SUSPENDED") : nullptr;
  if (seconds != nullptr) tp->tv_sec += std::atoll(seconds);
  return code;
}

/// The time of day, which somebody sets FAULTY_MPI_TIME seconds ahead while a run measures.
std::time_t time(std::time_t* timer) noexcept {
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  const char* const step = has_measured ? std::getenv("FAULTY_MPI_TIME") : nullptr;
  const std::time_t seconds = real.tv_sec + (step == nullptr ? 0 : std::atoll(step));
  if (timer != nullptr) *timer = seconds;
  return seconds;
}

int MPI_Send(const void* send, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  be_late("message");
  return PMPI_Send(send, count, type, to, tag, communicator);
}

}  // extern "C"
