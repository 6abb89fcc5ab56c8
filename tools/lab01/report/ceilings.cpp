#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/node_nics.hpp"
#include "base/units.hpp"
#include "tools/lab01/report/lab01.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/catalog/links.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::analysis {
namespace {

constexpr double kBitsPerByte = 8;

/// A link in GB/s at its line rate and as NCCL counts it.
struct TwoRates {
  double line = 0;
  double nccl = 0;
};

/// NCCL's PCIe rates are below the link's: what all lanes carry after coding, before protocol headers.
double pcie_line_rate(double nccl_rate) {
  return nccl_rate / topology::pcie_rate_of_coded(1).gigabytes_per_second;
}

/// PCIe of the device at `address`; none where the topology does not tell, or tells what virtual machines
/// make up (gpu_cluster's rule).
std::optional<TwoRates> pcie_of(const topology::Host& host, std::string_view address) {
  const topology::PciDevice* device = topology::find_pci_device(host, address);
  if (device == nullptr || !device->link_max.gigatransfers_per_second.known()) return std::nullopt;
  const double gigatransfers = *device->link_max.gigatransfers_per_second.value;
  const int width = device->link_now.width.value_or(device->link_max.width.value_or(16));
  if (width == 0 || gigatransfers < 8) return std::nullopt;
  const double nccl = topology::pcie_rate(gigatransfers, width).gigabytes_per_second;
  return TwoRates{pcie_line_rate(nccl), nccl};
}

LinkCeiling in_gigabytes(std::string what, std::string arithmetic, double gigabytes, std::string source) {
  return {std::move(what), std::move(arithmetic), gigabytes * kGigabyte, std::move(source)};
}

/// "8 × 400 Gb/s ÷ 8", "4 × 400 Gb/s ÷ 8 + 4 × 252 Gb/s ÷ 8".
std::string nic_arithmetic(const std::vector<double>& gigabits, int nodes) {
  std::vector<std::pair<double, int>> kinds;
  for (const double each : gigabits) {
    const auto same = std::ranges::find_if(kinds, [&](auto& kind) { return kind.first == each; });
    if (same != kinds.end()) {
      ++same->second;
    } else {
      kinds.emplace_back(each, 1);
    }
  }
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [rate, count] : kinds) parts.push_back(fmt::format("{} × {:.4g} Gb/s ÷ 8", count, rate));
  const std::string sum = fmt::format("{}", fmt::join(parts, " + "));
  return nodes == 1 ? sum : fmt::format("{} nodes × ({})", nodes, sum);
}

/// A link of the page, and what NCCL counts of it in B/s.
struct CountedLink {
  LinkCeiling line;
  double by_nccl = 0;
};

/// The NICs that collectives use, each at its line rate or at that of its PCIe link where that is less.
std::optional<CountedLink> nics_at_line_rate(const Lab01Machine& machine) {
  const GpuCluster& cluster = machine.cluster;
  std::vector<double> gigabits;
  double by_nccl = 0;
  for (const int index : fast_enough_nics(machine.host)) {
    const topology::Nic& nic = machine.host.nics[static_cast<std::size_t>(index)];
    const double line = topology::usable_gigabits(nic);
    // A job on some of a node's GPUs may have fewer of its NICs as well: as many as the cluster has.
    if (cluster.nics > 0 && std::cmp_greater_equal(gigabits.size(), cluster.nics)) break;
    const auto pcie = pcie_of(machine.host, nic.pci_address.value_or(""));
    gigabits.push_back(pcie ? std::min(line, pcie->line * kBitsPerByte) : line);
    by_nccl += pcie ? std::min(line / kBitsPerByte, pcie->nccl) : line / kBitsPerByte;
  }
  if (gigabits.empty()) return std::nullopt;
  double sum = 0;
  for (const double each : gigabits) sum += each / kBitsPerByte;
  const int nodes = domain_node_count(cluster);
  CountedLink ceiling{in_gigabytes(fmt::format("NICs of one {}, line rate", domain_name(cluster)),
                                   nic_arithmetic(gigabits, nodes), nodes * sum,
                                   "rate of the ports, or of the PCIe link below where that is less"),
                      nodes * by_nccl * kGigabyte};
  const int gpus = nodes * cluster.ranks_per_node;
  const auto gpu = pcie_of(machine.host, machine.host.gpus.front().pci_address.value_or(""));
  const bool some_gpus = std::cmp_less(cluster.ranks_per_node, machine.host.gpus.size());
  if (!some_gpus || !gpu) return ceiling;
  ceiling.by_nccl = std::min(ceiling.by_nccl, gpus * gpu->nccl * kGigabyte);
  if (gpus * gpu->line * kGigabyte < ceiling.line.bytes_per_second) {
    ceiling.line = in_gigabytes("way to the NICs through the GPUs in use, line rate",
                                fmt::format("{} × {:.4g} GB/s of PCIe", gpus, gpu->line), gpus * gpu->line,
                                "NICs of idle GPUs are reached through those in use");
  }
  return ceiling;
}

