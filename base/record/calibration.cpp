#include "base/record/calibration.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/record/measured_block.hpp"

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

namespace {

constexpr double kMaxAboveLarger = 2;
constexpr double kMaxMessageGrowth = 4;  // over that of the bytes
constexpr double kMaxLocalGrowth = 8;
constexpr double kMaxNetworkGrowth = 16;  // a token bucket lets small messages pass at another rate: 11 seen
constexpr double kMaxBurst = 2.0 * kBurstMessages;
constexpr double kMaxExchange = 4;

bool on_one_curve(const CalibrationPoint& left, const CalibrationPoint& right) {
  return left.kind == right.kind && left.type == right.type && left.reduction == right.reduction;
}

/// Whether `other` cannot be right beside `point`, taking every error for an addition to `point`.
bool contradicts(const CalibrationPoint& other, const CalibrationPoint& point) {
  using enum CalibrationKind;
  if (on_one_curve(other, point))
    return point.bytes < other.bytes && point.seconds > kMaxAboveLarger * other.seconds;
  const auto is = [&](CalibrationKind one, CalibrationKind base) {
    return point.kind == one && other.kind == base && point.bytes == other.bytes;
  };
  if (is(burst_intra, send_recv_intra) || is(burst_inter, send_recv_inter))
    return point.seconds > kMaxBurst * other.seconds;
  return is(exchange_inter, send_recv_inter) && point.seconds > kMaxExchange * other.seconds;
}

/// Over that of the bytes, from one size to the next.
double max_growth(CalibrationKind kind) {
  using enum CalibrationKind;
  if (kind == copy || kind == reduce_local) return kMaxLocalGrowth;
  return kind == send_recv_inter || kind == send_recv_inter_all ? kMaxNetworkGrowth : kMaxMessageGrowth;
}

/// Whether `point` takes too long for its bytes beside the next smaller one of its curve.
bool outgrows(const CalibrationPoint& point, std::span<const CalibrationPoint> points) {
  const CalibrationPoint* smaller = nullptr;
  for (const CalibrationPoint& each : points) {
    if (!on_one_curve(each, point) || each.bytes >= point.bytes) continue;
    if (smaller == nullptr || each.bytes > smaller->bytes) smaller = &each;
  }
  if (smaller == nullptr) return false;
  const double bytes = static_cast<double>(point.bytes) / static_cast<double>(smaller->bytes);
  return point.seconds > max_growth(point.kind) * bytes * smaller->seconds;
}

}  // namespace

std::vector<std::size_t> disturbed_points(std::span<const CalibrationPoint> points) {
  std::vector<std::size_t> disturbed;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto against = [&](const CalibrationPoint& other) { return contradicts(other, points[i]); };
    if (outgrows(points[i], points) || std::any_of(points.begin(), points.end(), against))
      disturbed.push_back(i);
  }
  return disturbed;
}

namespace {

Json tier_json(const std::optional<Tier>& tier) {
  if (!tier) return nullptr;
  return {{"alpha_seconds", tier->alpha_seconds},
          {"bytes_per_second", tier->bytes_per_second},
          {"gap_seconds", tier->gap_seconds},
          {"eager_limit_bytes", tier->eager_limit_bytes}};
}

Json point_json(const CalibrationPoint& point) {
  return {{"kind", name(point.kind)},
          {"size_bytes", point.bytes},
          {"seconds", point.seconds},
          {"type", or_null(point.type)},
          {"reduction", or_null(point.reduction)}};
}

Json gamma_json(const ReductionCost& gamma) {
  return {{"type", traits(gamma.type).name},
          {"reduction", name(gamma.reduction)},
          {"seconds_per_byte", gamma.seconds_per_byte}};
}

ReductionCost gamma_of(const JsonReader& json) {
  return {data_type_from_json(json.at("type")), reduction_from_json(json.at("reduction")),
          json.at("seconds_per_byte").number(kQuantity)};
}

std::optional<Tier> tier_of(const JsonReader& json, std::string_view key) {
  const auto value = json.find(key);
  if (!value) return std::nullopt;
  return Tier{value->at("alpha_seconds").number(kQuantity), value->at("bytes_per_second").number(kRate),
              value->at("gap_seconds").number(kQuantity),
              value->at("eager_limit_bytes").integer<std::uint64_t>()};
}

CalibrationPoint point_of(const JsonReader& json) {
  const JsonReader kind = json.at("kind");
  const CalibrationKind* found = find_calibration_kind(kind.text());
  if (found == nullptr) throw kind.expected("a kind of calibration");
  return {*found, json.at("size_bytes").integer<std::uint64_t>(), json.at("seconds").number(kSeconds),
          optional_data_type(json, "type"), optional_reduction(json, "reduction")};
}

}  // namespace

Json calibration_to_json(const Calibration& calibration) {
  return {{"intra", tier_json(calibration.intra)},
          {"inter", tier_json(calibration.inter)},
          {"inter_host_bytes_per_second", or_null(calibration.inter_host_bytes_per_second)},
          {"gammas", array_of(calibration.gammas, gamma_json)},
          {"kappa_seconds_per_byte", calibration.kappa_seconds_per_byte},
          {"fit_relative_error", calibration.fit_relative_error},
          {"points", array_of(calibration.points, point_json)},
          {"probes", probes_to_json(calibration.probes)}};
}

Calibration calibration_from_json(const JsonReader& json) {
  Calibration result;
  result.intra = tier_of(json, "intra");
  result.inter = tier_of(json, "inter");
  result.inter_host_bytes_per_second = optional_number(json, "inter_host_bytes_per_second", kRate);
  result.gammas = list_from_json(json.at("gammas"), gamma_of);
  result.kappa_seconds_per_byte = json.at("kappa_seconds_per_byte").number(kQuantity);
  result.fit_relative_error = json.at("fit_relative_error").optional_number(kQuantity).value_or(kNotFinite);
  result.points = list_from_json(json.at("points"), point_of);
  if (const auto probes = json.find("probes")) result.probes = probes_from_json(*probes);
  return result;
}

}  // namespace collbench
