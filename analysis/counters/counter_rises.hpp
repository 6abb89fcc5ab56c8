#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/telemetry/error_counters.hpp"

namespace collbench::analysis {

/// An error counter that went up between two looks at a host.
struct CounterRise {
  std::string phase;  ///< between whose beginning and end
  std::string host;
  std::string counter;  ///< "mlx5_0/1 symbol_error"
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  double seconds = 0;  ///< between the looks; negative: not known

  bool operator==(const CounterRise&) const = default;
};

enum class RiseGrade {
  noted,     ///< below the rate at which operators act, or of a counter for which none is known
  degraded,  ///< at a rate at which operators act
  fatal,     ///< of a counter that healthy parts leave alone
};
[[nodiscard]] std::string name(RiseGrade grade);

/// By the limits of NVSentinel's nic-health-monitor (docs/nic-health-monitor.md): any link_downed,
/// excessive_buffer_overrun_errors, local_link_integrity_errors, rnr_nak_retry_err is fatal; symbol_error
/// above 10 a second, link_error_recovery above 5 a minute, port_rcv_errors above 10 a second,
/// local_ack_timeout_err above 1, port_xmit_discards above 100, roce_slow_restart above 10 degrade, as do
/// more than 2 carrier_changes. By DCGM's health checks of NVLink and PCIe (dcgm_gpu_hardware_limits.h): any
/// replay and any recovery of an NVLink is fatal, 100 CRC errors a second degrade it, as do more than 8 PCIe
/// replays a minute. By the kernel (Documentation/PCI/pcieaer-howto.rst): aer_dev_fatal says that the link is
/// not reliable, and aer_dev_nonfatal that a transaction was lost: any of it degrades. Beside these: any
/// uncorrected ECC error and any Xid of broken hardware is fatal.
[[nodiscard]] RiseGrade grade_of(const CounterRise& rise);

/// What went up from one look to the next, worst first. A counter that fell was set back, one that is new had
/// no first look: neither says anything (counters_without_answer).
[[nodiscard]] std::vector<CounterRise> counter_rises(const topology::ErrorCounters& before,
                                                     const topology::ErrorCounters& after,
                                                     const std::string& phase);

/// Counters of the first look of which the next says nothing: they fell, since a reboot or a driver set them
/// back, or their part is gone.
struct CountersWithoutAnswer {
  std::vector<std::string> fell;  ///< "eth0 carrier_changes, 50 to 2"
  std::vector<std::string> gone;  ///< "eth0 carrier_changes"
};
[[nodiscard]] CountersWithoutAnswer counters_without_answer(const topology::ErrorCounters& before,
                                                            const topology::ErrorCounters& after);

/// What of `hosts` could not be read, each with all of which that is so: "n1, n2: dmesg: exit status 1"; "all
/// hosts" where it is so of every one.
[[nodiscard]] std::vector<std::string> counter_notes(const std::vector<std::string>& hosts,
                                                     const std::vector<topology::ErrorCounters>& looks);

/// "host3 mlx5_0/1 symbol_error: 4 to 904 within 30 s, degraded (above 10 a second)".
[[nodiscard]] std::string rise_words(const CounterRise& rise);

}  // namespace collbench::analysis
