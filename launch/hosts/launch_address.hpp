#pragma once
#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::launch {

/// "10.0.0.1"; none where the system makes no text of it.
[[nodiscard]] std::optional<std::string> numeric_address(const sockaddr* address, socklen_t size);

/// The IP addresses in the contact of an Open MPI daemon:
/// "1.0;tcp://10.0.0.1,10.1.0.1:40;tcp6://[fd00::2]:41".
[[nodiscard]] std::vector<std::string> contact_addresses(std::string_view contact);

/// This host's own address on its way to `address`, by the kernel's routes; none where there is no way, or
/// it leads to this host alone (127.0.0.1). Sends nothing.
[[nodiscard]] std::optional<std::string> own_address_towards(const std::string& address);

/// The address by which other hosts reach this one on the network of the launcher, so that it answers where
/// the network that is measured fails: the one towards mpirun or srun; else that of the host's name; else
/// that of the default route. None where a host has none.
[[nodiscard]] std::optional<std::string> launch_address();

}  // namespace collbench::launch
