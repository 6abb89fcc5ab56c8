// The least that an AllReduce of S bytes of float needs: MPI, two buffers, the call. Prints its peak memory
// in KiB, to set collbench's beside it (docs/notes/benchmarks.md). Usage: mpirun -np N bare_loop BYTES
#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::size_t count = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 8) / sizeof(float);
  std::vector<float> send(count, 1.0F);
  std::vector<float> receive(count);
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%ld KiB\n", usage.ru_maxrss);
  MPI_Finalize();
  return 0;
}
