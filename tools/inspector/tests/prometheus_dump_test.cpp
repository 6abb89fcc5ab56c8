#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

InspectedJob read_dump(const std::string& text) {
  InspectedJob job;
  std::istringstream input(text);
  read_inspector_log(input, "nccl_inspector_metrics_GPU-1.prom", job);
  return job;
}

/// As inspector_prom.cc of NCCL 2.30.3 and newer writes a bucket.
std::string bucket(const std::string& size, double busbw, const std::string& gpu = "GPU0",
                   const std::string& node = "n1", int nodes = 1, const std::string& name = "tp",
                   const std::string& collective = "AllReduce") {
  const std::string labels = fmt::format(
      R"(version="v5.1",slurm_job_id="unknown",node="{}",gpu="{}",comm_name="{}",n_nodes="{}",nranks="4",collective="{}",message_size="{}",algo_proto="NVLS_TREE_SIMPLE")",
      node, gpu, name, nodes, collective, size);
  return fmt::format(
      "nccl_bus_bandwidth_gbs{{{0}}} {1:.6g}\nnccl_collective_exec_time_microseconds{{{0}}} 410.5\n", labels,
      busbw);
}

TEST(PrometheusDump, ABucketIsOfItsNameOperationAndRangeOfSizes) {
  const InspectedJob job = read_dump(bucket("64-65MB", 300) + bucket("64-65MB", 280, "GPU1"));
  ASSERT_THAT(job.communicators, SizeIs(1));
  EXPECT_TRUE(job.communicators[0].is_of_means);
  EXPECT_EQ(job.communicators[0].name, "tp on n1");
  EXPECT_EQ(job.communicators[0].ranks, 4);
  EXPECT_THAT(job.communicators[0].gpus, ElementsAre(Pair("n1 GPU0", 0), Pair("n1 GPU1", 1)));
  ASSERT_THAT(job.calls, SizeIs(1));
  const auto& [kind, samples] = *job.calls.begin();
  EXPECT_EQ(kind.operation, OperationId::all_reduce);
  EXPECT_EQ(kind.size_bytes, 64 * kMiB);
  EXPECT_EQ(kind.size_end, 65 * kMiB);
  EXPECT_EQ(kind.algorithm, "nvls_tree");
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_NEAR(1.5 * static_cast<double>(64 * kMiB) / samples[1].seconds, 280e9, 1e5);
  EXPECT_THAT(job.left_out, IsEmpty());
}

TEST(PrometheusDump, OfAllGatherTheRangeIsOverAllRanks) {
  const InspectedKind kind =
      read_dump(bucket("1-2GB", 300, "GPU0", "n1", 1, "tp", "AllGather")).calls.begin()->first;
  EXPECT_EQ(kind.size_bytes, 4 * kGiB);
  EXPECT_EQ(kind.size_end, 8 * kGiB);
}

TEST(PrometheusDump, WhatSpansOneNodeIsOneGroupANodeAndWhatSpansMoreIsOne) {
  EXPECT_THAT(read_dump(bucket("1-2GB", 300) + bucket("1-2GB", 300, "GPU0", "n2")).communicators, SizeIs(2));
  const InspectedJob job = read_dump(bucket("1-2GB", 300, "GPU0", "n1", 2, "unknown") +
                                     bucket("1-2GB", 300, "GPU0", "n2", 2, "unknown"));
  ASSERT_THAT(job.communicators, SizeIs(1));
  EXPECT_EQ(job.communicators[0].name, "") << "\"unknown\" is no name";
  EXPECT_THAT(job.communicators[0].hosts, ElementsAre(Pair(0, "n1"), Pair(1, "n2")));
  EXPECT_FALSE(job.communicators[0].is_of_several());
}

TEST(PrometheusDump, TwoJobsOnANodeAreTwoGroups) {
  std::string other = bucket("1-2GB", 300);
  const std::string unknown = R"(slurm_job_id="unknown")";
  for (std::size_t at = 0; (at = other.find(unknown, at)) != std::string::npos;)
    other.replace(at, unknown.size(), R"(slurm_job_id="8")");
  EXPECT_THAT(read_dump(bucket("1-2GB", 300) + other).communicators, SizeIs(2));
}

