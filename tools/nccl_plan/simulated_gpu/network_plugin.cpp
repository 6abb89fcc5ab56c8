// NCCL's network plugin of the simulated machine: its NICs, with their speeds and PCI addresses. Connections
// are there at once and carry nothing. By interface 6 (net_v6.h of NCCL's sources), which every NCCL
// from 2.13 to 2.30 takes.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/nccl_plan/simulated_gpu/process.hpp"

namespace collbench::simulated_gpu {
namespace {

/// ncclResult_t.
constexpr int kNcclSuccess = 0;
constexpr int kNcclInvalidArgument = 4;

/// NCCL_PTR_HOST, NCCL_PTR_CUDA, NCCL_PTR_DMABUF.
constexpr int kHostMemory = 1;
constexpr int kDeviceMemory = 2;
constexpr int kDmaBufMemory = 4;

constexpr std::size_t kHandleBytes = 128;  // NCCL_NET_HANDLE_MAXSIZE
constexpr int kMaxGroupedReceives = 8;     // NCCL_NET_MAX_REQUESTS_V6

/// ncclNetProperties_v6_t.
struct NicProperties {
  const char* name;
  const char* pci_path;
  std::uint64_t guid;
  int memory;
  int megabits_per_second;
  int port;
  float latency;
  int max_connections;
  int max_receives;
};

const std::vector<SimulatedNic>& nics() { return simulated_process().machine.nics; }

/// What every connection, memory registration and request is.
void* something() {
  static char it = 0;
  return &it;
}

namespace plugin {

int init(void* /*log*/) { return kNcclSuccess; }

int devices(int* count) {
  *count = static_cast<int>(nics().size());
  return kNcclSuccess;
}

/// NCCL finds the NIC by its name in the topology, so that the path need not be there.
int get_properties(int device, NicProperties* properties) {
  if (device < 0 || device >= static_cast<int>(nics().size())) return kNcclInvalidArgument;
  const SimulatedNic& nic = nics()[static_cast<std::size_t>(device)];
  *properties = {nic.name.c_str(),
                 nic.pci_path.c_str(),
                 nic.guid,
                 kHostMemory | (nic.gpudirect ? kDeviceMemory | kDmaBufMemory : 0),
                 nic.megabits_per_second,
                 nic.port,
                 nic.latency_microseconds,
                 nic.max_connections,
                 kMaxGroupedReceives};
  return kNcclSuccess;
}

int listen(int /*device*/, void* handle, void** connection) {
  std::memset(handle, 0, kHandleBytes);
  *connection = something();
  return kNcclSuccess;
}

int connect(int /*device*/, void* /*handle*/, void** connection) {
  *connection = something();
  return kNcclSuccess;
}

int accept(void* /*listening*/, void** connection) {
  *connection = something();
  return kNcclSuccess;
}

int register_memory(void* /*connection*/, void* /*data*/, int /*bytes*/, int /*type*/, void** registration) {
  *registration = something();
  return kNcclSuccess;
}

int register_dma_buf(void* /*connection*/, void* /*data*/, std::size_t /*bytes*/, int /*type*/,
                     std::uint64_t /*offset*/, int /*file*/, void** registration) {
  *registration = something();
  return kNcclSuccess;
}

int deregister(void* /*connection*/, void* /*registration*/) { return kNcclSuccess; }

int send(void* /*connection*/, void* /*data*/, int /*bytes*/, int /*tag*/, void* /*registration*/,
         void** request) {
  *request = something();
  return kNcclSuccess;
}

int receive(void* /*connection*/, int /*count*/, void** /*data*/, int* /*bytes*/, int* /*tags*/,
            void** /*registrations*/, void** request) {
  *request = something();
  return kNcclSuccess;
}

int flush(void* /*connection*/, int /*count*/, void** /*data*/, int* /*bytes*/, void** /*registrations*/,
          void** request) {
  *request = something();
  return kNcclSuccess;
}

int test(void* /*request*/, int* done, int* bytes) {
  *done = 1;
  if (bytes != nullptr) *bytes = 0;
  return kNcclSuccess;
}

int close_connection(void* /*connection*/) { return kNcclSuccess; }

}  // namespace plugin

/// ncclNet_v6_t.
struct NetworkPlugin {
  const char* name;
  decltype(&plugin::init) init;
  decltype(&plugin::devices) devices;
  decltype(&plugin::get_properties) get_properties;
  decltype(&plugin::listen) listen;
  decltype(&plugin::connect) connect;
  decltype(&plugin::accept) accept;
  decltype(&plugin::register_memory) register_memory;
  decltype(&plugin::register_dma_buf) register_dma_buf;
  decltype(&plugin::deregister) deregister;
  decltype(&plugin::send) send;
  decltype(&plugin::receive) receive;
  decltype(&plugin::flush) flush;
  decltype(&plugin::test) test;
  decltype(&plugin::close_connection) close_send;
  decltype(&plugin::close_connection) close_receive;
  decltype(&plugin::close_connection) close_listen;
};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the name is NCCL's.
extern "C" {
extern const NetworkPlugin ncclNetPlugin_v6;
const NetworkPlugin ncclNetPlugin_v6{"SIM",
                                     plugin::init,
                                     plugin::devices,
                                     plugin::get_properties,
                                     plugin::listen,
                                     plugin::connect,
                                     plugin::accept,
                                     plugin::register_memory,
                                     plugin::register_dma_buf,
                                     plugin::deregister,
                                     plugin::send,
                                     plugin::receive,
                                     plugin::flush,
                                     plugin::test,
                                     plugin::close_connection,
                                     plugin::close_connection,
                                     plugin::close_connection};
}
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