/// The way from each rank's GPU to the next one's, where NVLink does not connect them.
std::vector<topology::PathHop> hops_through_host(const Lab01Machine& machine) {
  const int ranks = machine.cluster.ranks_per_node;
  std::vector<topology::PathHop> hops;
  for (int i = 0; i < ranks; ++i) {
    const auto path = topology::path_between(machine.host, {topology::DeviceKind::gpu, i},
                                             {topology::DeviceKind::gpu, (i + 1) % ranks});
    if (path && path->type > topology::PathType::nvl)
      hops.insert(hops.end(), path->hops.begin(), path->hops.end());
  }
  return hops;
}

/// The slowest of these ways.
CountedLink way_through_host(const Lab01Machine& machine) {
  const GpuCluster& cluster = machine.cluster;
  std::optional<CountedLink> slowest;
  double by_nccl = 0;
  for (const topology::PathHop& hop : hops_through_host(machine)) {
    if (!hop.gigabytes_per_second) continue;
    const double nccl = *hop.gigabytes_per_second * kGigabyte;
    const bool pcie = hop.kind == topology::HopKind::pcie;
    const double rate = pcie ? pcie_line_rate(nccl) : nccl;
    by_nccl = by_nccl > 0 ? std::min(by_nccl, nccl) : nccl;
    if (slowest && slowest->line.bytes_per_second <= rate) continue;
    slowest = {
        {"slowest way from a GPU to its neighbor" + std::string(pcie ? ", line rate" : ""), hop.link, rate,
         pcie ? "the lanes' rate after coding"
              : "NCCL's figure (src/graph/topo.h): no source gives the physical rate",
         pcie},
        0};
  }
  if (slowest) return {slowest->line, by_nccl};
  const double rate = cluster.host_path * kGigabyte;
  return {{"slowest way from a GPU to its neighbor", cluster.host_path_name, rate,
           "NCCL's figure: the topology does not show the way", false},
          rate};
}

/// One NVLink of the machine's GPUs by their data sheet; the log may name the model where the topology does
/// not.
const topology::GpuModel* model_with_nvlink(const Run& run, const Lab01Machine& machine) {
  const auto* model = topology::find_gpu_model(machine.host.gpus.front().model.value_or(""));
  if (model == nullptr && run.log && run.log->gpu) model = topology::find_gpu_model(run.log->gpu->value);
  return model != nullptr && model->nvlink_gigabytes_per_second > 0 ? model : nullptr;
}

/// NVLink by the data sheet, as NCCL counts it and as it is reached.
void add_nvlinks(const Run& run, const Lab01Machine& machine, std::vector<LinkCeiling>& links) {
  const GpuCluster& cluster = machine.cluster;
  const auto add = [&](const char* what, double one, std::string source) {
    links.push_back(in_gigabytes(
        what, fmt::format("{} link{} × {:g} GB/s", cluster.nvlinks, cluster.nvlinks == 1 ? "" : "s", one),
        cluster.nvlinks * one, std::move(source)));
  };
  if (const auto* model = model_with_nvlink(run, machine)) {
    add("NVLink of one GPU, line rate", model->nvlink_gigabytes_per_second,
        fmt::format("data sheet of the {}", model->name));
  }
  const topology::LinkRate counted = topology::traits(cluster.generation).nvlink;
  const topology::LinkRate achieved = topology::traits(cluster.generation).achieved_nvlink;
  add("NVLink of one GPU, as NCCL counts it", counted.gigabytes_per_second, std::string(counted.source));
  add("NVLink of one GPU, as copies reach it", achieved.gigabytes_per_second, std::string(achieved.source));
}

void add_nics_of_log(const Run& run, std::vector<LinkCeiling>& links) {
  if (!run.log || !run.log->nics) return;
  const auto count = run.log->nics->value.size();
  const auto& rate = run.log->nic_bytes_per_second;
  if (!rate) return;
  links.push_back(
      {"NICs of one node that the log lists", fmt::format("{} × {}", count, format_rate(rate->value)),
       static_cast<double>(count) * rate->value, fmt::format("{}:{}", run.log->file, run.log->nics->line)});
}

