#include "analysis/import/import_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/record/run.hpp"
#include "base/text_input.hpp"
#include "tests/analysis/import/logs.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::import_log_test {
namespace {

using testing::HasSubstr;

collbench::Run read(const std::string& log, const ImportOptions& options = {}) {
  return import_log(log, "a.log", options);
}

std::string refusal_of(const std::string& log, const ImportOptions& options = {}) {
  try {
    (void)read(log, options);
  } catch (const Error& error) {
    return describe(error);
  }
  return "no refusal";
}

ImportOptions on_nodes(int nodes, std::optional<int> ranks_per_node = std::nullopt) {
  ImportOptions options;
  options.job = {nodes, ranks_per_node};
  return options;
}

ImportOptions of_run(int run) {
  ImportOptions options;
  options.run = run;
  return options;
}

ImportOptions of_all_reduce() {
  ImportOptions options;
  options.operation = OperationId::all_reduce;
  return options;
}

/// A heading and rows, with nothing that says who ran where.
std::string bare_table() { return std::string(kNewHeading) + std::string(kTwoRows) + std::string(kFooter); }

/// whole_log() of another program, whose rows say `reduction` and `root`.
std::string log_of(std::string_view program, std::string_view reduction, std::string_view root) {
  std::string log = whole_log();
  const auto replace = [&log](std::string_view from, std::string_view to) {
    for (std::size_t at = log.find(from); at != std::string::npos; at = log.find(from, at + to.size())) {
      log.replace(at, from.size(), to);
    }
  };
  replace("all_reduce_perf", fmt::format("{}_perf", program));
  replace("  float     sum      -1  ", fmt::format("  float {:>7} {:>7}  ", reduction, root));
  // Of four ranks the factor is 1.5 for AllReduce: these programs' rates are their own.
  const bool whole = program == "broadcast" || program == "reduce" || program == "sendrecv";
  replace("100.00  150.00", whole ? "100.00  100.00" : "100.00   75.00");
  replace(" 80.00  120.00", whole ? " 80.00   80.00" : " 80.00   60.00");
  if (program == "gather" || program == "scatter") {  // size is four times count
    replace("250000000", " 62500000");
    replace("           8             2", "          16             1");
  }
  return log;
}

TEST(ImportLog, RootedOperationsKeepTheirRoot) {
  struct Case {
    std::string_view program;
    OperationId id;
    std::string_view reduction;
    std::string_view root;
    std::optional<int> expected;
  };
  using enum OperationId;
  for (const Case& each :
       {Case{"broadcast", broadcast, "none", "2", 2}, Case{"reduce", reduce, "sum", "0", 0},
        Case{"gather", gather, "none", "3", 3}, Case{"scatter", scatter, "none", "1", 1},
        Case{"sendrecv", send_recv, "sum", "-1", std::nullopt},
        Case{"alltoallv", all_to_all_v, "none", "-1", std::nullopt}}) {
    const auto run = read(log_of(each.program, each.reduction, each.root));
    ASSERT_EQ(run.rows.size(), 4U) << each.program;
    EXPECT_EQ(run.rows[3].measurement.key.operation, each.id);
    EXPECT_EQ(run.rows[3].measurement.key.root, each.expected) << each.program;
    EXPECT_EQ(run.rows[3].measurement.key.reduction.has_value(), each.id == reduce) << each.program;
  }
}

TEST(ImportLog, AWholeLogIsARun) {
  const auto run = read(whole_log());
  ASSERT_EQ(run.rows.size(), 4U);
  const Measurement& large = run.rows[3].measurement;
  EXPECT_EQ(large.key.operation, OperationId::all_reduce);
  EXPECT_EQ(large.key.size_bytes, 1000000000U);
  EXPECT_EQ(large.key.count, 250000000U);
  EXPECT_EQ(large.key.reduction, Reduction::sum);
  EXPECT_TRUE(large.key.in_place);
  EXPECT_DOUBLE_EQ(large.seconds, 0.0125);
  EXPECT_EQ(large.wrong_elements, 0U);
  EXPECT_EQ(large.iterations, 20U);
  EXPECT_FALSE(large.interval);
  EXPECT_NEAR(*rates(run.rows[3], 4).bus_bandwidth, 120e9, 1e3);
  EXPECT_FALSE(run.rows[2].measurement.key.in_place);
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.backend, BackendId::nccl);
}

