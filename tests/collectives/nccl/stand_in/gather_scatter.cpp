#include "tests/collectives/nccl/stand_in/gather_scatter.hpp"

#include "collectives/nccl/on_host/hub.hpp"
#include "tests/collectives/nccl/stand_in/communicator.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace {

/// As groups of sends and receives, which the real ones are, too (NVIDIA/nccl v2.28.9-1, src/collectives.cc
/// and src/enqueue.cc). The root sends to itself as well. `count` elements each; peers' parts stand one
/// behind the other in the root's buffer.
NcclResult between_root_and_all(bool gathers, const void* send, void* receive, std::size_t count,
                                NcclType type, int root, NcclHandle communicator, CudaStreamHandle stream) {
  const std::size_t bytes = count * element_bytes(type);
  NcclResult result = ncclGroupStart();
  const auto go_on_with = [&](NcclResult next) {
    if (result == NcclResult::success) result = next;
  };
  if (gathers) go_on_with(ncclSend(send, count, type, root, communicator, stream));
  for (int peer = 0; communicator->rank == root && peer < communicator->ranks; ++peer) {
    const std::size_t at = static_cast<std::size_t>(peer) * bytes;
    go_on_with(gathers
                   ? ncclRecv(static_cast<char*>(receive) + at, count, type, peer, communicator, stream)
                   : ncclSend(static_cast<const char*>(send) + at, count, type, peer, communicator, stream));
  }
  if (!gathers) go_on_with(ncclRecv(receive, count, type, root, communicator, stream));
  const NcclResult end = ncclGroupEnd();
  return result == NcclResult::success ? end : result;
}

}  // namespace

NcclResult collbench::collectives::stand_in_gather(const void* send, void* receive, std::size_t count,
                                                   NcclType type, int root, NcclHandle communicator,
                                                   CudaStreamHandle stream) {
  return between_root_and_all(true, send, receive, count, type, root, communicator, stream);
}

NcclResult collbench::collectives::stand_in_scatter(const void* send, void* receive, std::size_t count,
                                                    NcclType type, int root, NcclHandle communicator,
                                                    CudaStreamHandle stream) {
  return between_root_and_all(false, send, receive, count, type, root, communicator, stream);
}