/// What the formulas of docs/model.md need of a job, and its links in bytes per second.
struct Links {
  int ranks = 0;
  int ranks_per_domain = 0;
  int domains = 0;
  std::optional<double> gpu;   ///< out of a GPU, to its domain
  std::optional<double> nics;  ///< out of a domain
  std::string_view domain = "node";

  [[nodiscard]] bool enough() const {
    return ranks > 1 && (ranks_per_domain == 1 || gpu) && (domains == 1 || nics);
  }
};

std::string smaller_of(const std::vector<std::string>& terms) {
  return terms.size() == 1 ? terms.front() : fmt::format("min({})", fmt::join(terms, ", "));
}

/// An algorithm on one set of rates.
struct Formula {
  std::string_view name;
  std::string arithmetic;
  double busbw = 0;
  std::string because;
};

/// Every link of a ring carries 2(n − 1)/n · S.
Formula ring_of(const Links& links) {
  std::vector<double> rates;
  std::vector<std::string> terms;
  if (links.ranks_per_domain > 1) rates.push_back(*links.gpu);
  if (links.domains > 1) rates.push_back(*links.nics);
  for (const double rate : rates) terms.push_back(format_rate(rate));
  return {"ring", smaller_of(terms), *std::ranges::min_element(rates), "every link carries 2(p − 1)/p · S"};
}

/// An algorithm that sends S/`part` out of a GPU, and S out of each of two domains or 2S out of each of more.
Formula by_edges(const Links& links, std::string_view name, double part, const std::string& part_text) {
  const double factor = 2.0 * (links.ranks - 1) / links.ranks;
  std::vector<double> rates;
  std::vector<std::string> terms;
  if (links.ranks_per_domain > 1) {
    rates.push_back(factor * *links.gpu * part);
    terms.push_back(fmt::format("2(p − 1)/p × {}{}", format_rate(*links.gpu), part_text));
  }
  if (links.domains > 1) {
    const bool two = links.domains == 2;
    rates.push_back(factor * *links.nics / (two ? 1 : 2));
    terms.push_back(fmt::format("2(p − 1)/p × {}{}", format_rate(*links.nics), two ? "" : " ÷ 2"));
  }
  return {name, smaller_of(terms), *std::ranges::min_element(rates), ""};
}

std::string out_of_domain(const Links& links) {
  if (links.domains == 1) return "";
  return links.domains == 2 ? fmt::format("S leaves each of two {}s", links.domain)
                            : fmt::format("2S leaves a {} that is neither root nor leaf", links.domain);
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + ", " + b;
}

/// NCCL's double tree: the ranks of a domain are a chain, 2S out of a GPU in the middle of it, S where there
/// are two.
Formula tree_of(const Links& links) {
  const bool chain = links.ranks_per_domain > 2;
  Formula tree = by_edges(links, "tree", chain ? 0.5 : 1, chain ? " ÷ 2" : "");
  const std::string of_gpu = links.ranks_per_domain == 1 ? "" : chain ? "2S leaves a GPU" : "S leaves a GPU";
  tree.because = joined(of_gpu, out_of_domain(links));
  return tree;
}

/// NVLS: the NVSwitch reduces, so a GPU sends S(g + 1)/g.
Formula nvls_of(const Links& links) {
  const double local = links.ranks_per_domain;
  Formula nvls =
      by_edges(links, links.domains == 1 ? "nvls" : "nvls_tree", local / (local + 1), " × g/(g + 1)");
  nvls.because = joined(fmt::format("the NVSwitch reduces: S(g + 1)/g leaves a GPU, g = {}", local),
                        out_of_domain(links));
  return nvls;
}

/// The formula at line rate and by NCCL's count, as far as the links are known.
AlgorithmCeiling ceiling_of(Formula (*formula)(const Links&), const Links& line, const Links& nccl,
                            std::optional<double> reachable) {
  const Formula shown = formula(line.enough() ? line : nccl);
  return {std::string(shown.name),
          shown.arithmetic,
          line.enough() ? std::optional(shown.busbw) : std::nullopt,
          nccl.enough() ? std::optional(formula(nccl).busbw) : std::nullopt,
          reachable,
          shown.because};
}