TEST(ImportLog, RowsHaveTheAlgorithmThatTheLogNamesForTheirSize) {
  const auto run = read(whole_log() +
                        "n1:1:2 [0] NCCL INFO AllReduce: 1000000000 Bytes -> Algo NVLS_TREE proto SIMPLE "
                        "channel{Lo..Hi}={0..23}\n"
                        "n1:1:2 [0] NCCL INFO 1024 Bytes -> Algo 0 proto 1 time 12.5\n");
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    EXPECT_EQ(measured.algorithm_ran, measured.key.size_bytes == 8 ? "auto" : "nvls_tree");
  }
}

/// -K
TEST(ImportLog, CallsThatTheSummarySkipsAreNoSamples) {
  const auto run = read(
      "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows; summary skips first 5 "
      "iterations\n"
      "# nThread 1 nGpus 4 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 10 "
      "validation: 1\n"
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
      "i_min i_max "
      "i_p99 i_cv%\n"
      "1000000000 250000000 float sum -1 10000 100.00 150.00 0 9000 25000 20000 12.5 10000 100.00 150.00 0 "
      "9500 11000 "
      "10900 1.25\n");
  const Measurement& row = run.rows.at(0).measurement;
  EXPECT_EQ(row.samples, 15U);
  EXPECT_EQ(row.iterations_per_sample, 10U);
  EXPECT_DOUBLE_EQ(row.p99, 0.02);
  EXPECT_EQ(row.median, 0) << "the table does not state it";
}

TEST(ImportLog, TheHeadingHasNcclsVersionWhereNcclDoesNotSayIt) {
  std::string text = whole_log();
  text.erase(text.find("NCCL version 2.27.6+cuda12.9\n"), 29);
  EXPECT_EQ(read(text).log->nccl, (LogFact<std::string>{"2.27.6", 1}));
}

TEST(ImportLog, TheJobIsWhatTheLogSays) {
  const auto run = read(whole_log());
  ASSERT_EQ(run.ranks.size(), 4U);
  EXPECT_EQ(run.ranks[2], (Identity{2, "node02", 1, 0}));
  const LogFacts& log = *run.log;
  EXPECT_EQ(log.program, (LogFact<std::string>{"all_reduce_perf", 2}));
  EXPECT_EQ(log.version, (LogFact<std::string>{"2.17.6", 1}));
  EXPECT_EQ(log.operation, (LogFact<std::string>{"AllReduce", 2}));
  EXPECT_EQ(log.gpu, (LogFact<std::string>{"NVIDIA H100 80GB HBM3", 6}));
  EXPECT_EQ(log.nccl, (LogFact<std::string>{"2.27.6+cuda12.9", 10}));
  EXPECT_EQ(log.ranks, (LogFact<int>{4, 6}));
  EXPECT_EQ(log.nodes, (LogFact<int>{2, 6}));
  EXPECT_EQ(log.ranks_per_node, (LogFact<int>{2, 6}));
  EXPECT_DOUBLE_EQ(log.latency_seconds->value, 20e-6);
  EXPECT_EQ(log.out_of_bounds->value, 0U);
  EXPECT_FALSE(log.network);
  EXPECT_TRUE(log.left_out.empty());
}

class Disguised : public testing::TestWithParam<const char*> {};

TEST_P(Disguised, PrefixesChangeNothing) {
  const auto plain = read(whole_log());
  const auto disguised = read(prefixed(whole_log(), GetParam()));
  EXPECT_EQ(disguised.rows, plain.rows);
  EXPECT_EQ(disguised.ranks, plain.ranks);
  EXPECT_EQ(disguised.log->gpu, plain.log->gpu);
}

INSTANTIATE_TEST_SUITE_P(Launchers, Disguised,
                         testing::Values("[1,0]<stdout>:", "0: ", "[0] ", "node1: ", "    ", "> ",
                                         "2026-10-01T12:00:00.123Z ", "\x1b[1m", "[1,0]<stdout>: 0: "));

TEST(ImportLog, LogDriversOfContainersChangeNothing) {
  std::string wrapped;
  for (const Line& line : clean_lines(whole_log()))
    wrapped += R"({"log":")" + line.text + R"(\n","stream":"stdout","time":"2026-11-20T01:02:03.1Z"})" + "\n";
  const auto run = read(wrapped);
  EXPECT_EQ(run.rows, read(whole_log()).rows);
  EXPECT_EQ(run.log->format, "nccl-tests text");
}

