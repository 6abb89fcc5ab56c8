#include "analysis/probe/siblings.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/probe/made_probes.hpp"
#include "tests/base/impossible_values.hpp"

namespace collbench::analysis::probe_json_test {
namespace {

TEST(ProbeJson, ReadBackItIsTheSame) {
  ProbeRecord host = made_host("n1");
  host.notes = {"GEMM: not measured"};
  host.measurements[0].parts[1].cpu_share = 0.5;
  EXPECT_EQ(probe_from_json(probe_json(host), "probe.json"), host);
  ProbeRecord gpus = made_gpus("NVIDIA H100 80GB HBM3", {2.9e12});
  gpus.measurements[0].parts[0].telemetry = {{1755e6, 650, std::nullopt, {GpuTrouble::sw_power_cap}}, {}};
  gpus.measurements[0].parts[0].results = {"00c0ffee00c0ffee", "00c0ffee00c0ffee"};
  gpus.measurements[0].parts[0].peer = PeerCopy{"GPU 0", "GPU 1", true};
  gpus.failures = {{"GPU 1", "GEMM BF16", "no answer"}};
  EXPECT_EQ(probe_from_json(probe_json(gpus), "probe.json"), gpus);
}

TEST(ProbeJson, WhatIsNoProbeIsRefusedWithItsLocation) {
  for (const char* text : {"", "[]", "{}", R"({"record": "collbench burn-in"})"})
    EXPECT_THROW((void)probe_from_json(text, "probe.json"), Error) << text;
  std::string text = probe_json(made_gpus("H100", {2.5}));
  text.replace(text.find("2.5"), 3, "-25");
  try {
    (void)probe_from_json(text, "probe.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("windows[0]"), std::string::npos) << error.what();
  }
}

TEST(ProbeJson, NumbersAndHostsThatNothingHasAreRefusedWithTheirPath) {
  ProbeRecord gpus = made_gpus("NVIDIA H100 80GB HBM3", {2.9e12});
  gpus.taken_share = 0.1;
  gpus.window_seconds = gpus.gpu_window_seconds = 0.5;
  gpus.gpus[0].power_limit_watts = 700;
  ProbePart& part = gpus.measurements[0].parts[0];
  part.numa = 0;
  part.cpu_share = 1;
  part.telemetry = {{1755e6, 650, 60, {}}};
  const auto json = nlohmann::json::parse(probe_json(gpus));
  const auto read = [](const std::string& text, const std::string& file) {
    (void)probe_from_json(text, file);
  };
  std::set<std::string> tried;
  expect_impossible_numbers_refused(json, read, {}, tried);
  EXPECT_GE(tried.size(), 10U);
  expect_impossible_hosts_refused(json, read, {"/host"});
}

}  // namespace
}  // namespace collbench::analysis::probe_json_test
