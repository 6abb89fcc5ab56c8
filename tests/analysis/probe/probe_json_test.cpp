#include "analysis/probe/probe_json.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::probe_json_test {
namespace {

TEST(ProbeJson, ReadBackItIsTheSame) {
  ProbeRecord host = made_host("n1");
  host.notes = {"GEMM: not measured"};
  host.measurements[0].parts[1].cpu_share = 0.5;
  EXPECT_EQ(probe_from_json(probe_json(host), "probe.json"), host);
  ProbeRecord gpus = made_gpus("NVIDIA H100 80GB HBM3", {2.9e12});
  gpus.measurements[0].parts[0].telemetry = {{1755e6, 650, std::nullopt, {GpuTrouble::sw_power_cap}}, {}};
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

}  // namespace
}  // namespace collbench::analysis::probe_json_test