TEST(ImportLog, BlanksThatDoNotBreakAreBlanks) {
  std::string log = whole_log();
  for (std::size_t at = 0; (at = log.find("  ", at)) != std::string::npos; at += 3)
    log.replace(at, 1, "\xC2\xA0");
  EXPECT_EQ(read(log).rows, read(whole_log()).rows);
}

TEST(ImportLog, AHostWhoseNameHasABlankIsAHost) {
  std::string log = whole_log();
  for (std::size_t at = 0; (at = log.find("node0", at)) != std::string::npos; at += 5)
    log.replace(at, 5, "rack 7");
  const auto run = read(log);
  EXPECT_EQ(run.log->nodes->value, 2);
  EXPECT_EQ(run.log->gpu->value, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(run.log->notes, testing::ElementsAre(HasSubstr("'rack 71' is not the name of a host")));
}

/// A page that leaves the host out of the list: one process has all ranks, so they are on one node.
TEST(ImportLog, RanksOfOneProcessAreOnOneNode) {
  const auto log = [](int gpus) {
    return fmt::format(
        "# nThread 1 nGpus {} minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20\n"
        "#  Rank  0 Group  0 Pid 7 device  0 [0000:8f:00] NVIDIA B200\n"
        "#  Rank  1 Group  0 Pid 7 device  1 [0000:90:00] NVIDIA B200\n"
        "# size count type redop root time algbw busbw #wrong\n"
        "  67108864     16777216   float   sum   -1    280.0  239.67  239.67  0\n",
        gpus);
  };
  const auto run = read("all_reduce_perf\n" + log(2));
  EXPECT_EQ(run.log->nodes->value, 1);
  EXPECT_EQ(run.log->ranks_per_node->value, 2);
  EXPECT_EQ(run.log->gpu->value, "NVIDIA B200");
  EXPECT_FALSE(read("all_reduce_perf\n" + log(1)).log->nodes);
}

/// nccl-tests of before 2022 has the largest error in place of the number of wrong values.
TEST(ImportLog, RowsWithErrorsAreCheckedByTheLastLine) {
  const std::string rows =
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
      "all_reduce_perf\n# size count type redop time algbw busbw error time algbw busbw error\n"
      "  67108864     16777216   float   sum    280.0  239.67  239.67  1e-07  280.0  239.67  239.67  0e+00\n";
  for (const Row& row : read(rows + "# Out of bounds values : 0 OK\n").rows)
    EXPECT_EQ(row.measurement.wrong_elements, 0U);
  for (const Row& row : read(rows).rows) EXPECT_FALSE(row.measurement.wrong_elements);
}

/// nccl-tests before ec1b5e2 (June 2020): algbw is what came from the other ranks, over the time.
TEST(ImportLog, AlgbwOfBeforeMid2020IsRead) {
  const std::string log =
      "all_gather_perf -g 8 -b 1G -e 4G\n"
      "       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "  1073741824      33554432   float     7280  129.05  129.05  0e+00     7292  128.84  128.84  0e+00\n"
      "  4294967296     134217728   float    29122  129.05  129.05  1e+00    29169  128.84  128.84  1e+00\n"
      " Out of bounds values : 2 FAILED\n";
  const auto run = read(log);
  ASSERT_EQ(run.rows.size(), 4U);
  EXPECT_EQ(run.ranks.size(), 8U);
  EXPECT_NEAR(*rates(run.rows[2], 8).bus_bandwidth, 129.05e9, 0.01e9);
  EXPECT_EQ(run.log->out_of_bounds->value, 2U);
  // 129 ranks, where (n - 1)/n is 1 within a hundredth.
  const auto many = read(
      "all_gather_perf\n       size         count    type     time   algbw   busbw  error\n"
      "   132096000        256000   float     1000  131.07  131.07  0e+00\n");
  EXPECT_EQ(many.ranks.size(), 129U);
  EXPECT_THAT(refusal_of("all_gather_perf\n size count type time algbw busbw error\n"
                         "  4294967296     134217728   float    29122  119.05  119.05  0e+00\n"),
              HasSubstr("rows whose algbw is not size / time"));
}

TEST(ImportLog, HyperCubeHasTheRateOfWhatARankReceives) {
  const auto run =
      read("hypercube_perf\n" + std::string(kNewHeading) +
           "   268435456      16777216     float    none      -1     5000   40.27   40.27      0    "
           " 5000   40.27   40.27      0\n");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.ranks.size(), 4U);
  EXPECT_EQ(run.rows[0].measurement.key.operation, OperationId::hypercube);
  EXPECT_NEAR(*rates(run.rows[0], 4).bus_bandwidth, 40.27e9, 0.01e9);
}

