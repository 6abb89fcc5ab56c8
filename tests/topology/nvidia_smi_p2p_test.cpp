#include "topology/nvidia_smi_p2p.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::nvidia_smi_p2p_test {
namespace {

using testing::HasSubstr;

TEST(NvidiaSmiP2p, ReadsThePairs) {
  const Host host = read_nvidia_smi_p2p(fixture("topo_p2p.txt"), "P.txt");
  ASSERT_EQ(2U, host.peer_access.size());
  EXPECT_EQ((Device{DeviceKind::gpu, 1}), host.peer_access[0].to);
  EXPECT_EQ("OK", host.peer_access[0].state.value);
}

TEST(NvidiaSmiP2p, RefusesOtherWordsAndOtherShapes) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)read_nvidia_smi_p2p(text, "P.txt"); });
  };
  const std::string whole = fixture("topo_p2p.txt");
  EXPECT_THAT(refused(with(whole, "OK", "PIX")),
              HasSubstr("P.txt:2: row GPU0, column GPU1: 'PIX' is no word"));
  EXPECT_THAT(refused(with(whole, "\tX\tOK", "\tX")),
              HasSubstr("P.txt:2: row GPU0, column GPU1: '' is no word"));
  EXPECT_THAT(refused(with(whole, "\tX\tOK", "\tOK\tX")), HasSubstr("P.txt:2: row GPU0, column GPU0"));
}

}  // namespace
}  // namespace collbench::nvidia_smi_p2p_test
