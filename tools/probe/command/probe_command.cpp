#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/probe/siblings.hpp"
#include "base/document/chart.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/units.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/gpus_alone.hpp"
#include "src/run/telemetry.hpp"
#include "src/tool_main.hpp"
#include "tools/probe/gpu/gpu_probe.hpp"
#include "tools/probe/gpu/gpu_samples.hpp"
#include "tools/probe/processor/processor_probe.hpp"
#include "tools/probe/report/lab00.hpp"
#include "tools/probe/report/probe_report.hpp"
#include "topology/graph/pci.hpp"

namespace collbench::program {
namespace {

constexpr std::string_view kLab00Page = "lab00";
constexpr const char* kSystemFolder = "/sys/devices/system";

struct ProbeCommand {
  std::vector<std::string> records;  ///< of earlier probes; empty: this host is measured
  std::optional<double> seconds;     ///< for each kind of work; none: the usual ones
  std::vector<std::string> only;     ///< kinds of work; empty: all
  double soak_seconds = 0;           ///< --soak
  double gpu_timeout_seconds = collectives::GpuProbe{}.timeout_seconds;
  When progress = When::automatic;
  bool lab00 = false;
  analysis::Lab00Price price;
  std::string picture;  ///< --plot-file
  OutputOptions output;
};

const ProbeGpu* gpu_of(const ProbeRecord& record, const ProbePart& part) {
  const auto found = std::ranges::find(record.gpus, part.name, &ProbeGpu::name);
  return found == record.gpus.end() ? nullptr : &*found;
}

/// By the driver's last reading of a GPU of the same address.
void describe(ProbeGpu& gpu, const std::vector<topology::GpuSample>& samples) {
  const std::string address = topology::canonical_pci_address(gpu.address).value_or(gpu.address);
  for (const topology::GpuSample& sample : samples) {
    for (const topology::GpuReading& reading : sample.gpus) {
      if (reading.address != address) continue;
      gpu.power_limit_watts = reading.power_limit_watts;
      gpu.driver = reading.driver;
    }
  }
}

/// Puts the GPUs into the record: what was measured of them, and what the driver read beside the windows and
/// says of each.
void add_gpus(ProbeRecord& record, const collectives::GpuProbeResult& result,
              const std::vector<topology::GpuSample>& samples) {
  record.gpus = result.gpus;
  for (ProbeGpu& gpu : record.gpus) describe(gpu, samples);
  for (const collectives::GpuMeasurement& measured : result.measurements) {
    ProbeMeasurement about = measured.about;
    for (std::size_t i = 0; i < about.parts.size() && !samples.empty(); ++i) {
      const ProbeGpu* const gpu = gpu_of(record, about.parts[i]);
      if (gpu == nullptr) continue;  // a pair
      for (const collectives::WindowSpan& span : measured.spans[i])
        about.parts[i].telemetry.push_back(topology::gpu_window(samples, gpu->address, span.begin, span.end));
    }
    record.measurements.push_back(std::move(about));
  }
  record.failures = result.failures;
  record.notes.insert(record.notes.end(), result.notes.begin(), result.notes.end());
}

/// Takes the record after each kind of work.
using KeepRecord = std::function<void(ProbeRecord so_far)>;

/// Measures this host's GPUs, with their clocks, power, temperature and throttle reasons beside each window,
/// and adds all of it to `record`. Throws Error (not_here) as collectives::probe_gpus.
void probe_gpus_of_host(ProbeRecord& record, collectives::GpuProbe probe, const KeepRecord& keep) {
  const collectives::HostClock clock;
  // Two readings of a window at least.
  constexpr double kReadingsOfWindow = 4;
  topology::GpuSampler sampler(gpu_readers(), clock,
                               std::min(0.5, collectives::gpu_window_seconds(probe) / kReadingsOfWindow));
  record.gpu_window_seconds = collectives::gpu_window_seconds(probe);
  probe.ended = [&](const collectives::GpuProbeResult& so_far) {
    ProbeRecord kept = record;
    add_gpus(kept, so_far, {});
    keep(std::move(kept));
  };
  const collectives::GpuProbeResult result = collectives::probe_gpus(probe, clock);
  const std::vector<topology::GpuSample>& samples = sampler.finish();
  if (!sampler.failure().empty()) {
    record.notes.push_back("clocks, power and temperature of GPUs: not known: " + sampler.failure());
  }
  add_gpus(record, result, samples);
}

constexpr std::string_view kAllProcessors = "cpu";
constexpr std::string_view kAllGpus = "gpu";

std::vector<std::string> probe_ids() {
  std::vector<std::string> ids = collectives::processor_probe_ids();
  const std::vector<std::string> of_gpus = collectives::gpu_probe_ids();
  ids.insert(ids.end(), of_gpus.begin(), of_gpus.end());
  ids.insert(ids.end(), {std::string(kAllProcessors), std::string(kAllGpus)});
  return ids;
}

/// Of what was asked for, the kinds of `all`; a word that stands for all of `usual` is them.
std::vector<std::string> asked_of(const ProbeCommand& options, const std::vector<std::string>& all,
                                  const std::vector<std::string>& usual, std::string_view whole) {
  std::vector<std::string> ids;
  for (const std::string& id : options.only) {
    if (id == whole) ids.insert(ids.end(), usual.begin(), usual.end());
    if (std::ranges::find(all, id) != all.end()) ids.push_back(id);
  }
  return ids;
}

/// A fifth of the time warms up; the rest is five windows.
collectives::ProbeTiming timing_of(double seconds) {
  constexpr double kWarmUpShare = 0.2;
  const collectives::ProbeTiming usual;
  return {.warm_up_seconds = seconds * kWarmUpShare,
          .window_seconds = seconds * (1 - kWarmUpShare) / usual.windows,
          .windows = usual.windows};
}

/// What others took of the cores' time between two looks; none where it cannot be told from what ran on other
/// cores of the host.
std::optional<double> taken_share(const launch::CpuTimes& before, const launch::CpuTimes& after,
                                  double seconds, const launch::LocalMachineView& machine) {
  if (after.hardware_threads <= 0 || seconds <= 0) return std::nullopt;
  if (std::cmp_not_equal(machine.allowed_cores.size(), machine.online_cores)) return std::nullopt;
  const double others = (after.host_busy_seconds - before.host_busy_seconds) -
                        (after.own_seconds - before.own_seconds) +
                        (after.stolen_seconds - before.stolen_seconds);
  return std::clamp(others / (seconds * machine.online_cores), 0.0, 1.0);
}

void probe_processors(const ProbeCommand& options, ProbeRecord& record, ProgressLine& progress) {
  constexpr double kUsualSeconds = 2.5;
  const double seconds = options.seconds.value_or(kUsualSeconds);
  const launch::LocalMachineView machine = launch::view_machine();
  record.window_seconds = timing_of(seconds).window_seconds;
  record.cores = static_cast<int>(machine.allowed_cores.size());
  collectives::ProcessorProbe probe;
  probe.cores = collectives::cores_with_nodes(machine.allowed_cores, kSystemFolder);
  probe.model = record.processor;
  probe.timing = timing_of(seconds);
  probe.only = asked_of(options, collectives::processor_probe_ids(), collectives::processor_probe_ids(),
                        kAllProcessors);
  probe.array_bytes =
      collectives::triad_bytes(collectives::last_level_cache_bytes(probe.cores, kSystemFolder),
                               machine.available_memory_bytes, record.notes);
  if (options.lab00) probe.more_matrices = {16, 32, 64, 128, 256, 512, 2048};
  const std::size_t kinds =
      probe.only.empty() ? collectives::processor_probe_ids().size() : probe.only.size();
  const collectives::HostClock clock;
  progress.show(
      fmt::format("{}: about {} in all", counted(machine.allowed_cores.size(), "core"),
                  format_seconds(seconds * static_cast<double>(kinds + probe.more_matrices.size()))),
      clock.seconds());
  const double begin = clock.seconds();
  const launch::CpuTimes before = launch::view_cpu_times();
  record.measurements = collectives::probe_processors(probe, clock, record.notes);
  record.taken_share = taken_share(before, launch::view_cpu_times(), clock.seconds() - begin, machine);
}

/// Where nobody asked for GPUs, a host without them says so and is probed all the same.
void probe_gpus(const ProbeCommand& options, bool is_asked, ProbeRecord& record, const KeepRecord& keep,
                ProgressLine& progress) {
  collectives::GpuProbe probe;
  probe.only = asked_of(options, collectives::gpu_probe_ids(), collectives::usual_gpu_probe_ids(), kAllGpus);
  if (options.lab00 && options.only.empty()) probe.only = {"gpu-gemm-bf16", "gpu-hbm-copy"};
  if (options.seconds) probe.seconds = *options.seconds;
  probe.soak_seconds = options.soak_seconds;
  probe.timeout_seconds = options.gpu_timeout_seconds;
  const collectives::HostClock clock;
  probe.began = [&](const std::string& what, double seconds_left) {
    progress.show(fmt::format("{} (about {} left)", what, format_seconds(seconds_left)), clock.seconds());
  };
  try {
    probe_gpus_of_host(record, std::move(probe), keep);
  } catch (const Error& error) {
    if (is_asked || error.status() != ExitStatus::not_here) throw;
    record.notes.push_back(fmt::format("GPUs: not measured: {}", error.what()));
  }
}

/// Ends the process, while this lives, when nobody reads its stdout any more: who asked for the probe is
/// gone, and what comes next is not to find its GPUs busy.
std::jthread watch_reader() {
  return std::jthread([](const std::stop_token& stop) {
    constexpr int kMilliseconds = 200;
    while (!stop.stop_requested()) {
      pollfd out{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
      if (::poll(&out, 1, kMilliseconds) > 0 && (out.revents & POLLERR) != 0)
        ::_exit(static_cast<int>(ExitStatus::rank_lost));
    }
  });
}

ProbeRecord probe_this_host(const ProbeCommand& options, const KeepRecord& keep) {
  const std::jthread reader = watch_reader();
  ProbeRecord record;
  record.host = own_host_name();
  record.processor = collectives::processor_name(read_file("/proc/cpuinfo"));
  ProgressLine progress(is_shown(options.progress, ::isatty(STDERR_FILENO) == 1));
  const auto asks = [&](const std::vector<std::string>& all, std::string_view whole) {
    return !asked_of(options, all, all, whole).empty();
  };
  const bool is_open = options.only.empty();
  const bool asks_gpus = asks(collectives::gpu_probe_ids(), kAllGpus) || options.soak_seconds > 0;
  if (is_open || asks(collectives::processor_probe_ids(), kAllProcessors))
    probe_processors(options, record, progress);
  if (asks_gpus || is_open) {
    if (!record.measurements.empty()) keep(record);
    probe_gpus(options, asks_gpus, record, keep, progress);
  }
  return record;
}

/// Into the file of -J, if there is one: a probe that is killed leaves what it has measured. What fails here
/// fails at the end, too, and is told then.
void keep_record(const std::vector<OutputDocument>& documents, ProbeRecord so_far) {
  const std::string path = record_file(documents);
  if (path.empty()) return;
  so_far.notes.insert(so_far.notes.begin(), kUnfinishedProbe);
  try {
    write_file_by_rename(path, analysis::probe_json(so_far));
  } catch (const Error&) {
    return;
  }
}

std::vector<ProbeRecord> records_of(const ProbeCommand& options,
                                    const std::vector<OutputDocument>& documents) {
  if (options.records.empty())
    return {probe_this_host(options, [&](ProbeRecord so_far) { keep_record(documents, std::move(so_far)); })};
  std::vector<ProbeRecord> records;
  std::set<std::string> hosts;
  for (const std::string& path : options.records) {
    records.push_back(analysis::probe_from_json(input_text(path), input_name(path)));
    if (!hosts.insert(records.back().host).second) {
      throw usage_error(input_name(path), "it is of " + records.back().host + ", as another record here",
                        "name one record of each host");
    }
  }
  return records;
}

/// The page of Lab 00 has a roofline of the processors, whatever else is measured.
void require_roofline_work(const ProbeCommand& options) {
  if (!options.lab00 || !options.records.empty() || options.only.empty()) return;
  const auto asks = [&](const std::vector<std::string>& ids) {
    return !asked_of(options, ids, ids, kAllProcessors).empty();
  };
  if (asks({"fma-fp64", "gemm-fp64"}) && asks({"triad", "triad-streaming"})) return;
  throw usage_error("--only", "--preset lab00 needs arithmetic in FP64 and a triad",
                    "add fma-fp64,triad, or cpu, to the list");
}

/// Tables are of several hosts; a page, a picture and a record are of one.
void require_one_host(const ProbeCommand& options, const std::vector<OutputDocument>& documents) {
  if (options.records.size() < 2) return;
  const auto refuse = [](const std::string& what) {
    throw usage_error(what, "it is of one host", "name one record");
  };
  if (options.lab00) refuse("--preset lab00");
  if (!options.picture.empty()) refuse("--plot-file");
  for (const OutputDocument& document : documents) {
    if (document.format == "json") refuse(document.option == "-J" ? "-J" : "--format json");
  }
}

/// The picture as a link in `page` has to name it: from the page's folder, or as given where the page goes to
/// stdout.
std::string link_to(const std::string& picture, const OutputDocument& page) {
  if (picture.empty() || page.path.empty() || page.path == "-") return picture;
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  return whole(picture).lexically_relative(whole(page.path).parent_path()).string();
}

CommandResult run_probe(const ProbeCommand& options) {
  const auto documents = output_documents(options.output, options.lab00 ? kLab00Page : "");
  require_one_host(options, documents);
  require_roofline_work(options);
  require_writable_documents(documents, options.output.overwrite);
  if (!options.picture.empty()) require_writable(options.picture, options.output.overwrite, "--plot-file");
  const std::vector<ProbeRecord> records = records_of(options, documents);
  const auto write = [&](const OutputDocument& document) {
    return document.format == kLab00Page
               ? analysis::lab00_page(records.front(), options.price, link_to(options.picture, document))
               : analysis::probe_report(records, document.format, page_options(document).columns);
  };
  CommandResult result{write_documents(documents, write), ExitStatus::ok, prints_text(documents)};
  if (!options.picture.empty())
    write_file_by_rename(options.picture, svg_chart(analysis::roofline_chart(records.front())));
  const bool is_low = options.lab00 ? !analysis::lab00_caveat(records.front()).empty()
                                    : !analysis::judge_probes(records).slow.empty();
  if (is_low) result.status = ExitStatus::low;
  return result;
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ProbeCommand>();
  command.add_option("records", options->records,
                     "records of earlier probes (-J), compared with each other (this host is measured)");
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    return add_option(command, "Options", names, value, help, take);
  };
  add("--time", "SECONDS", "for each kind of work (2.5; of a product on GPUs 20, and less of copies)",
      number_into(options->seconds, "--time", 0.05, 600.0));
  add("--only", "LIST", fmt::format("of {} (all but gpu-gemm-fp32)", fmt::join(probe_ids(), ", ")),
      [options](const std::string& text) {
        for (const std::string& id : split_list(text))
          options->only.push_back(parse_name(id, "--only", probe_ids()));
      });
  add("--soak", "SECONDS", "at the end also a product in BF16 on all GPUs for so long, such as 120 (none)",
      number_into(options->soak_seconds, "--soak", 0.05, 86'400.0));
  add("--gpu-timeout", "SECONDS", "a GPU that makes no progress for so long has failed (60)",
      number_into(options->gpu_timeout_seconds, "--gpu-timeout", 0.5, 3'600.0));
  add_output_options(command, "Options", options->output, analysis::probe_formats(), "the record (JSON)");
  add("--preset", "NAME", "lab00: the roofline of this host as a page of Markdown",
      [options](const std::string& text) {
        options->lab00 = parse_name(text, "--preset", {std::string(kLab00Page)}) == kLab00Page;
      })
      ->excludes(command.get_option("--format"));
  add("--price", "PRICE", "of this host for an hour, for lab00",
      number_into(options->price.per_hour, "--price", 1e-6, 1e9))
      ->needs(command.get_option("--preset"));
  add("--currency", "NAME", "of --price, such as USD (none is printed)", into(options->price.currency))
      ->needs(command.get_option("--price"));
  add("--plot-file", "FILE", "the roofline as SVG", into(options->picture));
  add_progress_option(command, "Options", options->progress);
  command.callback([options, &chosen] { chosen = [options] { return run_probe(*options); }; });
}

}  // namespace collbench::program