TEST(ImportLog, ARowSaysWhereItStands) {
  const auto run = read(whole_log());
  EXPECT_EQ(run.rows[2].measurement.source, "a.log:15");
}

TEST(ImportLog, CarriageReturnsAndLostHashesChangeNothing) {
  std::string log = whole_log();
  for (std::size_t at = 0; (at = log.find('\n', at)) != std::string::npos; at += 2) log.insert(at, "\r");
  EXPECT_EQ(read(log).rows, read(whole_log()).rows);
  log = whole_log();
  std::erase(log, '#');
  EXPECT_EQ(read(log).rows.size(), 4U);
}

TEST(ImportLog, RanksComeFromTheRatesAndNodesAreNotMadeUp) {
  const auto run = read(bare_table());
  EXPECT_EQ(run.ranks.size(), 4U);  // busbw = 1.5 algbw
  EXPECT_EQ(run.log->ranks->value, 4);
  EXPECT_FALSE(run.log->nodes);
  EXPECT_EQ(run.ranks[3].node, 0);
  EXPECT_EQ(run.ranks[3].host, "");
}

TEST(ImportLog, NodesMayBeGiven) {
  const auto run = read(bare_table(), on_nodes(2));
  EXPECT_EQ(run.log->nodes, (LogFact<int>{2, 0}));
  EXPECT_EQ(run.log->ranks_per_node->value, 2);
  EXPECT_EQ(run.ranks[3].node, 1);
  EXPECT_THAT(refusal_of(bare_table(), on_nodes(3)),
              HasSubstr("4 ranks (as a.log says) are not spread evenly over 3 nodes"));
}

TEST(ImportLog, GivenRanksMustFitTheRates) {
  EXPECT_THAT(refusal_of(bare_table(), on_nodes(2, 8)),
              HasSubstr("16 ranks by --nodes × --ranks-per-node, but the table's busbw/algbw fits 4"));
}

TEST(ImportLog, ADeviceListThatContradictsTheRatesIsSaid) {
  std::string log = whole_log();
  log.insert(log.find("NCCL version"),
             "#  Rank  4 Group  0 Pid    104 on  node03 device  0 [0x0f] NVIDIA H100\n");
  EXPECT_THAT(refusal_of(log),
              HasSubstr("a.log:6: 5 ranks by the device list, but the table's busbw/algbw fits 4"));
}

TEST(ImportLog, OldTablesHaveNoCountOfWrongElements) {
  const std::string log =
      std::string(kOldHeading) +
      "  1000000000     250000000   float     sum    10000  100.00  150.00  2e-07    12500   "
      "80.00  120.00  2e-07\n";
  const auto run = read(log);
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_FALSE(run.rows[0].measurement.wrong_elements);
  EXPECT_EQ(run.log->operation->value, "AllReduce");
  EXPECT_FALSE(run.complete);  // no last lines
}

TEST(ImportLog, WhatIsUnknownIsAskedFor) {
  // Two ranks: busbw = algbw, for AllReduce and for SendRecv; nothing was checked.
  const std::string log =
      std::string(kNewHeading) +
      "  1000000000     250000000     float     sum      -1    10000  100.00  100.00    N/A    "
      "12500   80.00   80.00    N/A\n" +
      std::string(kFooter);
  EXPECT_THAT(refusal_of(log), HasSubstr("its table fits AllReduce and SendRecv; give --operation"));
  const auto run = read(log, of_all_reduce());
  EXPECT_EQ(run.ranks.size(), 2U);
  EXPECT_EQ(run.log->operation->line, 0);
}

TEST(ImportLog, RanksThatNothingSaysAreAskedFor) {
  const std::string log =
      std::string(kNewHeading) +
      "  1000000000     250000000     float    none       0    10000  100.00  100.00      0    "
      "12500   80.00   80.00      0\n";
  EXPECT_THAT(refusal_of(log), HasSubstr("the log does not say how many ranks ran; give --nodes N"));
  EXPECT_EQ(read(log, on_nodes(1, 8)).ranks.size(), 8U);
}

