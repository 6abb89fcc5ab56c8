// The observer library as NCCL and the backend use it: loaded by its path, every version of every interface.
#include "collectives/nccl/loader/own_libraries.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>

#include "base/shared_library.hpp"
#include "collectives/nccl/observer/plugin_interfaces.hpp"

namespace collbench::collectives::observer_test {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kCollective = 1U << 1U;
constexpr unsigned kPeerToPeer = 1U << 2U;

class Observer : public ::testing::Test {
 public:
  Observer() : library(COLLBENCH_OBSERVER_LIBRARY) {
    ::setenv("COLLBENCH_OBSERVER", COLLBENCH_OBSERVER_LIBRARY, 1);
    std::string unsupported_reason;
    observer = ObserverLibrary::find(unsupported_reason);
    ::unsetenv("COLLBENCH_OBSERVER");
    if (!observer) throw std::runtime_error(unsupported_reason);
  }

  template <typename Plugin>
  Plugin& plugin(const char* symbol) {
    Plugin* found = nullptr;
    library.find(found, symbol);
    if (found == nullptr) throw std::runtime_error(symbol);
    return *found;
  }
  [[nodiscard]] ObserverLoaded loaded() const {
    ObserverLoaded versions;
    observer->loaded(&versions);
    return versions;
  }
  [[nodiscard]] Observation end() const {
    Observation seen;
    observer->end(&seen);
    return seen;
  }

  /// Tells a profiler of one collective while it watches, and of one while it does not.
  template <typename Plugin, typename Event>
  Observation observe(Plugin& profiler, Event event) {
    EXPECT_EQ(mask, 0) << "asks for events before it watches";
    observer->begin();
    EXPECT_EQ(static_cast<unsigned>(mask), kCollective | kPeerToPeer);
    void* handle = nullptr;
    EXPECT_EQ(profiler.start_event(nullptr, &handle, &event), 0);
    EXPECT_NE(handle, nullptr);
    EXPECT_EQ(profiler.record_event_state(handle, 0, nullptr), 0);
    EXPECT_EQ(profiler.stop_event(handle), 0);
    const Observation seen = end();
    EXPECT_EQ(mask, 0) << "still asks for events";
    event.collective.channels = 77;
    profiler.start_event(nullptr, &handle, &event);
    EXPECT_EQ(end().channels, seen.channels) << "looks while it does not watch";
    return seen;
  }

  template <typename Event>
  static Event collective(auto algorithm, auto protocol) {
    Event event{};
    event.type = kCollective;
    event.collective = {};
    event.collective.channels = 12;
    event.collective.algorithm = algorithm;
    event.collective.protocol = protocol;
    return event;
  }

  static void expect_ring_ll128(const Observation& seen) {
    EXPECT_STREQ(seen.algorithm.data(), "ring");
    EXPECT_STREQ(seen.protocol.data(), "ll128");
    EXPECT_EQ(seen.channels, 12);
  }

  SharedLibrary library;
  std::optional<ObserverLibrary> observer;
  void* context = nullptr;
  // As in NCCL, a variable of the process: the observer writes to it after the test, too.
  inline static int mask = -1;
};

TEST_F(Observer, ProfilerVersion1HasNumbers) {
  const auto& profiler = plugin<const ProfilerV1>("ncclProfiler_v1");
  profiler.init(&context, &mask);
  EXPECT_EQ(loaded().profiler, 1);
  expect_ring_ll128(observe(profiler, collective<ProfilerEventV1>(std::uint8_t{1}, std::uint8_t{1})));
}

TEST_F(Observer, ProfilerVersion2) {
  const auto& profiler = plugin<const ProfilerV2>("ncclProfiler_v2");
  profiler.init(&context, &mask);
  expect_ring_ll128(observe(profiler, collective<ProfilerEventV2>("RING", "LL128")));
}

TEST_F(Observer, ProfilerVersion3) {
  const auto& profiler = plugin<const ProfilerV3>("ncclProfiler_v3");
  profiler.init(&context, &mask);
  expect_ring_ll128(observe(profiler, collective<ProfilerEventV3>("RING", "LL128")));
}

TEST_F(Observer, ProfilerVersion4) {
  const auto& profiler = plugin<const ProfilerV4>("ncclProfiler_v4");
  profiler.init(&context, &mask, nullptr, 1, 1, 2, 0, nullptr);
  expect_ring_ll128(observe(profiler, collective<ProfilerEventV4>("RING", "LL128")));
}

TEST_F(Observer, ProfilerVersions5And6) {
  for (const char* symbol : {"ncclProfiler_v5", "ncclProfiler_v6"}) {
    const auto& profiler = plugin<const ProfilerV5>(symbol);
    profiler.init(&context, 1, &mask, nullptr, 1, 2, 0, nullptr);
    EXPECT_EQ(loaded().profiler, symbol[14] - '0');
    expect_ring_ll128(observe(profiler, collective<ProfilerEventV5>("RING", "LL128")));
    EXPECT_EQ(profiler.finalize(context), 0);
  }
}

TEST_F(Observer, SendsAndReceivesAreOneUseWithTheMostChannels) {
  const auto& profiler = plugin<const ProfilerV5>("ncclProfiler_v5");
  profiler.init(&context, 1, &mask, nullptr, 1, 2, 0, nullptr);
  observer->begin();
  for (const int channels : {2, 8, 4}) {
    ProfilerEventV5 event{};
    event.type = kPeerToPeer;
    event.peer_to_peer = {};
    event.peer_to_peer.channels = static_cast<std::uint8_t>(channels);
    void* handle = nullptr;
    profiler.start_event(context, &handle, &event);
  }
  const Observation seen = end();
  EXPECT_STREQ(seen.algorithm.data(), "p2p");
  EXPECT_STREQ(seen.protocol.data(), "");
  EXPECT_EQ(seen.channels, 8);
}

TEST_F(Observer, OtherEventsGetAHandleAndAreNotLookedAt) {
  const auto& profiler = plugin<const ProfilerV4>("ncclProfiler_v4");
  profiler.init(&context, &mask, nullptr, 1, 1, 2, 0, nullptr);
  observer->begin();
  ProfilerEventV4 group{};
  group.type = 1;
  void* handle = nullptr;
  profiler.start_event(context, &handle, &group);
  EXPECT_NE(handle, nullptr);
  EXPECT_EQ(end().algorithm[0], '\0');
}

class ObserverAsTuner : public Observer {
 public:
  void expect_costs(const Observation& seen) const {
    ASSERT_EQ(seen.costs, 3);  // not those that are no times
    EXPECT_STREQ(seen.cost[0].algorithm.data(), "tree");
    EXPECT_STREQ(seen.cost[0].protocol.data(), "ll");
    EXPECT_EQ(seen.cost[0].microseconds, 6.5);
    EXPECT_STREQ(seen.cost[2].algorithm.data(), "ring");
    EXPECT_STREQ(seen.cost[2].protocol.data(), "ll128");
    EXPECT_EQ(costs, kCosts) << "it only looks";
    EXPECT_EQ(channels, 5) << "it only looks";
  }
  float** table() { return reinterpret_cast<float**>(costs.data()); }

