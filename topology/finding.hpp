#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/finding_catalogue.hpp"
#include "topology/topology.hpp"

namespace collbench {

/// Which of two hosts.
enum class Side { a, b };

[[nodiscard]] constexpr Side other(Side side) { return side == Side::a ? Side::b : Side::a; }

/// Devices of two hosts at the same seat; none on the side where the seat is empty.
struct Twins {
  std::optional<Device> a;
  std::optional<Device> b;

  [[nodiscard]] const std::optional<Device>& of(Side side) const { return side == Side::a ? a : b; }
  bool operator==(const Twins&) const = default;
};

/// One difference of two hosts.
struct Finding {
  std::string_view code;     ///< of the catalogue (topology/finding_catalogue.hpp)
  Side side = Side::b;       ///< the host that is worse off; b where neither is
  std::vector<Twins> twins;  ///< the devices it is about; empty: the machine itself
  std::string device;        ///< them in words: "GPU0 (0000:17:00.0)"
  std::string what;          ///< "1 NVLink to GPU1 instead of 12"

  bool operator==(const Finding&) const = default;
};

}  // namespace collbench