TEST(ImportLog, TwoRunsInOneFileAreNamedAndOneIsChosen) {
  const std::string log = whole_log() + whole_log();
  EXPECT_THAT(refusal_of(log),
              HasSubstr("holds 2 runs (1: all_reduce_perf, 4 devices, 2 rows, from line 1; 2: "
                        "all_reduce_perf, 4 devices, 2 rows, from line 19); choose one with --run N"));
  EXPECT_EQ(read(log, of_run(2)).log->gpu->line, 24);
  const TextParts once = [log, given = false]() mutable {
    return std::exchange(given, true) ? std::string_view() : std::string_view(log);
  };
  const std::vector<collbench::Run> runs = import_runs(once, "a.log", {}, true);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].log->file, "a.log, run 1 of 2 (from line 1)");
  EXPECT_EQ(runs[1].rows[2].measurement.source, "a.log:33");
  EXPECT_THAT(refusal_of(log, of_run(3)), HasSubstr("2 runs with rows"));
}

TEST(ImportLog, OneProgramPerSizeIsOneRun) {
  std::string second = whole_log();
  second.erase(second.find("           8             2"),
               second.find("  1000000000     2") - second.find("           8             2"));
  std::string first = whole_log();
  first.erase(first.find("  1000000000     2"), first.find("# Out of") - first.find("  1000000000     2"));
  const auto run = read(first + second);
  EXPECT_EQ(run.rows.size(), 4U);
  EXPECT_THAT(run.log->notes,
              testing::ElementsAre("the rows are of 2 invocations of the program, from line 1 on"));
  const auto with_commands = [&](const std::string& one, const std::string& other) {
    return "$ " + one + "\n" + first + "user@n1:~# " + other + "\n" + second;
  };
  EXPECT_EQ(read(with_commands("NCCL_ALGO=Ring ./all_reduce_perf -b 8 -e 8 -g 4",
                               "NCCL_ALGO=Ring ./all_reduce_perf -b 1G -e 1G -n 5 -g 4"))
                .rows.size(),
            4U);
  const std::string apart =
      with_commands("./all_reduce_perf -b 8 -e 8 -g 4", "NCCL_ALGO=Tree ./all_reduce_perf -b 1G -e 1G -g 4");
  EXPECT_THAT(refusal_of(apart),
              HasSubstr("2: NCCL_ALGO=Tree ./all_reduce_perf -b 1G -e 1G -g 4, 4 devices"));
  const auto with_setting = [](const std::string& log, const std::string& value) {
    return log + "n1:1:2 [0] NCCL INFO NCCL_ALGO set by environment to " + value + "\n";
  };
  EXPECT_EQ(read(with_setting(first, "Ring") + with_setting(second, "Ring")).rows.size(), 4U);
  EXPECT_THAT(refusal_of(with_setting(first, "Ring") + with_setting(second, "Tree")),
              HasSubstr("holds 2 runs"));
}

TEST(ImportLog, RunsOfDifferentProgramsAreNotOneRunWhateverOperationIsGiven) {
  const std::string all_gather = nameless(
      "  1000000000     62500000     float    none      -1    10000  100.00   75.00      0    10000  100.00  "
      " 75.00 "
      "     0\n");
  const std::string all_reduce = nameless(
      "  2000000000    500000000     float     sum      -1    20000  100.00  150.00      0    20000  100.00  "
      "150.00 "
      "     0\n");
  const std::string reduce_scatter = nameless(
      "  4000000000    250000000     float     sum      -1    40000  100.00   75.00      0    40000  100.00  "
      " 75.00 "
      "     0\n");
  ImportOptions options;
  options.operation = OperationId::all_reduce;
  EXPECT_THAT(refusal_of(all_reduce + reduce_scatter, options), HasSubstr("holds 2 runs"));
  EXPECT_THAT(refusal_of(all_gather + all_reduce + reduce_scatter, options), HasSubstr("holds 3 runs"));
  options.operation = OperationId::all_gather;  // as many ranks and the same busbw/algbw as ReduceScatter
  EXPECT_THAT(refusal_of(all_gather + reduce_scatter, options), HasSubstr("holds 2 runs"));
  options.run = 1;
  EXPECT_EQ(read(all_gather + reduce_scatter, options).rows.size(), 2U);
}

