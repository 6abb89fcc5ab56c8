#include "base/record/run_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/record/run.hpp"
#include "tests/base/record/random_run.hpp"

namespace collbench::run_stream_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kRows = 3;

Run planned(const std::string& host = "node1") {
  Run run;
  run.backend = BackendId::mpi;
  run.time_reduction = RankAggregate::maximum;
  run.versions = {.collbench = "1", .mpi = "Open MPI", .hwloc = "2", .nccl = "", .cuda = ""};
  run.ranks = {{.rank = 0, .host = host, .node = 0, .local_rank = 0},
               {.rank = 1, .host = host, .node = 0, .local_rank = 1}};
  for (std::size_t i = 0; i < kRows; ++i) {
    Row row;
    row.measurement.key.size_bytes = 8U << i;
    run.rows.push_back(row);
  }
  return run;
}

/// Two launches of 5 blocks each.
std::string written(unsigned seed, std::vector<LaunchBlocks>* blocks = nullptr) {
  RandomRun random(seed);
  std::string text;
  for (int launch = 0; launch < 2; ++launch) {
    text += launch_line(planned());
    if (blocks != nullptr) blocks->emplace_back();
    for (int i = 0; i < 5; ++i) {
      const MeasuredBlock block = random.block(kRows, 2);
      text += block_line(block);
      if (blocks != nullptr) blocks->back().push_back(block);
    }
  }
  return text;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(run_stream_from_text(text, "run.stream"));
  } catch (const Error& error) {
    return describe(error);
  }
  return "nothing was thrown";
}

