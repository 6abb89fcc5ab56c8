#include "base/record/calibration.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace collbench {
namespace {

using enum CalibrationKind;
constexpr std::array<CalibrationKind, 10> kKinds{
    send_recv_intra, forward_intra, send_recv_inter, send_recv_inter_all, burst_intra, burst_inter,
    reduce_local,    copy,          page_fault,      exchange_inter};
constexpr std::array<std::string_view, 10> kNames{"send_recv_intra",     "forward_intra", "send_recv_inter",
                                                  "send_recv_inter_all", "burst_intra",   "burst_inter",
                                                  "reduce_local",        "copy",          "page_fault",
                                                  "exchange_inter"};

}  // namespace

std::string_view name(CalibrationKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::span<const CalibrationKind> calibration_kinds() { return kKinds; }

const CalibrationKind* find_calibration_kind(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? nullptr : &kKinds.at(static_cast<std::size_t>(found - kNames.begin()));
}

}  // namespace collbench
