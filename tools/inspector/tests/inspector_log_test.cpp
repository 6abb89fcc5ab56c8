#include "tools/inspector/inspector_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kHeader =
    R"("header":{"id":"0xabc","rank":1,"n_ranks":4,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","hostname":"n7","pid":9},)";

std::string call(const char* collective, int bytes, const char* source = "kernel_gpu",
                 const char* more = "") {
  return fmt::format(
      R"({{{}"coll_perf":{{"coll":"{}","coll_sn":3,"coll_msg_size_bytes":{},"coll_exec_time_us":61,"coll_timing_source":"{}","coll_algobw_gbs":1,"coll_busbw_gbs":1{}}}}})"
      "\n",
      kHeader, collective, bytes, source, more);
}

InspectedJob read(const std::string& text) {
  InspectedJob job;
  std::istringstream input(text);
  read_inspector_log(input, "n7-pid9.log", job);
  return job;
}

TEST(InspectorLog, ACallIsOfItsCommunicatorOperationAndSize) {
  const InspectedJob job = read(call("AllReduce", 1 << 20));
  ASSERT_THAT(job.communicators, SizeIs(1));
  EXPECT_EQ(job.communicators[0].id, "0xabc");
  EXPECT_EQ(job.communicators[0].ranks, 4);
  EXPECT_THAT(job.communicators[0].hosts, ElementsAre(Pair(1, "n7")));
  ASSERT_THAT(job.calls, SizeIs(1));
  const auto& [kind, calls] = *job.calls.begin();
  EXPECT_EQ(kind.operation, OperationId::all_reduce);
  EXPECT_EQ(kind.size_bytes, 1U << 20);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].sequence, 3U);
  EXPECT_DOUBLE_EQ(calls[0].seconds, 61e-6);
}

TEST(InspectorLog, OfAllGatherAndReduceScatterTheSizeIsOverAllRanks) {
  for (const char* name : {"AllGather", "ReduceScatter"})
    EXPECT_EQ(read(call(name, 1000)).calls.begin()->first.size_bytes, 4000U) << name;
  EXPECT_EQ(read(call("Broadcast", 1000)).calls.begin()->first.size_bytes, 1000U);
}

TEST(InspectorLog, TheAlgorithmOfNewerFormatsIsRead) {
  EXPECT_EQ(read(call("AllReduce", 8, "kernel_gpu", R"(,"coll_algo":"NVLS_TREE","coll_proto":"SIMPLE")"))
                .calls.begin()
                ->first.algorithm,
            "nvls_tree");
}

TEST(InspectorLog, WhatCannotBeJudgedIsCountedWithItsReason) {
  const std::string p2p = fmt::format(R"({{{}"p2p_perf":{{"p2p":"Send"}}}})"
                                      "\n",
                                      kHeader);
  const std::string other = fmt::format(R"({{{}"other":{{"a":7}}}})"
                                        "\n",
                                        kHeader);
  const InspectedJob job =
      read(call("AllReduce", 8, "kernel_cpu") + p2p + other + "\n" + call("AllReduceMaybe", 8));
  EXPECT_TRUE(job.calls.empty());
  EXPECT_THAT(job.left_out, testing::UnorderedElementsAre(Pair("not timed by the GPU", 1),
                                                          Pair("Send and Recv, which are not judged", 1),
                                                          Pair("no collective", 1),
                                                          Pair("of a collective without a model", 1)));
}

TEST(InspectorLog, ALastLineThatWasCutIsLeftOutWhereverThatWas) {
  const std::string whole = call("AllReduce", 8);
  for (const std::size_t bytes : {1U, 2U, 8U, 9U, 10U, 40U}) {
    const InspectedJob job = read(whole + whole.substr(0, bytes));
    EXPECT_THAT(job.calls, SizeIs(1));
    EXPECT_THAT(job.left_out, ElementsAre(Pair("cut at the end of a file", 1))) << bytes;
  }
}

TEST(InspectorLog, ADamagedLineBehindOthersIsCountedAndAFileThatBeginsSoRefused) {
  const std::string whole = call("AllReduce", 8);
  for (const std::string bad : {"hello\n", "{}\n", "[1]\n", "{\"coll_perf\":{}}\n"}) {
    const InspectedJob job = read(whole + bad + whole);
    EXPECT_THAT(job.calls.begin()->second, SizeIs(2)) << bad;
    EXPECT_THAT(job.left_out, ElementsAre(Pair("damaged", 1))) << bad;
    try {
      read(bad + whole);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_THAT(error.where(), HasSubstr("n7-pid9.log:1")) << bad;
    }
  }
}

