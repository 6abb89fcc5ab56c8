#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace collbench::collectives {

/// Bytes of the messages, one after the other, that take a ring of Open MPI's shared memory to the same
/// position wherever it stood (message_rings.cpp says how).
[[nodiscard]] std::vector<int> ring_alignment_messages();

/// Sends those messages both ways between this rank and the one at each distance of 1, 2, 4, … (rank xor
/// distance) that the communicator has. Collective.
///
/// Open MPI passes small messages between two processes of a host through two rings in shared memory, one in
/// each direction. How long a call takes depends on how far apart the two stand, and that on every message
/// that ever went one way only, such as the harness's broadcasts. A program of nothing but AllReduces sends
/// as many each way, and has both at one position all the time (docs/notes/benchmarks.md, "Where the rings of
/// messages stand"). On other libraries, and between hosts, these are some messages of at most 256 B.
void align_message_rings(MPI_Comm communicator);

/// Whether `iterations` calls on so many ranks take at least ten times as long as aligning before them, given
/// that none of its exchanges takes much longer than a call.
[[nodiscard]] bool is_worth_aligning(std::uint64_t iterations, int ranks);

}  // namespace collbench::collectives
