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
  const std::string stats = fmt::format(R"({{{}"dump_stats":{{"dropped":7}}}})"
                                        "\n",
                                        kHeader);
  const InspectedJob job =
      read(call("AllReduce", 8, "kernel_cpu") + p2p + stats + "\n" + call("AllReduceMaybe", 8));
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
