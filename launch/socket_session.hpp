#pragma once
#include <functional>
#include <memory>
#include <string>

#include "launch/flight/flight_page.hpp"
#include "launch/rendezvous.hpp"
#include "launch/session.hpp"

namespace collbench::launch {

/// How a rank waits for the others.
struct MeetingPatience {
  double seconds = 300;  ///< 0: as long as it takes
  /// Told once on rank 0, when it has waited for some seconds: for whom, and where.
  std::function<void(const std::string&)> waits = [](const std::string&) {};
};

/// The ranks of `rendezvous` over TCP, through rank 0, which listens at its first free port until all have
/// come. Whoever does not begin with the job's word is disconnected without an answer; a rank that comes
/// twice, or with another number of ranks, is an error there. A rank that is gone, or was ended by abort, is
/// an Error (rank_lost) with its number and host on all that wait for it. Meant for what the harness
/// exchanges outside of timed parts: each call takes a time that grows with the ranks. Throws Error: not_here
/// where rank 0 can have no port, rank_lost when the time is up, with who is missing, or with what was found
/// instead of rank 0. `exchanges` counts the calls between ranks and must outlive it.
[[nodiscard]] std::unique_ptr<Session> make_socket_session(const Rendezvous& rendezvous,
                                                           const MeetingPatience& patience,
                                                           CallCounter& exchanges);

}  // namespace collbench::launch
