#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// Draws runs whose every field is set to something, and to the odd values (empty, extreme, not ASCII) often.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {}

  Run run() {
    Run result;
    result.versions = {text(), text(), text(), text(), text()};
    result.started = text();
    result.finished = text();
    result.complete = chance();
    result.incident = maybe([&] { return incident(); });
    result.pauses = several([&] { return RankPause{below(4096), host(), text(), below(64), number()}; });
    result.command_line = several([&] { return text(); });
    for (int i = below(4); i > 0; --i) result.environment[text()] = text();
    result.config_file = text();
    result.backend = one_of(std::vector{BackendId::mpi, BackendId::nccl});
    result.nccl_observer_status = {text(), text()};
    result.time_reduction = static_cast<RankAggregate>(below(4));
    result.simulated = chance();
    result.gpus_simulated = chance();
    const int ranks = 1 + below(5);
    for (int rank = 0; rank < ranks; ++rank) {
      result.ranks.push_back({rank, host(), below(ranks), below(ranks)});
    }
    result.cores_per_node = several([&] { return below(256); });
    if (chance()) result.cluster = cluster();
    result.load_notes = several([&] { return text(); });
    result.network_notes = several([&] { return text(); });
    result.environment_notes = several([&] { return text(); });
    if (chance()) result.traffic = TrafficMatrix{text(), 2, {number(), number(), number(), number()}};
    if (chance()) result.calibration = calibration();
    if (chance()) result.rank_probe = rank_probe();
    if (chance()) result.log = log_facts();
    result.yardstick = maybe([&] {
      return Yardstick{static_cast<YardstickKind>(below(3)), text(), several([&] { return text(); })};
    });
    result.rows = several([&] { return row(); });
    result.sustained = maybe([&] { return row(); });
    result.error_counts = several([&] { return ErrorCount{host(), text(), count(), count()}; });
    result.gpu_probes = several([&] { return gpu_probe(); });
    result.launches = 1 + below(30);
    result.repeated = chance();
    result.passes = below(64);
    result.wall_seconds = number();
    result.validation_seconds = number();
    result.calibration_seconds = number();
    result.graph_launches = below(64);
    result.process = {.gpus = 1 + below(64), .threads = 1 + below(64)};
    result.gpu_memory = maybe([&] { return GpuMemory{below(4096), below(4096), -below(4096)}; });
    result.buffers = {text(), maybe([&] { return static_cast<BufferRegistration>(below(3)); })};
    if (chance()) result.telemetry = telemetry();
    result.communicator_seconds = several([&] { return number(); });
    result.init_steps = several([&] { return NcclInitStep{text(), number(), below(64), number()}; });
    return result;
  }

  Incident incident() {
    return {static_cast<IncidentKind>(below(static_cast<int>(kWords<IncidentKind>.size()))),
            text(),
            several([&] { return IncidentRank{below(4096), host()}; }),
            text(),
            below(64),
            count(),
            text(),
            below(71)};
  }

  Stop stop() {
    const auto reason = static_cast<StopReason>(below(5));
    const bool limited = reason == StopReason::pass_limit || reason == StopReason::launch_limit;
    return {reason, limited ? 1 + below(64) : 0};
  }

  RankProbe rank_probe() {
    RankProbe result;
    result.repetitions = below(64);
    result.seconds = number();
    result.clock_uncertainty_seconds = number();
    result.ranks = several([&] { return RankLateness{below(4096), number(), number(), number()}; });
    result.findings = several([&] {
      return ProbeFinding{static_cast<ProbeFindingKind>(below(4)),
                          several([&] { return below(4096); }),
                          number(),
                          number(),
                          below(64),
                          number(),
                          text()};
    });
    return result;
  }

  ProbeRecord gpu_probe() {
    ProbeRecord probe;
    probe.host = "n" + std::to_string(below(100));
    probe.gpus = several([&] { return ProbeGpu{text(), text(), text(), text(), count(), {}, text()}; });
    probe.failures = several([&] { return ProbeFailure{text(), text(), text()}; });
    probe.measurements = several(
        [&] { return ProbeMeasurement{text(), text(), ProbeUnit::byte, below(64), text(), text(), {}}; });
    probe.notes = several([&] { return text(); });
    return probe;
  }

  Cluster cluster() {
    Cluster result;
    result.shapes = chance() ? R"({"hosts":[]})" : R"({"hosts":[{"gpus":[1.5,"é"]}]})";
    result.nodes = several([&] {
      return ClusterNode{host(), below(4096), {{"a" + text(), {{text(), text()}}}, {"b", {{"", text()}}}}};
    });
    result.summary = several([&] { return text(); });
    result.placement = several([&] {
      return PlacedRank{below(4096), text(), text(), text(), maybe([&] { return below(16); }),
                        chance(),    text()};
    });
    return result;
  }

  Telemetry telemetry() {
    const auto gauge = [&] { return Gauge{number(), number(), number(), number()}; };
    const auto counter = [&] { return CounterChange{count(), count()}; };
    Telemetry result;
    result.readings = below(4096);
    result.gpus = several([&] {
      return GpuTelemetry{host(),
                          text(),
                          text(),
                          chance() ? TelemetrySource::nvml : TelemetrySource::nvidia_smi,
                          maybe(gauge),
                          maybe(gauge),
                          maybe(gauge),
                          maybe(counter),
                          maybe(counter),
                          maybe(counter),
                          several([&] { return trouble(); })};
    });
    result.notes = several([&] { return text(); });
    return result;
  }

  LogFacts log_facts() {
    const auto text_fact = [&] { return LogFact<std::string>{text(), below(9999)}; };
    const auto count_fact = [&] { return LogFact<int>{below(4096), below(9999)}; };
    const auto rate_fact = [&] { return LogFact<double>{number(), below(9999)}; };
    const auto list_fact = [&] {
      return LogFact<std::vector<std::string>>{several([&] { return text(); }), below(9999)};
    };
    LogFacts result;
    result.file = text();
    result.format = text();
    for (auto* fact : {&result.program, &result.command, &result.version, &result.nccl, &result.operation,
                       &result.gpu, &result.network, &result.link_layer, &result.topology}) {
      *fact = maybe(text_fact);
    }
    for (auto* fact : {&result.gpus_per_process, &result.threads_per_process, &result.ranks, &result.nodes,
                       &result.ranks_per_node, &result.channels, &result.nvls_channels}) {
      *fact = maybe(count_fact);
    }
    for (auto* fact :
         {&result.nic_bytes_per_second, &result.ring_bytes_per_second, &result.nvlink_least_bytes_per_second,
          &result.nvlink_most_bytes_per_second, &result.latency_seconds}) {
      *fact = maybe(rate_fact);
    }
    result.hosts = maybe(
        [&] { return LogFact<std::vector<std::string>>{several([&] { return host(); }), below(9999)}; });
    result.nics = maybe(list_fact);
    result.gpu_direct = maybe([&] { return LogFact<bool>{chance(), below(9999)}; });
    result.out_of_bounds = maybe([&] { return LogFact<std::uint64_t>{count(), below(9999)}; });
    result.connections = several([&] { return LogConnections{text(), chance(), count(), below(9999)}; });
    result.tunings = several([&] { return LogTuning{count(), text(), text(), below(64), below(9999)}; });
    result.left_out = several([&] { return LogSkipped{text(), count(), below(9999)}; });
    result.notes = several([&] { return text(); });
    return result;
  }

  Calibration calibration() {
    Calibration result;
    result.intra = maybe([&] { return tier(); });
    result.inter = maybe([&] { return tier(); });
    result.inter_host_bytes_per_second = maybe([&] { return number(); });
    result.gammas = several([&] { return ReductionCost{type(), reduction(), number()}; });
    result.kappa_seconds_per_byte = number();
    result.fit_relative_error = number();
    result.points = several([&] {
      return CalibrationPoint{
          static_cast<CalibrationKind>(below(static_cast<int>(kWords<CalibrationKind>.size()))), count(),
          number(), maybe([&] { return type(); }), maybe([&] { return reduction(); })};
    });
    result.probes = several([&] { return MachineProbe{number(), number(), number(), number()}; });
    return result;
  }

  MeasuredBlock block(std::size_t rows, int ranks) {
    MeasuredBlock result;
    result.row = static_cast<std::size_t>(below(static_cast<int>(rows)));
    result.pass = below(64);
    result.seconds = number();
    result.iterations = count();
    result.iterations_per_sample = count();
    result.warmup_iterations = count();
    result.samples = several([&] { return static_cast<float>(below(1'000'000)) * 1e-9F; });
    for (int rank = 0; rank < ranks; ++rank) result.ranks.push_back({rank, number(), number()});
    result.enqueue_seconds = maybe([&] { return number(); });
    result.wrong_elements = maybe([&] { return count(); });
    result.wrong = several([&] { return wrong(); });
    result.nccl = maybe([&] { return nccl_selection(); });
    result.probe = maybe([&] { return probe(); });
    return result;
  }

  NcclSelection nccl_selection() {
    return {text(), text(), below(64), several([&] { return NcclExpectation{text(), text(), number()}; })};
  }

  Row row() {
    Row result;
    Measurement& measured = result.measurement;
    measured.key = {one_of(operations()).id,
                    count(),
                    count(),
                    type(),
                    maybe([&] { return reduction(); }),
                    chance(),
                    text(),
                    maybe([&] { return below(4096); })};
    measured.unavailable = text();
    measured.algorithm_ran = text();
    measured.note = text();
    measured.source = text();
    measured.nccl = maybe([&] { return nccl_selection(); });
    measured.pass_seconds = several([&] { return number(); });
    if (!measured.pass_seconds.empty()) {
      measured.launch_passes = {1, static_cast<int>(measured.pass_seconds.size()) - 1};
      if (chance()) measured.pass_probes.resize(measured.pass_seconds.size());
      for (MachineProbe& each : measured.pass_probes) each = probe();
    }
    measured.seconds = number();
    measured.interval = maybe([&] { return TimeInterval{number(), number(), number(), chance()}; });
    measured.launch_variation = maybe([&] { return LaunchVariation{number(), number()}; });
    measured.states = several([&] {
      return RowState{number(),  number(),
                      below(99), below(99),
                      number(),  maybe([&] {
                        return TimeInterval{number(), number(), number(), chance()}; })};
    });
    measured.stopped = maybe([&] { return stop(); });
    measured.iterations = count();
    measured.iterations_per_sample = count();
    measured.warmup_iterations = count();
    measured.samples = std::max<std::uint64_t>(count(), 1);  // without one there are no statistics of them
    measured.minimum = number();
    measured.mean = number();
    measured.median = number();
    measured.p95 = number();
    measured.p99 = number();
    measured.variation = number();
    measured.ranks = several([&] {
      return RankTimes{below(4096), number(), number(), maybe([&] { return number(); }),
                       maybe([&] { return number(); })};
    });
    measured.wrong_elements = maybe([&] { return count(); });
    measured.wrong = several([&] { return wrong(); });
    measured.enqueue_seconds = maybe([&] { return number(); });
    measured.marks = several([&] { return RowMark{host(), text(), trouble()}; });
    result.expectation = {maybe([&] { return number(); }),
                          maybe([&] { return number(); }),
                          maybe([&] { return number(); }),
                          text(),
                          maybe([&] { return number(); }),
                          maybe([&] { return number(); }),
                          text(),
                          maybe([&] { return number(); })};
    if (!has_wrong_data(result.measurement)) {
      result.verdict = {static_cast<VerdictWord>(below(5)), text()};
      if (result.verdict.word != VerdictWord::none) {
        result.verdict.ratio = maybe([&] { return number(); });
        if (below(2) == 0) result.verdict.range = HealthyRange{number(), number(), number(), text()};
        result.verdict.hidden = {{text(), 0.125, text(), below(64)}};
      }
    }
    return result;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool chance() { return below(2) == 1; }

  template <class Make>
  std::optional<std::invoke_result_t<Make>> maybe(Make make) {
    if (chance()) return make();
    return std::nullopt;
  }
  template <class Make>
  std::vector<std::invoke_result_t<Make>> several(Make make) {
    std::vector<std::invoke_result_t<Make>> result;
    for (int i = below(4); i > 0; --i) result.push_back(make());
    return result;
  }
  template <class Range>
  typename Range::value_type one_of(const Range& range) {
    return range[static_cast<std::size_t>(below(static_cast<int>(range.size())))];
  }

  DataType type() { return one_of(data_types()).id; }
  GpuTrouble trouble() { return static_cast<GpuTrouble>(below(static_cast<int>(kWords<GpuTrouble>.size()))); }
  Reduction reduction() { return one_of(reductions()); }
  WrongElements wrong() { return {below(4096), host(), count(), count(), text(), text()}; }
  MachineProbe probe() { return {number(), number(), number(), number()}; }
  Tier tier() { return {number(), number(), number(), count()}; }
  std::uint64_t count() {
    return one_of(std::vector<std::uint64_t>{0, 1, 4096, 1ULL << 53U, (1ULL << 53U) + 1,
                                             std::numeric_limits<std::uint64_t>::max(), random_()});
  }
  /// Every mantissa is as likely, between a picosecond and 1.
  double number() {
    const std::uint64_t bits = (random_() >> 12U) | 0x3FE0000000000000U;  // 0.5 to 1
    double half = 0;
    static_assert(sizeof half == sizeof bits);
    std::memcpy(&half, &bits, sizeof half);
    return chance() ? std::ldexp(half, -below(38)) : one_of(std::vector<double>{0, 1, 1e-7, 0.1});
  }
  std::string host() { return one_of(std::vector<std::string>{"", "n1", "node-01.example", "n1#2"}); }
  std::string text() {
    return one_of(std::vector<std::string>{"", "auto", "Open MPI v4.1.4", "a \"quoted\" \\ line\nand more\t",
                                           "µs ± – 日本", std::string("nul\0inside", 10), "rank,0"});
  }

  std::mt19937_64 random_;
};

}  // namespace collbench