TEST(PrometheusDump, TheLastCallOfNccl229IsACallOfItsRank) {
  const std::string labels =
      R"(comm_id="0xabc",hostname="n7",rank="3",slurm_job="unknown",slurm_job_id="unknown",nranks="8",n_nodes="1",gpu_device_id="GPU3",collective="ReduceScatter",coll_sn="228924",timestamp="2025-10-17T03:31:47Z",message_size="2.50MB")";
  const InspectedJob job =
      read_dump(fmt::format("nccl_algorithm_bandwidth_gbs{{{0}}} 300\n"
                            "nccl_bus_bandwidth_gbs{{{0}}} 262.5\n"
                            "nccl_collective_exec_time_microseconds{{{0}}} 70\n",
                            labels));
  ASSERT_THAT(job.communicators, SizeIs(1));
  EXPECT_EQ(job.communicators[0].id, "0xabc");
  EXPECT_FALSE(job.communicators[0].is_of_means);
  EXPECT_THAT(job.communicators[0].hosts, ElementsAre(Pair(3, "n7")));
  ASSERT_THAT(job.calls, SizeIs(1));
  const auto& [kind, calls] = *job.calls.begin();
  EXPECT_EQ(kind.size_bytes, 20 * kMiB);
  EXPECT_EQ(kind.size_end, 0U);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].sequence, 228924U);
  EXPECT_DOUBLE_EQ(calls[0].seconds, 70e-6);
  EXPECT_EQ(calls[0].second_of_dump, 1760671907);
}

TEST(PrometheusDump, AServersDumpHasTimes) {
  const std::string head =
      R"({__name__="nccl_bus_bandwidth_gbs", algo_proto="RING_LL", collective="AllReduce", comm_name="a, \"b\" \\n", exported_node="n1", gpu="GPU0", message_size="4-5GB", n_nodes="1", node="scraped", nranks="4", version="v5.1"} )";
  const InspectedJob job = read_dump(head + "678.263 1764000000500\n" + head + "NaN 1764000060500\n");
  EXPECT_EQ(job.communicators.at(0).name, "a, \"b\" \\n on n1");
  const auto& samples = job.calls.begin()->second;
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_EQ(samples[0].second_of_dump, 1764000000);
  EXPECT_EQ(samples[0].sequence, 1764000000U / 60);
  EXPECT_THAT(job.left_out, ElementsAre(Pair("without a rate", 1)));
  const auto open_metrics = metric_sample("a{b=\"c\"} 1 1764000000.500");
  ASSERT_TRUE(open_metrics);
  EXPECT_EQ(open_metrics->second, 1764000000);
}

TEST(PrometheusDump, WhatIsNoneOfItsMetricsIsCounted) {
  const InspectedJob job = read_dump("# HELP go_gc a\n# TYPE go_gc gauge\ngo_gc 1\n" + bucket("1-2GB", 300) +
                                     "nccl_p2p_bus_bandwidth_gbs{nranks=\"4\"} 3\n" +
                                     bucket("1-2GB", 0, "GPU0", "n1", 1, "tp", "All2All"));
  EXPECT_THAT(job.left_out,
              ElementsAre(Pair("Send and Recv, which are not judged", 1),
                          Pair("of a collective without a model", 1), Pair("of other metrics", 1)));
  EXPECT_THAT(job.calls, SizeIs(1));
}

TEST(PrometheusDump, CallsThatInspectorLostAreCountedForEachGpu) {
  const auto dropped = [](const std::string& gpu, int count) {
    return fmt::format("nccl_collectives_dropped_total{{node=\"n1\",gpu=\"{}\"}} {}\n", gpu, count);
  };
  EXPECT_THAT(read_dump(dropped("GPU0", 3) + dropped("GPU0", 5) + dropped("GPU1", 7)).lost,
              ElementsAre(Pair("n1 GPU0", 5), Pair("n1 GPU1", 7)))
      << "a counter only grows";
}

TEST(PrometheusDump, AFileInTheMidstOfAWriteIsReadUpToThere) {
  const std::string whole = bucket("64-65MB", 300);
  EXPECT_THAT(read_dump("").calls, IsEmpty());
  for (std::size_t bytes = 6; bytes < whole.find('\n'); bytes += 7)
    EXPECT_THAT(read_dump(whole.substr(0, bytes)).left_out, ElementsAre(Pair("cut at the end of a file", 1)))
        << bytes;
  EXPECT_THAT(read_dump(whole + whole.substr(0, whole.find('\n'))).calls.begin()->second, SizeIs(1))
      << "a rate without the end of its line may be one without its last digits";
}

TEST(PrometheusDump, ADamagedLineBehindOthersIsCountedAndAFileThatBeginsSoRefused) {
  for (const std::string bad : {"nccl_a{b=\"c} 1\n", "nccl_a{b=c} 1\n", "nccl_a{b=\"c\"} one\n", "nccl_a\n",
                                "nccl_a{b=\"c\" d=\"e\"} 1\n", "nccl_a 1 1e300\n", "nccl_a 1 -5\n"}) {
    EXPECT_THAT(read_dump(bucket("1-2GB", 300) + bad).left_out, ElementsAre(Pair("damaged", 1))) << bad;
    EXPECT_THROW(read_dump(bad + bucket("1-2GB", 300)), Error) << bad;
  }
  for (const std::string size : {"2-3XB", "big", "-1MB", "9999999-9999999TB", "nan-nanMB", "1-MB"})
    EXPECT_THAT(read_dump(bucket("1-2GB", 300) + bucket(size, 300)).left_out, ElementsAre(Pair("damaged", 1)))
        << size;
}

}  // namespace
}  // namespace collbench::analysis