TEST(ImportLog, RcclTestsSayWhoseGpusTheyAre) {
  const std::string log = "rccl-tests: Version develop:a52452e\n" + devices("") + std::string(kNewHeading) +
                          std::string(kTwoRows) + std::string(kFooter);
  const LogFacts facts = *read(log).log;
  EXPECT_EQ(facts.gpu, (LogFact<std::string>{"AMD (rccl-tests)", 1}));
  EXPECT_EQ(facts.version, (LogFact<std::string>{"develop:a52452e", 1}));
  const LogFacts named = *read("rccl-tests: Version develop:a52452e\n" + whole_log()).log;
  EXPECT_EQ(named.gpu->value, "NVIDIA H100 80GB HBM3");
}

TEST(ImportLog, RanksOfSeveralJobsInOneTableAreSaidToBe) {
  std::string log = whole_log();
  const std::string of_eight =
      "  2000000000     500000000     float     sum      -1    20000  100.00  175.00      0    20000  100.00 "
      " "
      "175.00      0\n";
  log.insert(log.find("# Out of bounds"), of_eight);
  EXPECT_THAT(refusal_of(log), HasSubstr("the rows are of jobs of different numbers of ranks"));
}

TEST(ImportLog, ProcessesThatTookThemselvesForTheJobAreRefused) {
  std::string log = whole_log();
  log.insert(log.find("NCCL version"),
             "#  Rank  0 Group  0 Pid    104 on  node03 device  0 [0x0f] NVIDIA H100\n");
  EXPECT_THAT(refusal_of(log), HasSubstr("the tables of 2 jobs are interleaved (rank 0 is listed 2 times)"));
  EXPECT_THAT(refusal_of(log), HasSubstr("build nccl-tests with MPI=1"));
}

TEST(ImportLog, WhatIsLeftOutIsCounted) {
  std::string log = whole_log();
  log.insert(
      log.find("           8             2"),
      "           0             0     float     sum      -1     0.30    0.00    0.00      0     0.26    0.00 "
      "   "
      "0.00      0\n"
      "          16             4     float     sum      -1   XXX.XX    X.XX    X.XX      0   XXX.XX    X.XX "
      "   "
      "X.XX      0\n"
      "        ...\n"
      "          32             8     float     sum      -1    20.00    0.00    0.00\n"
      "          64            16    f8e3m4     sum      -1    20.00    0.00    0.00      0    20.00    0.00 "
      "   "
      "0.00      0\n"
      "  1048576        262144     float     sum      -1    20.00    1.00    1.50      0    20.00   52.43   "
      "78.64      0\n");
  const auto run = read(log);
  EXPECT_EQ(run.rows.size(), 4U);
  std::vector<std::string> what;
  for (const LogSkipped& each : run.log->left_out) {
    EXPECT_EQ(each.count, 1U);
    what.push_back(each.what);
  }
  EXPECT_THAT(what,
              testing::UnorderedElementsAre("rows of 0 bytes", "rows whose times are masked",
                                            "places where rows are elided (...)",
                                            "rows with more or fewer columns than their heading",
                                            "rows of type f8e3m4", "rows whose algbw is not size / time"));
}

TEST(ImportLog, FilesWithoutARowSayWhy) {
  EXPECT_THAT(refusal_of(""), HasSubstr("a.log: the file is empty"));
  EXPECT_THAT(refusal_of("hello\nworld\n"), HasSubstr("has no table of nccl-tests in its 2 lines"));
  EXPECT_THAT(refusal_of(devices()),
              HasSubstr("the program began (with 4 devices) and wrote no row of its table"));
  EXPECT_THAT(refusal_of(devices() + std::string(kNewHeading) +
                         "   16   4   float   sum   -1   XXX   XX   XX   0   XXX   XX   XX   0\n"),
              HasSubstr("no row that can be read: rows whose times are masked: 1, the first on line 8"));
  EXPECT_THAT(refusal_of(std::string("a\0b", 3)),
              HasSubstr("a.log:1: contains NUL bytes, so it is not a text file"));
}

TEST(ImportLog, HalfATableIsARunThatIsNotComplete) {
  const std::string log = whole_log();
  const auto at_half_a_row = read(log.substr(0, log.find("12500")));
  EXPECT_FALSE(at_half_a_row.complete);
  EXPECT_EQ(at_half_a_row.rows.size(), 3U);  // the last one's out-of-place half is whole
  const auto within_it = read(log.substr(0, log.find("150.00")));
  EXPECT_EQ(within_it.rows.size(), 2U);
  ASSERT_EQ(within_it.log->left_out.size(), 1U);
  EXPECT_EQ(within_it.log->left_out[0].what, "rows with more or fewer columns than their heading");
}