/// What is said of a run that was `planned` but for one change.
template <class Change>
std::string difference(const Change& change) {
  Run now = planned();
  change(now);
  try {
    require_same_measurement(planned(), now, "run.stream:1");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(RunStream, WhatIsWrittenIsReadBack) {
  std::vector<LaunchBlocks> blocks;
  const std::string text = written(1, &blocks);
  const RunStream stream = run_stream_from_text(text, "run.stream");
  ASSERT_EQ(stream.launches.size(), 2U);
  EXPECT_EQ(stream.whole_bytes, text.size());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(stream.launches[i].run, planned());
    EXPECT_EQ(stream.launches[i].blocks, blocks[i]);
  }
}

TEST(RunStream, WhatCutTheLastLaunchShortIsTheRuns) {
  RandomRun random(7);
  const Incident incident = random.incident();
  const std::string cut_short = written(1) + incident_line(incident);
  const RunStream stream = run_stream_from_text(cut_short, "run.stream");
  EXPECT_FALSE(stream.launches[0].incident);
  EXPECT_EQ(stream.launches[1].incident, incident);
  EXPECT_EQ(stream.launches[1].blocks.size(), 5U);
  EXPECT_EQ(run_of(stream).incident, incident);
  EXPECT_FALSE(run_from_text(cut_short + launch_line(planned()), "run.stream").incident) << "it was resumed";
  EXPECT_THAT(refusal(incident_line(incident)), HasSubstr("run.stream:1"));
}

TEST(RunStream, OnlyItsEndMakesARunComplete) {
  EXPECT_FALSE(run_from_text(written(1), "run.stream").complete);
  EXPECT_TRUE(run_from_text(written(1) + end_line(), "run.stream").complete);
  EXPECT_FALSE(run_from_text(written(1) + end_line() + launch_line(planned()), "run.stream").complete);
}

TEST(RunStream, CutAnywhereItHoldsEveryBlockThatWasWhole) {
  const std::string text = written(2);
  const std::size_t first_line = text.find('\n') + 1;
  // Around the end of each line, and here and there within it: every place of a text this long takes more
  // than a minute under the sanitizers.
  const auto beside_an_end = [&](std::size_t end) {
    return text.substr(end - 1, 2).find('\n') != std::string::npos;
  };
  for (std::size_t end = first_line; end <= text.size(); ++end) {
    if (end % 17 != 0 && !beside_an_end(end)) continue;
    const std::string part = text.substr(0, end);
    const RunStream stream = run_stream_from_text(part, "run.stream");
    std::size_t lines = 0;
    for (const StreamedLaunch& launch : stream.launches) lines += 1 + launch.blocks.size();
    ASSERT_EQ(lines, static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')));
    ASSERT_EQ(stream.whole_bytes, part.rfind('\n') + 1);
  }
}

TEST(RunStream, DamageInTheMiddleIsRefusedWithItsLine) {
  std::string text = written(3);
  const std::size_t third = text.find('\n', text.find('\n') + 1) + 1;
  text[third] = 'x';
  EXPECT_THAT(refusal(text), HasSubstr("run.stream:3:1: is not JSON"));
  EXPECT_THAT(refusal(block_line({})), HasSubstr("run.stream:1"));
  EXPECT_THAT(refusal(""), HasSubstr("it has no whole line"));
  EXPECT_THAT(refusal("[]\n"), HasSubstr("run.stream:1: "));
}

TEST(RunStream, LaunchesOfTwoMeasurementsAreRefused) {
  EXPECT_THAT(refusal(launch_line(planned()) + launch_line(planned("node2"))),
              HasSubstr("run.stream:2: was measured with rank 0 on node1, and this is node2"));
}

TEST(RunStream, WhatDiffersIsNamed) {
  EXPECT_EQ(difference([](auto& run) { run.started = "later"; }), "nothing");
  EXPECT_THAT(difference([](auto& run) { run.backend = BackendId::nccl; }),
              HasSubstr("backend mpi, and this is nccl"));
  EXPECT_THAT(difference([](auto& run) { run.gpus_simulated = true; }),
              HasSubstr("was measured with the machine's own time, and this is simulated GPUs"));
  EXPECT_THAT(difference([](auto& run) { run.simulated = true; }), HasSubstr("this is simulated time"));
  EXPECT_THAT(difference([](auto& run) { run.versions.mpi = "MPICH"; }), HasSubstr("MPICH"));
  EXPECT_THAT(difference([](auto& run) { run.versions.collbench = "2"; }), HasSubstr("collbench 1"));
  EXPECT_THAT(difference([](auto& run) { run.versions.nccl = "2.30"; }), HasSubstr("NCCL"));
  EXPECT_THAT(difference([](auto& run) { run.time_reduction = RankAggregate::average; }), HasSubstr("max"));
  EXPECT_THAT(difference([](auto& run) { run.buffers.unaligned_elements = 1; }),
              HasSubstr("begin late by 0 elements, and this is 1 element"));
  EXPECT_THAT(difference([](auto& run) { run.ranks.pop_back(); }), HasSubstr("2 ranks, and this is 1 rank"));
  EXPECT_THAT(difference([](auto& run) { run.rows.pop_back(); }), HasSubstr("3 rows, and this is 2 rows"));
  EXPECT_THAT(
      difference([](auto& run) { run.rows[1].measurement.key.in_place = true; }),
      HasSubstr("row 2 as AllReduce 16 B float --algo auto, and this is AllReduce 16 B float in place"));
}

TEST(RunStream, TheRecordOfAStreamHasItsBlocksByRowAndLaunch) {
  MeasuredBlock block;
  block.row = 1;
  block.samples = {1};
  block.ranks = {{0, 1, 1}, {1, 1, 1}};
  std::string text = launch_line(planned());
  for (const double seconds : {1.0, 2.0}) {
    block.seconds = seconds;
    text += block_line(block);
    ++block.pass;
  }
  block.seconds = 9;
  block.pass = 0;
  text += launch_line(planned()) + block_line(block);
  const auto run = run_from_text(text, "run.stream");
  EXPECT_EQ(run.launches, 2);
  EXPECT_EQ(run.passes, 1);
  EXPECT_FALSE(run.complete);
  EXPECT_DOUBLE_EQ(run.rows[1].measurement.seconds, 2);
  EXPECT_THAT(run.rows[1].measurement.launch_passes, ElementsAre(2, 1));
  EXPECT_TRUE(run.rows[0].measurement.pass_seconds.empty());
}

TEST(RunStream, ARecordIsReadAsOne) {
  EXPECT_EQ(run_from_text(to_json_text(planned()), "run.json"), planned());
  EXPECT_FALSE(looks_like_stream(to_json_text(planned())));
}

}  // namespace
}  // namespace collbench::run_stream_test