TEST(InspectorLog, AFileOfSomethingElseIsNotTakenForACutOne) { EXPECT_THROW(read("hello"), Error); }

TEST(InspectorLog, ASizeThatIsNoNumberOverAllRanksIsRefused) {
  EXPECT_THROW(
      read(fmt::format(
          fmt::runtime(
              R"({{{}"coll_perf":{{"coll":"AllGather","coll_sn":3,"coll_msg_size_bytes":1125899906842624,"coll_exec_time_us":61,"coll_timing_source":"kernel_gpu"}}}})"
              "\n"),
          kHeader)),
      Error);
}

TEST(InspectorLog, ALineWithoutEndIsRefusedBeforeItFillsTheMemory) {
  EXPECT_THROW(read(std::string((1U << 20) + 2, ' ')), Error);
}

/// A line of one communicator's dump since format v4.3, behind the marker that has its header.
std::string marker(const char* id, int collectives, int lost = 0) {
  return fmt::format(
      R"({{"header":{{"id":"{}","comm_name":"unknown","rank":1,"n_ranks":4,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.4","dump_timestamp_us":1748030377748202,"hostname":"n7","pid":9}},"dump_stats":{{"coll_records":{},"coll_dropped_total":{},"p2p_records":1}}}})"
      "\n",
      id, collectives, lost);
}

constexpr const char* kCall =
    R"({"coll_perf":{"coll":"AllReduce","coll_algo":"RING","coll_proto":"LL","coll_sn":3,"coll_msg_size_bytes":8,"coll_exec_time_us":61,"coll_timing_source":"kernel_gpu"}})"
    "\n";
constexpr const char* kP2p = R"({"p2p_perf":{"p2p":"Send"}})"
                             "\n";

TEST(InspectorLog, LinesBehindAMarkerAreOfItsCommunicator) {
  const InspectedJob job =
      read(marker("0xa", 2) + kCall + kCall + kP2p + marker("0xb", 1) + kCall + kP2p + kCall);
  ASSERT_THAT(job.communicators, SizeIs(2));
  EXPECT_EQ(job.communicators[0].id, "0xa");
  EXPECT_EQ(job.communicators[0].name, "") << "\"unknown\" is no name";
  ASSERT_THAT(job.calls, SizeIs(2));
  EXPECT_THAT(job.calls.begin()->second, SizeIs(2));
  EXPECT_EQ(job.calls.begin()->second[0].second_of_dump, 1748030377);
  EXPECT_THAT(job.calls.rbegin()->second, SizeIs(1));
  EXPECT_THAT(job.left_out, testing::UnorderedElementsAre(Pair("Send and Recv, which are not judged", 2),
                                                          Pair("damaged", 1)))
      << "more lines than the marker says are of nobody known";
}

TEST(InspectorLog, BehindADamagedLineNoMarkerIsTrusted) {
  const InspectedJob job = read(marker("0xa", 3) + kCall + "{\"header\":{\"id\":\n" + kCall);
  EXPECT_THAT(job.calls.begin()->second, SizeIs(1)) << "the damaged one may have been a marker";
  EXPECT_THAT(job.left_out, ElementsAre(Pair("damaged", 2)));
}

TEST(InspectorLog, CallsThatInspectorLostAreCountedForEachRank) {
  EXPECT_THAT(read(marker("0xa", 0, 3) + marker("0xa", 0, 5) + marker("0xb", 0, 7)).lost,
              ElementsAre(Pair("0xa 1", 5), Pair("0xb 1", 7)));
}

TEST(InspectorLog, ACallThatIsLeftOutMakesNoCommunicator) {
  EXPECT_TRUE(read(call("AllReduce", 8, "kernel_cpu")).communicators.empty());
}

TEST(InspectorLog, ARankBeyondItsCommunicatorIsRefused) {
  std::string text = call("AllReduce", 8);
  text.replace(text.find("\"rank\":1"), 8, "\"rank\":4");
  EXPECT_THROW(read(text), Error);
}

}  // namespace
}  // namespace collbench::analysis