Lab01Ceilings of_machine(const Run& run, const Lab01Machine& machine) {
  const GpuCluster& cluster = machine.cluster;
  Lab01Ceilings ceilings;
  Links line{cluster.ranks(), cluster.ranks_per_domain(), cluster.domains(), {}, {}, domain_name(cluster)};
  Links nccl = line;
  if (line.ranks_per_domain > 1 && cluster.nvlinks > 0) {
    add_nvlinks(run, machine, ceilings.links);
    if (const auto* model = model_with_nvlink(run, machine)) {
      line.gpu = cluster.nvlinks * model->nvlink_gigabytes_per_second * kGigabyte;
    }
    nccl.gpu = cluster.nvlinks * topology::traits(cluster.generation).nvlink.gigabytes_per_second * kGigabyte;
  } else if (line.ranks_per_domain > 1) {
    const CountedLink way = way_through_host(machine);
    ceilings.links.push_back(way.line);
    ceilings.links.push_back(
        in_gigabytes("the slowest such way, as reached", cluster.host_path_name, cluster.host_path,
                     "0.85 of NCCL's rate for PCIe, NCCL's own for others (docs/model.md)"));
    line.gpu = way.line.bytes_per_second;
    nccl.gpu = way.by_nccl;
  }
  if (line.domains > 1) {
    if (const auto nics = nics_at_line_rate(machine)) {
      ceilings.links.push_back(nics->line);
      line.nics = nics->line.bytes_per_second;
      nccl.nics = nics->by_nccl;
    }
    const LinkLimit reached = domain_nics(cluster);
    ceilings.links.push_back(
        in_gigabytes(fmt::format("the same, as reached over {}", traits(cluster.transport).name),
                     reached.name, reached.gigabytes_per_second,
                     reached.kind == LimitKind::pcie ? "PCIe as NCCL counts it (src/graph/topo.h)"
                                                     : std::string(traits(cluster.transport).source)));
    add_nics_of_log(run, ceilings.links);
  }
  ceilings.are_bounds = line.enough() && std::ranges::all_of(ceilings.links, &LinkCeiling::bounds);
  if (!line.enough() && !nccl.enough()) return ceilings;
  const Operation& meant = operation(OperationId::all_reduce);
  const double busbw = bus_factor(meant, cluster.ranks()) * kGigabyte;
  const auto add = [&](Formula (*formula)(const Links&), const AlgorithmRate& rate) {
    ceilings.algorithms.push_back(ceiling_of(formula, line, nccl, busbw * rate.gigabytes_per_second));
  };
  add(ring_of, gpu_ring(meant, cluster));
  add(tree_of, gpu_tree(cluster));
  if (const auto nvls = gpu_nvls(cluster)) add(nvls_of, *nvls);
  return ceilings;
}

/// Without a topology: what NCCL's own lines say. They are NCCL's figures, not line rates.
Lab01Ceilings of_log(const Run& run) {
  Lab01Ceilings ceilings;
  ceilings.are_bounds = false;
  const LogFacts& log = *run.log;
  Links nccl;
  nccl.ranks = static_cast<int>(run.ranks.size());
  if (const auto& rate = log.nvlink_least_bytes_per_second) {
    nccl.gpu = rate->value;
    ceilings.links.push_back({"NVLink between two GPUs, as NCCL counts it", "NCCL's own line", rate->value,
                              fmt::format("{}:{}", log.file, rate->line)});
  }
  nccl.domains = log.nodes ? node_count(run.ranks) : 0;
  if (nccl.domains != 1) {
    add_nics_of_log(run, ceilings.links);
    if (log.nics && log.nic_bytes_per_second) {
      nccl.nics = static_cast<double>(log.nics->value.size()) * log.nic_bytes_per_second->value;
    }
  }
  if (nccl.domains == 0) return ceilings;
  nccl.ranks_per_domain = nccl.ranks / nccl.domains;
  if (!nccl.enough()) return ceilings;
  for (Formula (*formula)(const Links&) : {ring_of, tree_of}) {
    ceilings.algorithms.push_back(ceiling_of(formula, Links{}, nccl, std::nullopt));
  }
  return ceilings;
}

}  // namespace

const AlgorithmCeiling* Lab01Ceilings::find(std::string_view algorithm) const {
  const auto found = std::ranges::find(algorithms, algorithm, &AlgorithmCeiling::name);
  return found == algorithms.end() ? nullptr : &*found;
}

Lab01Ceilings lab01_ceilings(const Run& run, const std::optional<Lab01Machine>& machine) {
  if (!measures_gpus(run.backend)) return host_memory_ceilings(run);
  if (machine) return of_machine(run, *machine);
  return run.log ? of_log(run) : Lab01Ceilings{};
}

}  // namespace collbench::analysis
