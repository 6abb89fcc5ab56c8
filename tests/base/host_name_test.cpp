#include "base/host_name.hpp"

#include <gmock/gmock.h>

#include "base/text_sinks.hpp"

namespace collbench::host_name_test {
namespace {

TEST(LegalHostName, IsOneThatRecordsAreReadWith) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    for (const std::string& name : {std::string(1, c), std::string("n") + c, c + std::string("1")})
      EXPECT_TRUE(is_host_name(legal_host_name(name))) << byte;
  }
  EXPECT_TRUE(is_host_name(legal_host_name(std::string(300, 'n'))));
  EXPECT_EQ(legal_host_name("(none)"), "_none_");
  EXPECT_EQ(legal_host_name("-n1-"), "_n1-");
  EXPECT_EQ(legal_host_name("n1\n127.0.0.1 slots=64"), "n1_127.0.0.1_slots_64");
  EXPECT_EQ(legal_host_name(""), "localhost");
}

TEST(LegalHostName, NamesOfHostsStay) {
  for (const char* name : {"n1", "gpu-a.rack_3.example.org", "10.0.0.1", "0", "_"})
    EXPECT_EQ(legal_host_name(name), name);
  EXPECT_TRUE(is_host_name(own_host_name()));
}

}  // namespace
}  // namespace collbench::host_name_test
