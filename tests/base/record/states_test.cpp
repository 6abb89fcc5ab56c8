#include "base/record/states.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace collbench::states_test {
namespace {

using testing::HasSubstr;

template <class Read>
std::string refusal(const char* word, Read read) {
  const nlohmann::json document{{"state", word}};
  try {
    static_cast<void>(read(JsonReader(document, "run.json").at("state")));
  } catch (const Error& error) {
    return describe(error);
  }
  return "read";
}

TEST(States, BackendsAreReadByTheirNames) {
  for (const BackendId backend : {BackendId::mpi, BackendId::nccl}) {
    const nlohmann::json document = name(backend);
    EXPECT_EQ(backend_from_json({document, "run.json"}), backend);
  }
  EXPECT_THAT(refusal("ucc", backend_from_json),
              HasSubstr("state is \"ucc\" where \"mpi\" or \"nccl\" was expected"));
  EXPECT_THAT(refusal("other", backend_from_json), HasSubstr("are no longer read"));
  EXPECT_TRUE(measures_gpus(BackendId::nccl));
  EXPECT_FALSE(measures_gpus(BackendId::mpi));
}

RankAggregate read_aggregate(const JsonReader& json) {
  RankAggregate how{};
  field_from_json(json, how, kQuantity);
  return how;
}

TEST(States, AggregatesStandInTheOrderOfNcclTests) {
  EXPECT_EQ(name(RankAggregate{0}), "rank 0");
  EXPECT_EQ(name(RankAggregate{1}), "avg");
  EXPECT_EQ(name(RankAggregate{2}), "min");
  EXPECT_EQ(name(RankAggregate{3}), "max");
  EXPECT_THAT(refusal("sum", read_aggregate), HasSubstr("\"avg\" or \"min\""));
}

TEST(States, EveryStopIsReadAsItWasWritten) {
  for (const Stop& stop :
       {Stop{StopReason::precision_reached}, Stop{StopReason::pass_limit, 1},
        Stop{StopReason::pass_limit, 64}, Stop{StopReason::launch_limit, 1},
        Stop{StopReason::launch_limit, 30}, Stop{StopReason::out_of_time}, Stop{StopReason::interrupted}}) {
    EXPECT_EQ(parse_stop(format_stop(stop)), stop) << format_stop(stop);
  }
  EXPECT_EQ(format_stop({StopReason::pass_limit, 64}), "64 passes");
  EXPECT_EQ(format_stop({StopReason::launch_limit, 1}), "1 launch");
}

TEST(States, AnotherTextIsNoStop) {
  for (const char* text :
       {"", "passes", "-3 passes", "64", "64 passes more", "99999999999999 passes", "tired"})
    EXPECT_EQ(parse_stop(text), std::nullopt) << text;
  EXPECT_EQ(refusal("", stop_from_json), "read");
  EXPECT_THAT(refusal("tired", stop_from_json), HasSubstr("where why measuring stopped"));
}

}  // namespace
}  // namespace collbench::states_test
