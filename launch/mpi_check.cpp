#include "launch/mpi_check.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <string>

#include "base/error.hpp"

namespace collbench {

void check_mpi(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(
      ExitStatus::rank_lost, std::string(call),
      fmt::format("MPI failed: {}", std::string_view(text.data(), static_cast<std::size_t>(length))),
      "look at the messages above of MPI itself, and run with fewer operations to find the one that fails");
}

}  // namespace collbench
