#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/import/test_logs.hpp"
#include "base/error.hpp"

namespace collbench::analysis::nvbandwidth_json_test {
namespace {

/// As 0.8 writes it: its numbers are texts, its first key is CUDA's version.
constexpr const char* kJson = R"json({
	"nvbandwidth" : 
	{
		"CUDA Runtime Version" : 12080,
		"Driver Version" : "570.86.15",
		"GPU Device list" : 
		[
			"0: NVIDIA H100 80GB HBM3 (00000000:1b:00): (node7)",
			"1: NVIDIA H100 80GB HBM3 (00000000:43:00): (node7)"
		],
		"git_version" : "v0.8",
		"testcases" : 
		[
			{
				"bandwidth_description" : "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : 
				[
					[ "N/A", "276.07" ],
					[ "250", "N/A" ]
				],
				"name" : "device_to_device_memcpy_read_ce",
				"status" : "Passed",
				"sum" : 526.07
			},
			{
				"name" : "host_to_device_memcpy_sm",
				"status" : "Waived"
			}
		],
		"version" : "v0.8"
}
}
)json";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

Run imported(const std::string& text) { return import_log(text, "nv.json", {}); }

TEST(NvbandwidthJson, IsTheSameRunAsTheText) {
  const auto run = imported(kJson);
  ASSERT_EQ(run.rows.size(), 3U);
  EXPECT_EQ(run.rows[0].measurement.key.test, "device_to_device_memcpy_read_ce: GPU 0 -> GPU 1");
  EXPECT_DOUBLE_EQ(rates(run.rows[1], 1).bus_bandwidth.value(), 250e9);
  EXPECT_EQ(run.rows[2].measurement.unavailable, "waived");
  EXPECT_EQ(run.versions.cuda, "12.8, driver 570.86.15");
  EXPECT_EQ(run.ranks.at(0).host, "node7");
  EXPECT_EQ(run.log->gpu->value, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(run.log->version->value, "0.8");
  EXPECT_TRUE(run.complete);
}

TEST(NvbandwidthJson, LinesAroundItAreNoHindrance) {
  const std::string before = "mpirun: warning {x}\nNOTE: You have chosen a buffer size\n";
  EXPECT_EQ(imported(before + kJson + "srun: done {\n").rows.size(), 3U);
  EXPECT_EQ(imported("\xEF\xBB\xBF" + std::string(kJson)).rows.size(), 3U);
  const std::string bad = replaced(kJson, "\"250\"", "\"0\"");
  EXPECT_EQ(imported(bad).log->left_out.at(0).line, 21);  // of "name"
  EXPECT_EQ(imported(before + bad).log->left_out.at(0).line, 23);
}

TEST(NvbandwidthJson, DirectionsOfOneMatrixAreTestsOfTheirOwn) {
  const auto run =
      imported(replaced(replaced(kJson, "-> GPU(column) bandwidth", "<-> GPU(column) Total bandwidth"),
                        R"([ "N/A", "276.07" ],)", R"([ "1.0", "N/A" ], [ "2.0", "N/A" ],)"));
  EXPECT_EQ(run.rows.at(0).measurement.key.test, "device_to_device_memcpy_read_ce: GPU 0 <-> GPU 0, 1");
  EXPECT_EQ(run.rows.at(2).measurement.key.test, "device_to_device_memcpy_read_ce: GPU 0 <-> GPU 0, total");
}

TEST(NvbandwidthJson, AnErrorIsWhyATestHasNoResult) {
  const auto run = imported(replaced(replaced(kJson, "\"Waived\"", "\"Running\""), "\"git_version\"",
                                     R"("error" : "[CUDA_ERROR_X] no in expression y", "git_version")"));
  EXPECT_FALSE(run.complete);
  EXPECT_EQ(run.rows.at(2).measurement.unavailable, "failed: [CUDA_ERROR_X] no in expression y");
  EXPECT_THAT(run.log->notes.at(0), testing::HasSubstr("CUDA_ERROR_X"));
}

TEST(NvbandwidthJson, NumbersMayBeNumbers) {
  const auto run = imported(replaced(replaced(kJson, "\"276.07\"", "276.07"), "\"250\"", "null"));
  EXPECT_EQ(run.rows.size(), 2U);
}

TEST(NvbandwidthJson, WhatIsCutOrOfAnotherKindIsNamed) {
  const std::string whole = kJson;
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {whole.substr(0, whole.size() - 40), "the file is cut"},
           {replaced(whole, "[\n\t\t\t{", "7, \"x\": ["), "cannot stand here"},
           {replaced(whole, "\"testcases\"", "\"tests\""), "has no value of nvbandwidth JSON"},
           {R"({"nvbandwidth": {"error": "cuInit failed"}})", "cuInit failed"}}) {
    try {
      (void)imported(text);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_THAT(describe(error), testing::HasSubstr(words));
      EXPECT_THAT(describe(error), testing::HasSubstr("nv.json"));
    }
  }
}

}  // namespace
}  // namespace collbench::analysis::nvbandwidth_json_test
