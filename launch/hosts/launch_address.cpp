#include "launch/hosts/launch_address.hpp"

#include <netdb.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "base/files.hpp"

namespace collbench::launch {
namespace {

constexpr const char* kSomePort = "9";
constexpr const char* kSomewhere = "192.0.2.1";  // RFC 5737: nobody's

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList resolve(const char* name, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name, kSomePort, &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

std::optional<std::string> first_own_towards(const std::vector<std::string>& addresses) {
  for (const std::string& each : addresses) {
    if (auto own = own_address_towards(each)) return own;
  }
  return std::nullopt;
}

/// Of mpirun, or srun.
std::vector<std::string> launcher_addresses() {
  std::vector<std::string> addresses;
  if (const char* const daemon = std::getenv("OMPI_MCA_orte_hnp_uri")) addresses = contact_addresses(daemon);
  if (const char* const srun = std::getenv("SLURM_LAUNCH_NODE_IPADDR")) addresses.emplace_back(srun);
  return addresses;
}

/// Of this host's name; a name server may be asked.
std::vector<std::string> named_addresses() {
  std::vector<std::string> addresses;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return addresses;
  const AddressList found = resolve(name.data(), 0);
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    if (const auto address = numeric_address(at->ai_addr, at->ai_addrlen)) addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace

std::optional<std::string> numeric_address(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return std::nullopt;
  return std::string(text.data());
}

std::vector<std::string> contact_addresses(std::string_view contact) {
  std::vector<std::string> addresses;
  constexpr std::string_view kScheme = "://";
  for (std::size_t at = contact.find(kScheme); at != std::string_view::npos; at = contact.find(kScheme, at)) {
    at += kScheme.size();
    std::string_view list = contact.substr(at, contact.find(';', at) - at);
    list = list.substr(0, list.rfind(':'));
    while (!list.empty()) {
      const std::size_t comma = list.find(',');
      std::string_view address = list.substr(0, comma);
      if (address.starts_with('[')) address.remove_prefix(1);
      if (address.ends_with(']')) address.remove_suffix(1);
      if (!address.empty()) addresses.emplace_back(address);
      list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
  }
  return addresses;
}

std::optional<std::string> own_address_towards(const std::string& address) {
  const AddressList to = resolve(address.c_str(), AI_NUMERICHOST);
  if (!to || is_loopback(address)) return std::nullopt;
  const FileDescriptor descriptor(::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (descriptor.get() < 0 || ::connect(descriptor.get(), to->ai_addr, to->ai_addrlen) != 0)
    return std::nullopt;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return std::nullopt;
  std::optional<std::string> text = numeric_address(reinterpret_cast<sockaddr*>(&own), size);
  if (text && is_loopback(*text)) return std::nullopt;
  return text;
}

std::optional<std::string> launch_address() {
  if (auto own = first_own_towards(launcher_addresses())) return own;
  if (auto own = first_own_towards(named_addresses())) return own;
  return own_address_towards(kSomewhere);
}

}  // namespace collbench::launch
