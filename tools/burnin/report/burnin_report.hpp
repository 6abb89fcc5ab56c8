#pragma once
#include <string>

#include "tools/burnin/attribution/burnin_record.hpp"

// What a burn-in found, as other programs and browsers read it. All say what its text says.

namespace collbench::analysis {

/// A picture of the pairs, one map for each rail: rows send, columns receive, and the color is the rate over
/// the rail's usual one. Where fewer than half of the pairs were measured, or of more than 256 hosts, a map
/// of hosts by rails instead: what each sends and receives at over the others. Of more than 1,024 hosts those
/// that are not good.
[[nodiscard]] std::string burnin_svg(const BurninRecord& record);

/// A page that needs no network: page_of() with that picture.
[[nodiscard]] std::string burnin_html(const BurninRecord& record);

/// A test case for each host (not good fails, not tested is an error) and for each finding that is no single
/// host's, and one for what was left out.
[[nodiscard]] std::string burnin_junit(const BurninRecord& record);

/// Gauges for the textfile collector of Prometheus' node exporter.
[[nodiscard]] std::string burnin_prometheus(const BurninRecord& record);

/// GB/s from each row's host to each column's, a table for each rail; "-": not measured, "x": no time.
[[nodiscard]] std::string burnin_matrix(const BurninRecord& record);

}  // namespace collbench::analysis
