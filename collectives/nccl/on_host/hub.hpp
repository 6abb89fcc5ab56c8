#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collectives/nccl/loader/nccl_library.hpp"

namespace collbench::collectives {

/// What a rank asks of the hub: one collective, or a group of sends and receives.
enum class Ask : std::int32_t {
  join,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  group,
  bye
};

struct AskHeader {
  Ask ask = Ask::join;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  NcclType type = NcclType::int8;
  NcclReduction reduction = NcclReduction::sum;
  std::int32_t root = 0;
  std::uint64_t count = 0;
  std::uint64_t sends = 0;     ///< of a group: how many SendHeaders follow
  std::uint64_t receives = 0;  ///< and how many after those
  std::uint64_t bytes = 0;     ///< of data, after the headers
};

/// One send or receive of a group; the data of the sends stand one behind the other.
struct PeerPart {
  std::int32_t peer = 0;
  std::uint64_t bytes = 0;
};

/// One operation, or all sends and receives of a group, and where this rank's data are.
struct DataOperation {
  AskHeader header;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t receive_bytes = 0;
  std::vector<std::pair<PeerPart, const void*>> sends;
  std::vector<std::pair<PeerPart, void*>> receives;

  /// Whether it can be part of a group's exchange.
  [[nodiscard]] bool exchanges() const { return header.ask == Ask::group; }
};

/// Listens on a Unix socket (`name` is a path where it begins with /, else of the abstract namespace), joins
/// as many ranks as the first of them says there are, and works out what each of them receives, from a thread
/// of its own. When a rank goes away without a bye, or ranks ask for different things or for what cannot be,
/// it hangs up on all. Another user's process, and what does not say in time which rank it is, are hung up on
/// alone. False on failure.
[[nodiscard]] bool start_hub(const std::string& name);

/// A connected socket, or -1; also where the hub is another user's.
[[nodiscard]] int connect_to_hub(const std::string& name);

/// Everything or nothing: false when the other end has hung up.
[[nodiscard]] bool send_all(int socket, const void* data, std::size_t bytes);
[[nodiscard]] bool receive_all(int socket, void* data, std::size_t bytes);

/// Asks the hub for the operation; true when this rank has what it receives.
[[nodiscard]] bool ask_hub(int socket, const DataOperation& operation);

[[nodiscard]] std::size_t element_bytes(NcclType type);

}  // namespace collbench::collectives
