#include "topology/doctor/logged_errors.hpp"

#include <algorithm>
#include <array>

namespace collbench::topology {
namespace {

/// What is in every line of a kind, whatever its numbers and names are.
struct Phrase {
  LoggedError error;
  std::string_view part;
  std::string_view also = {};  ///< as well, anywhere in the line
};

/// Behind each the source of the words: a file of NCCL, or another program.
constexpr std::array<Phrase, 32> kPhrases{{
    {LoggedError::shared_memory, "Error while", "shared memory segment"},  // misc/shmutils.cc
    {LoggedError::shared_memory, "NCCL WARN Call to posix_fallocate", "failed"},
    {LoggedError::shared_memory, "NCCL WARN Call to shm_open", "failed"},
    {LoggedError::no_interface, "no socket interface found"},                        // bootstrap.cc
    {LoggedError::no_interface, "No usable listening interface found"},              // bootstrap.cc
    {LoggedError::no_interface, "No interface found in the same subnet"},            // misc/socket.cc
    {LoggedError::no_interface, "Socket creation failed", "Address family not"},     // misc/socket.cc
    {LoggedError::connection, "socketStartConnect: Connect to", " failed"},          // misc/socket.cc
    {LoggedError::connection, "socketStartConnect: exceeded"},                       // misc/socket.cc
    {LoggedError::connection, "connect", "exceeded error retry count"},              // misc/socket.cc
    {LoggedError::connection, "WARN Net : Connect to", " failed"},                   // misc/socket.cc
    {LoggedError::connection, "WARN Call to connect", " failed"},                    // include/socket.h
    {LoggedError::connection, "mca_btl_tcp_endpoint", "connect() to"},               // Open MPI 4, btl/tcp
    {LoggedError::ranks_disagree, "is neither AF_INET(2) nor AF_INET6(10)"},         // misc/socket.cc
    {LoggedError::ranks_disagree, "collective mismatch error"},                      // transport/net_ib.cc
    {LoggedError::ranks_disagree, "Mismatched NCCL version"},                        // init.cc
    {LoggedError::ranks_disagree, "Message truncated : received"},                   // bootstrap.cc
    {LoggedError::ranks_disagree, "socketFinalizeAccept: wrong type"},               // misc/socket.cc
    {LoggedError::gpu_twice, "Duplicate GPU detected"},                              // init.cc
    {LoggedError::port_error, "NET/IB", "event: port error"},                        // transport/net_ib.cc
    {LoggedError::port_error, "NET/IB", "event : port error"},                       // before NCCL 2.23
    {LoggedError::queue_pair, "Call to ibv_modify_qp failed"},                       // misc/ibvwrap.cc
    {LoggedError::device_denied, "Call to ibv_open_device failed"},                  // misc/ibvwrap.cc
    {LoggedError::device_denied, "NET/IB : Unable to open device"},                  // transport/net_ib.cc
    {LoggedError::no_provider, "NET/OFI", "Could not find any optimal provider"},    // aws-ofi-nccl 1.0
    {LoggedError::no_provider, "NET/OFI", "No eligible providers were found"},       // aws-ofi-nccl
    {LoggedError::no_provider, "NET/OFI", "Unable to find a protocol that worked"},  // aws-ofi-nccl
    {LoggedError::many_peers, "peer mapping resources exhausted"},                   // CUDA error 711
    {LoggedError::fabric_not_ready, "system not yet initialized"},                   // CUDA error 802
    {LoggedError::gpu_memory, "NCCL WARN Cuda failure", "out of memory"},            // include/alloc.h
    {LoggedError::old_driver, "CUDA driver version is insufficient"},                // CUDA error 35
    {LoggedError::no_numa_placement, "cuMem host allocations do not appear to be work"},  // init.cc
}};

bool matches(std::string_view line, const Phrase& phrase) {
  return line.find(phrase.part) != std::string_view::npos && line.find(phrase.also) != std::string_view::npos;
}

}  // namespace

bool says(std::string_view line, LoggedError error) {
  return std::any_of(kPhrases.begin(), kPhrases.end(), [line, error](const Phrase& phrase) {
    return phrase.error == error && matches(line, phrase);
  });
}

bool says_any_error(std::string_view line) {
  return std::any_of(kPhrases.begin(), kPhrases.end(),
                     [line](const Phrase& phrase) { return matches(line, phrase); });
}

}  // namespace collbench::topology
