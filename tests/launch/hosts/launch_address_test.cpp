#include "launch/hosts/launch_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::launch::launch_address_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LaunchAddress, TheAddressesOfADaemonAreRead) {
  EXPECT_THAT(contact_addresses("347209728.0;tcp://192.0.2.2:36089;tcp6://[fd00::2]:52925"),
              ElementsAre("192.0.2.2", "fd00::2"));
  EXPECT_THAT(contact_addresses("1.0;tcp://10.0.0.1,10.1.0.1:40"), ElementsAre("10.0.0.1", "10.1.0.1"));
  EXPECT_THAT(contact_addresses("1.0;tcp6://[fd00::2,fd00::3]:40"), ElementsAre("fd00::2", "fd00::3"));
  for (const char* const none : {"", "1.0", "tcp", "tcp://", "tcp://:", "tcp://,:1", "://;://"})
    EXPECT_THAT(contact_addresses(none), IsEmpty()) << none;
}

TEST(LaunchAddress, WhatLeadsToThisHostAloneIsNone) {
  for (const char* const address : {"127.0.0.1", "127.1.2.3", "::1", "", "no address", "localhost"})
    EXPECT_FALSE(own_address_towards(address)) << address;
}

}  // namespace
}  // namespace collbench::launch::launch_address_test