  static constexpr std::array<float, 6> kCosts{6.5F, -1, 20, std::numeric_limits<float>::max() / 2, 9, -1};
  std::array<float, 6> costs = kCosts;  // tree and ring
  int channels = 5;
};

TEST_F(ObserverAsTuner, Version3) {
  const auto& tuner = plugin<const TunerV3>("ncclTunerPlugin_v3");
  tuner.init(2, 1, nullptr, &context);
  EXPECT_EQ(loaded().tuner, 3);
  observer->begin();
  EXPECT_EQ(tuner.collective_info(context, 4, 8, 1, table(), 2, 3, &channels), 0);
  expect_costs(end());
}

TEST_F(ObserverAsTuner, Version4) {
  const auto& tuner = plugin<const TunerV4>("ncclTunerPlugin_v4");
  tuner.init(2, 1, nullptr, &context);
  observer->begin();
  tuner.collective_info(context, 4, 8, 1, table(), 2, 3, 0, &channels);
  expect_costs(end());
}

TEST_F(ObserverAsTuner, Version5) {
  const auto& tuner = plugin<const TunerV5>("ncclTunerPlugin_v5");
  tuner.init(&context, 1, 2, 1, nullptr, nullptr, nullptr);
  observer->begin();
  tuner.collective_info(context, 4, 8, 1, table(), 2, 3, 0, &channels);
  expect_costs(end());
}

TEST_F(ObserverAsTuner, Version6LeavesChunksToNccl) {
  const auto& tuner = plugin<const TunerV6>("ncclTunerPlugin_v6");
  EXPECT_EQ(tuner.chunk_size, nullptr);
  tuner.init(&context, 1, 2, 1, nullptr, nullptr, nullptr);
  EXPECT_EQ(loaded().tuner, 6);
  observer->begin();
  tuner.collective_info(context, 4, 8, 1, table(), 2, 3, 0, &channels);
  expect_costs(end());
  tuner.collective_info(context, 4, 8, 1, table(), 1, 3, 0, &channels);
  EXPECT_EQ(end().costs, 3) << "looks while it does not watch";
}

TEST_F(ObserverAsTuner, ATableOfAnotherShapeStaysWithinBounds) {
  const auto& tuner = plugin<const TunerV5>("ncclTunerPlugin_v5");
  std::array<float, 60> many{};
  observer->begin();
  tuner.collective_info(context, 4, 8, 1, reinterpret_cast<float**>(many.data()), 12, 5, 0, &channels);
  const Observation seen = end();
  EXPECT_EQ(seen.costs, 32);
  EXPECT_STREQ(seen.cost[31].algorithm.data(), "pat");
  EXPECT_STREQ(seen.cost[3].protocol.data(), "newer");
}

TEST(ObserverLibraryTest, AnotherLibraryIsRefused) {
  ::setenv("COLLBENCH_OBSERVER", "libc.so.6", 1);
  std::string unsupported_reason;
  EXPECT_FALSE(ObserverLibrary::find(unsupported_reason));
  EXPECT_THAT(unsupported_reason, HasSubstr("belongs to another version of collbench"));
  ::setenv("COLLBENCH_OBSERVER", "/none.so", 1);
  EXPECT_FALSE(ObserverLibrary::find(unsupported_reason));
  EXPECT_THAT(unsupported_reason, HasSubstr("/none.so"));
  ::unsetenv("COLLBENCH_OBSERVER");
}

}  // namespace
}  // namespace collbench::collectives::observer_test
