#include "collectives/nccl/nccl_config.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"

namespace collbench::collectives::nccl_config_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string refused(const std::string& text) {
  try {
    static_cast<void>(parse_nccl_settings(text, "--nccl-config"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage) << text;
    return describe(error);
  }
  return "accepted";
}

TEST(ParseNcclConfigValues, TakesFieldsByNcclsNames) {
  EXPECT_THAT(parse_nccl_settings("maxCTAs=8,nvlinkCentricSched=1,minCTAs=8", "-"),
              ElementsAre(Pair("maxCTAs", 8), Pair("minCTAs", 8), Pair("nvlinkCentricSched", 1)));
}

TEST(ParseNcclConfigValues, RefusesWhatNcclWould) {
  for (const char* text : {"", "maxCTAs", "maxctas=8", "maxCTAs=8,", "blocking=0", "=3"})
    EXPECT_THAT(refused(text), HasSubstr("is no FIELD=NUMBER")) << text;
  for (const char* text :
       {"maxCTAs=0", "maxCTAs=65", "CTAPolicy=4", "maxP2pPeers=0", "maxCTAs=x", "maxCTAs=8 "})
    EXPECT_THAT(refused(text), HasSubstr("is not accepted by NCCL")) << text;
  EXPECT_THAT(refused("minCTAs=4"), HasSubstr("add maxCTAs=4"));
  EXPECT_THAT(refused("minCTAs=4,maxCTAs=3"), HasSubstr("add maxCTAs=4"));
}

TEST(ParseCtaPolicy, TakesNumbersAndNames) {
  EXPECT_EQ(parse_cta_policy("1", "-x"), 1);
  EXPECT_EQ(parse_cta_policy("zero", "-x"), 2);
  EXPECT_THROW(static_cast<void>(parse_cta_policy("3", "-x")), Error);
}

TEST(RequireSettings, NamesWhatAnOlderNcclLacks) {
  const auto reason = [](const NcclConfigValues& settings, int version) -> std::string {
    try {
      require_settings(settings, version);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::not_here);
      return describe(error);
    }
    return "";
  };
  EXPECT_EQ(reason({{"maxCTAs", 8}}, 21800), "");
  EXPECT_EQ(reason({{"CTAPolicy", 1}}, 22703), "");
  EXPECT_THAT(reason({{"CTAPolicy", 2}}, 22703),
              HasSubstr("CTAPolicy=2: NCCL 2.27.3 has no such setting; 2.28.0 and"));
  EXPECT_THAT(reason({{"maxCTAs", 8}, {"maxP2pPeers", 2}}, 22809), HasSubstr("maxP2pPeers=2: "));
}

TEST(NcclConfig, HasEachFieldInAMemberOfItsOwn) {
  std::set<int> values;
  for (const NcclConfigField& field : nccl_config_fields()) {
    const NcclConfig config = nccl_config({{std::string(field.name), 1}});
    int set = 0;
    for (const NcclConfigField& other : nccl_config_fields())
      set += config.*(other.member) == NcclConfig::kUndefined ? 0 : 1;
    EXPECT_EQ(set, 1) << field.name;
    EXPECT_EQ(config.*(field.member), 1) << field.name;
  }
}

// What the headers of the tags v2.18.5-1 to v2.30.7-1 give, and headers_test.cpp sees of the one that is
// here.
TEST(NcclConfig, BeginsAsEveryOlderOne) {
  EXPECT_EQ(offsetof(NcclConfig, split_share) + sizeof(int) + 4, 48U);  // 2.18 to 2.25, with padding
  EXPECT_EQ(offsetof(NcclConfig, traffic_class) + sizeof(int), 48U);    // 2.26
  EXPECT_EQ(offsetof(NcclConfig, nvls_ctas) + sizeof(int), 72U);        // 2.27
  EXPECT_EQ(offsetof(NcclConfig, nvlink_centric_scheduling) + sizeof(int), 80U);
  EXPECT_EQ(offsetof(NcclConfig, rma_contexts) + sizeof(int), 88U);  // 2.29
  EXPECT_EQ(sizeof(NcclConfig), 96U);                                // 2.30
}

}  // namespace
}  // namespace collbench::collectives::nccl_config_test
