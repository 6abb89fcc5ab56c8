#include "topology/doctor/gpu_query.hpp"

#include <gtest/gtest.h>

#include <string>

namespace collbench::topology {
namespace {

TEST(GpuQuery, TheTextAndTheXmlSayTheSame) {
  for (const std::string text :
       {"GPU 00000000:17:00.0\n    Fabric\n        State                 : In Progress\n",
        "<nvidia_smi_log>\n<gpu id=\"00000000:17:00.0\">\n<fabric>\n<state>In Progress</state>\n"}) {
    Evidence evidence;
    add_evidence(evidence, text, "FILE", "nvidia-smi-q");
    const std::vector<QueryLine> lines = query_lines(evidence);
    ASSERT_EQ(lines.size(), 1U) << text;
    EXPECT_EQ(lines.front().gpu, "GPU 00000000:17:00.0");
    EXPECT_EQ(lines.front().section, "fabric");
    EXPECT_EQ(lines.front().value, "In Progress");
  }
}

}  // namespace
}  // namespace collbench::topology
