#include "topology/pci_config.hpp"

#include <cstddef>

namespace collbench {
namespace {

// PCI Express Base Specification 4.0, 7.6.2 (the list of extended capabilities: id in bits 0 to 15, the next
// one's offset in bits 20 to 31) and 7.7.8 (Access Control Services: the control register at offset 6); the
// same numbers in linux/pci_regs.h.
constexpr std::size_t kFirstCapability = 0x100;
constexpr std::uint32_t kAcsId = 0x000D;
constexpr std::size_t kAcsControl = 6;
// Source validation, request and completion redirect, upstream forwarding: SrcValid, ReqRedir, CmpltRedir and
// UpstreamFwd of lspci.
constexpr unsigned kTakesUp = 0x01U | 0x04U | 0x08U | 0x10U;

/// Little-endian.
std::uint32_t read_32(std::span<const std::uint8_t> config, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i > 0; --i) value = value << 8U | config[offset + i - 1];
  return value;
}

}  // namespace

std::optional<bool> acs_of_config(std::span<const std::uint8_t> config) {
  std::size_t offset = kFirstCapability;
  // A damaged list may lead back to itself: no more steps than capabilities fit.
  for (std::size_t steps = config.size() / 8; steps > 0; --steps) {
    if (offset < kFirstCapability || offset + 8 > config.size()) return std::nullopt;
    const std::uint32_t header = read_32(config, offset);
    if ((header & 0xFFFFU) == kAcsId) return (config[offset + kAcsControl] & kTakesUp) != 0;
    offset = header >> 20U & 0xFFCU;
  }
  return std::nullopt;
}

}  // namespace collbench
