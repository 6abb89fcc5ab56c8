// log_error_checks() of checks.hpp: what NCCL, its plugins, CUDA and Open MPI say when a job fails.
#include <algorithm>
#include <array>

#include "topology/doctor/logged_errors.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

template <LoggedError error>
DoctorVerdict look_for(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) { return says(line, error); });
}

/// The plugin asks libfabric once for each of its protocols: where one was found, the others do not matter.
DoctorVerdict look_for_provider(const Evidence& evidence) {
  const auto& log = evidence.of("nccl-log");
  const bool selected = std::any_of(log.begin(), log.end(), [](const EvidenceLine& line) {
    return has_text(line.text, "NET/OFI Selected provider is");
  });
  if (selected) return std::vector<DoctorObservation>();
  return look_for<LoggedError::no_provider>(evidence);
}

/// A NIC that NCCL could not open does not matter where it took others: a container sees all of the machine's
/// and may have some. Ranks that took sockets did without.
DoctorVerdict look_for_denied_device(const Evidence& evidence) {
  bool by_rdma = false;
  bool by_sockets = false;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    by_rdma = by_rdma || has_text(line.text, "Using network IB") || has_text(line.text, "NET/IB : Using [");
    by_sockets = by_sockets || has_text(line.text, "Using network Socket");
  }
  if (by_rdma && !by_sockets) return std::vector<DoctorObservation>();
  return look_for<LoggedError::device_denied>(evidence);
}

/// Errors of ibv_modify_qp, as strerror(3) words them, that say that the way to the other NIC, or the device
/// itself, is not there: ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, ENODEV. Any other may have many causes.
bool says_no_way(std::string_view line) {
  static constexpr std::array<std::string_view, 4> kErrors{"timed out", "unreachable", "No route to host",
                                                           "No such device"};
  return std::any_of(kErrors.begin(), kErrors.end(),
                     [line](std::string_view error) { return has_text(line, error); });
}

template <bool no_way>
DoctorVerdict look_for_queue_pairs(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    return says(line, LoggedError::queue_pair) && says_no_way(line) == no_way;
  });
}

