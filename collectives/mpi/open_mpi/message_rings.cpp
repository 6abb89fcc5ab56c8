#include "collectives/mpi/open_mpi/message_rings.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives {
namespace {

// The ring, as opal/mca/btl/vader/btl_vader_fbox.h of Open MPI 4.1 has it: 4,096 B in cells of 32 B, the
// first of which is not used. A message takes the whole cells that its bytes, 16 B of ob1's header and 8 B of
// the ring's need. Where it does not fit before the end, it begins behind the first cell; that brings the
// positions it may have come from closer together, and so aligns. Messages of more than 256 B take one cell,
// whatever their size, since they lie elsewhere. 16 messages of 7 cells and one of 8, 18 times, is the
// shortest sequence that repeats i messages of one size and j of another and brings all 127 cells to one.
constexpr int kRounds = 18;
constexpr int kMessagesOfRound = 16;
constexpr int kHeaderBytes = 24;
constexpr int kCellBytes = 32;
constexpr int kSmaller = 7 * kCellBytes - kHeaderBytes;
constexpr int kLarger = 8 * kCellBytes - kHeaderBytes;

constexpr std::uint64_t kMinCallsPerMessage = 10;

}  // namespace

std::vector<int> ring_alignment_messages() {
  std::vector<int> messages;
  for (int round = 0; round < kRounds; ++round) {
    messages.insert(messages.end(), kMessagesOfRound, kSmaller);
    messages.push_back(kLarger);
  }
  return messages;
}

void align_message_rings(MPI_Comm communicator) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  const std::array<char, kLarger> sent{};
  std::array<char, kLarger> received{};
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int peer = rank ^ distance;
    if (peer >= ranks) continue;
    for (const int bytes : ring_alignment_messages()) {
      launch::check_mpi(MPI_Sendrecv(sent.data(), bytes, MPI_BYTE, peer, 0, received.data(), bytes, MPI_BYTE,
                                     peer, 0, communicator, MPI_STATUS_IGNORE),
                        "MPI_Sendrecv");
    }
  }
}

bool is_worth_aligning(std::uint64_t iterations, int ranks) {
  const auto peers =
      static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(std::max(ranks, 1) - 1)));
  constexpr std::uint64_t kMessages = std::uint64_t{kRounds} * (kMessagesOfRound + 1);
  return peers > 0 && iterations >= kMinCallsPerMessage * kMessages * peers;
}

}  // namespace collbench::collectives