TEST(ImportLog, EveryStartOfALogIsARunOrAnError) {
  const std::string log = prefixed(whole_log(), "[1,0]<stdout>:");
  for (std::size_t length = 0; length < log.size(); ++length) {
    EXPECT_NO_FATAL_FAILURE((void)refusal_of(log.substr(0, length)));
  }
}

TEST(ImportLog, AJobThatDiedIsNoCutLog) {
  const std::string cut = whole_log().substr(0, whole_log().find("# Out of bounds"));
  EXPECT_EQ(read(cut).incident, std::nullopt);
  const collbench::Run died = read(cut + "n1: Test CUDA failure common.cu:393 'uncorrectable ECC error'\n");
  ASSERT_TRUE(died.incident);
  EXPECT_THAT(died.incident->sentence,
              testing::StartsWith("the job ended with an error: \"n1: Test CUDA failure common.cu:393"));
  EXPECT_THAT(why_not_sound(died), HasSubstr("uncorrectable ECC error'\" (line "));
}

TEST(ImportLog, ARunWithoutARowIsNamed) {
  const std::string gather = log_of("all_gather", "none", "-1");
  const std::string died = gather.substr(0, gather.find("#\n#       size"));
  const auto sentence = [](const std::string& log) {
    const collbench::Run run = read(log);
    return run.incident ? run.incident->sentence : "";
  };
  EXPECT_EQ(sentence(whole_log()), "");
  EXPECT_THAT(sentence(whole_log() + died),
              testing::MatchesRegex("all_gather_perf .from line [0-9]+. wrote no row"));
  EXPECT_THAT(sentence(whole_log() + died + "srun: error: n18: task 9: Out Of Memory\n"),
              HasSubstr("wrote no row: \"srun: error: n18: task 9: Out Of Memory\" (line "));
  EXPECT_THAT(sentence(died + whole_log()), HasSubstr("all_gather_perf"));
  const std::string again = whole_log().substr(0, whole_log().find("#\n#       size"));
  EXPECT_EQ(sentence(again + "srun: error: n18: task 9: Killed\n" + whole_log()), "")
      << "started again, it measured";
}

TEST(ImportLog, ARowWithoutATimeIsAMissingOne) {
  std::string log = whole_log();
  log.replace(log.find("20.00    0.00"), 5, "  nan");
  const collbench::Run run = read(log);
  ASSERT_TRUE(run.incident);
  EXPECT_THAT(run.incident->sentence, HasSubstr("the time of 1 row is no positive number (line "));
}

TEST(ImportLog, WhyOneListNamesARankTwice) {
  const auto doubled = [](const std::string& log, const std::string& from = "", const std::string& to = "") {
    std::string all;
    for (std::size_t at = 0; at < log.size(); at = log.find('\n', at) + 1) {
      const std::string line = log.substr(at, log.find('\n', at) + 1 - at);
      std::string other = line;
      if (!from.empty() && other.find(from) != std::string::npos)
        other.replace(other.find(from), from.size(), to);
      all += line;
      all += other;
    }
    return refusal_of(all);
  };
  EXPECT_THAT(doubled(whole_log()),
              HasSubstr("rank 0 of process 100 is listed 2 times: the output was written more than once"));
  EXPECT_THAT(doubled(whole_log(), "Pid    1", "Pid    7"),
              HasSubstr("the tables of 2 jobs are interleaved (rank 0 is listed 2 times), and no label"));
  std::string one_gpu = whole_log();
  const std::size_t second = one_gpu.find("#  Rank  1");
  one_gpu.erase(second, one_gpu.find("NCCL version") - second);
  EXPECT_THAT(
      doubled(one_gpu, "Pid    1", "Pid    7"),
      HasSubstr("2 processes each ran as a separate job (rank 0 is listed 2 times), and their tables are "
                "interleaved: nccl-tests was built without MPI=1"));
}

TEST(ImportLog, GroupsOfNcclTestsSplitAreNoOneJob) {
  std::string log = whole_log();
  log.replace(log.find("Rank  3 Group  0"), 16, "Rank  3 Group  1");
  EXPECT_THAT(refusal_of(log),
              HasSubstr("several groups at once, each a communicator of its own (NCCL_TESTS_SPLIT"));
}

}  // namespace

}  // namespace collbench::analysis::import_log_test