constexpr std::array<DoctorCheck, 14> kLogErrorChecks{{
    {"log-shared-memory", DoctorSeverity::broken,
     "NCCL could not make or open shared memory between local ranks; the line says why, where it is known.",
     "a log with NCCL_DEBUG=WARN", "df -h /dev/shm ; ls -ld /dev/shm ; ls /dev/shm",
     "no space: docker run --shm-size=1g or --ipc=host, and remove what ended jobs left; permission denied: "
     "chmod 1777 /dev/shm; size 0: NCCL_CUMEM_HOST_ENABLE=0 on all ranks",
     "nccl#342, nccl#328 and nccl#2190 (confirmed)", look_for<LoggedError::shared_memory>},
    {"log-no-interface", DoctorSeverity::broken,
     "NCCL found no network interface to start with: NCCL_SOCKET_IFNAME or NCCL_COMM_ID fit none that is up, "
     "or the container has none.",
     "a log with NCCL_DEBUG=WARN", "ip -br addr ; env | grep -E 'NCCL_(SOCKET_IFNAME|COMM_ID)'",
     "name an interface of every node (by prefix, or =NAME), or unset it; docker run --network=host",
     "nccl-tests#14 (confirmed), nccl#331; NCCL user guide, NCCL_SOCKET_IFNAME",
     look_for<LoggedError::no_interface>},
    {"log-connection", DoctorSeverity::broken,
     "A rank could not connect to another by TCP: the address is not to be reached from there, a firewall "
     "drops it, or that rank had ended.",
     "a log with NCCL_DEBUG=WARN", "ip route get ADDRESS ; nc -zv ADDRESS PORT",
     "NCCL_SOCKET_IFNAME (OMPI_MCA_btl_tcp_if_include for MPI) = the network that joins the nodes; "
     "172.17.x.x "
     "is Docker's own bridge: docker run --network=host; else look for the first error of the other rank",
     "nccl#929, horovod#310", look_for<LoggedError::connection>},
    {"log-ranks-disagree", DoctorSeverity::broken,
     "What one rank sent makes no sense to another: their NCCL versions or NCCL_ settings differ, the "
     "collectives are called in another order, or NCCL_SOCKET_IFNAME names no interface.",
     "a log with NCCL_DEBUG=WARN", "grep -h 'NCCL version' LOG ; ldd PROGRAM | grep nccl (on each node)",
     "one NCCL and one environment on all nodes; check NCCL_SOCKET_IFNAME",
     "nccl#1267 (confirmed: versions), nccl#969 (confirmed: environment), nccl#1837 (confirmed: interface)",
     look_for<LoggedError::ranks_disagree>},
    {"log-gpu-twice", DoctorSeverity::broken, "Two ranks of a communicator have the same GPU.",
     "a log with NCCL_DEBUG=WARN", "print the local rank and CUDA_VISIBLE_DEVICES of each rank",
     "each rank takes the GPU of its local rank (cudaSetDevice before the first collective); one rank for "
     "each GPU",
     "NCCL user guide, using multiple NCCL communicators; D-FINE#289 (confirmed)",
     look_for<LoggedError::gpu_twice>},
    {"log-port-error", DoctorSeverity::broken, "An RDMA port went down while the job ran.",
     "a log with NCCL_DEBUG=WARN", "dmesg | grep mlx5 ; ibstat ; mlxlink -d DEVICE -e",
     "the cable or transceiver of the port that the line's host names, then the switch port",
     "nccl#905 (maintainer)", look_for<LoggedError::port_error>},
    {"log-queue-pair", DoctorSeverity::broken,
     "A NIC has no way to the other NIC: their addresses do not reach each other, or this container does not "
     "own the device.",
     "a log with NCCL_DEBUG=WARN", "show_gids on both nodes ; ping -I INTERFACE ADDRESS",
     "timed out or unreachable: a routed RoCE v2 address on both (unset NCCL_IB_GID_INDEX), and "
     "NCCL_CROSS_NIC=0 where rails are not joined; no such device: NCCL_IB_HCA = what show_gids lists in the "
     "container",
     "nccl#769, nccl#925 and nccl#2013 (confirmed)", look_for_queue_pairs<true>},
    {"log-queue-pair-refused", DoctorSeverity::broken,
     "A NIC refused a step of connecting to another NIC; the line may say why, and does not name the cause.",
     "a log with NCCL_DEBUG=WARN", "show_gids ; ibv_devinfo -v ; env | grep NCCL_IB ; dmesg | grep mlx5",
     "possible: a GID index that the port does not have (unset NCCL_IB_GID_INDEX), a service level or "
     "traffic "
     "class (NCCL_IB_SL, NCCL_IB_TC), an MTU above the port's, or no resources left on the NIC",
     "ibv_modify_qp(3)", look_for_queue_pairs<false>},
    {"log-device-denied", DoctorSeverity::slow,
     "NCCL could not open an RDMA device and does without it; the line says why, where it is known.",
     "a log with NCCL_DEBUG=WARN", "ls -l /dev/infiniband ; ulimit -l ; ibv_devinfo",
     "in a container, or where the line says that permission was denied: docker run "
     "--device=/dev/infiniband "
     "--cap-add=IPC_LOCK, in Kubernetes the resource of the RDMA device plugin; else dmesg | grep mlx5",
     "nccl#451", look_for_denied_device},
    {"log-no-provider", DoctorSeverity::slow,
     "The libfabric plugin (aws-ofi-nccl) found no network that it can use: NCCL takes sockets, or fails.",
     "a log with NCCL_DEBUG=INFO", "fi_info -p efa ; ls /dev/infiniband ; env | grep FI_",
     "give the container the EFA devices (vpc.amazonaws.com/efa), unset FI_PROVIDER, and install the "
     "libfabric "
     "that the plugin was built for",
     "nccl#229 (maintainer); aws-ofi-nccl", look_for_provider},
    {"log-many-peers", DoctorSeverity::broken,
     "One process maps the memory of more GPUs than CUDA allows without NVSwitch.",
     "a log with NCCL_DEBUG=WARN", "nvidia-smi topo -m",
     "one process for each GPU (nccl-tests: -g 1 under mpirun)",
     "CUDA C++ Programming Guide, peer-to-peer memory access: eight peer connections; nccl#241 (maintainer)",
     look_for<LoggedError::many_peers>},
    {"log-fabric-not-ready", DoctorSeverity::broken,
     "CUDA error 802: the GPUs are not ready. Where there are NVSwitches, the fabric manager does not run, "
     "or "
     "is of another version than the driver.",
     "a log of the job", "systemctl status nvidia-fabricmanager ; nvidia-smi -q | grep -A 4 Fabric",
     "install the fabric manager of the driver's version and start it",
     "gpustack#1254 and ollama#12136 (confirmed); CUDA runtime API, cudaErrorSystemNotReady",
     look_for<LoggedError::fabric_not_ready>},
    {"log-gpu-memory", DoctorSeverity::broken, "NCCL's buffers did not fit the memory of a GPU.",
     "a log with NCCL_DEBUG=WARN", "nvidia-smi (who else has the GPU's memory)",
     "end what else runs there, one rank for each GPU, and leave NCCL some memory: it grows with the number "
     "of "
     "peers and communicators",
     "nccl#1235; NCCL user guide, NCCL_BUFFSIZE", look_for<LoggedError::gpu_memory>},
    {"log-driver-old", DoctorSeverity::broken,
     "The driver is older than the CUDA that the program or NCCL was built with.", "a log of the job",
     "nvidia-smi (its CUDA version is the newest that the driver runs)",
     "a newer driver, CUDA's forward compatibility package, or a build for an older CUDA",
     "CUDA runtime API, cudaErrorInsufficientDriver", look_for<LoggedError::old_driver>},
}};

}  // namespace

std::span<const DoctorCheck> log_error_checks() { return kLogErrorChecks; }

}  // namespace collbench::topology
