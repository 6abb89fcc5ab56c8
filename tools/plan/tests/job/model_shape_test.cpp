#include "tools/plan/job/model_shape.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tools/plan/job/model_catalog.hpp"

namespace collbench::analysis::model_shape_test {
namespace {

TEST(ModelCatalog, ParametersAreThoseThatArePublished) {
  for (const CatalogModel& model : model_catalog()) {
    const double counted = count_parameters(model.shape).total;
    // Names are rounded: "671 B"; norms, biases and positions are not counted.
    EXPECT_NEAR(counted / model.published_parameters, 1, 0.011) << model.shape.name << " " << counted;
    EXPECT_FALSE(model.shape.source.empty()) << model.shape.name;
  }
}

TEST(ModelShape, CountsOfLlama70bAreThoseOfItsConfiguration) {
  const ParameterCount count = count_parameters(find_model("llama-3.1-70b").shape);
  EXPECT_EQ(count.attention, 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024);
  EXPECT_EQ(count.dense_mlp, 3 * 8192.0 * 28672);
  EXPECT_EQ(count.total, 80 * (count.attention + count.dense_mlp) + 2 * 8192.0 * 128256);
  EXPECT_EQ(count.active, count.total);
}

TEST(ModelShape, ExpertsCountAsStoredAndAsPassed) {
  const ParameterCount count = count_parameters(find_model("deepseek-v3").shape);
  EXPECT_NEAR(count.total, 671e9, 0.01 * 671e9);
  EXPECT_NEAR(count.active, 37.5e9, 0.02 * 37.5e9);  // arXiv 2412.19437: "37B activated"
}

// NVIDIA dgxc-benchmarking v25.02.02, "Notes": model FLOPs of a sequence.
TEST(ModelShape, FlopsOfASequenceAreNvidias) {
  const auto of_sequence = [](const char* model, int sequence) {
    return sequence * flops_per_token(find_model(model).shape, sequence, FlopConvention::full_attention);
  };
  EXPECT_NEAR(of_sequence("llama-3.1-70b", 8192), 3.94e15, 0.005 * 3.94e15);
  // Its own formula gives 2.15e16.
  EXPECT_NEAR(of_sequence("llama-3.1-405b", 8192), 2.17e16, 0.01 * 2.17e16);
  EXPECT_NEAR(of_sequence("llama-3.1-8b", 8192), 4.74e14, 0.005 * 4.74e14);
  EXPECT_NEAR(of_sequence("gpt3-175b", 2048), 2.20e15, 0.005 * 2.20e15);
}

TEST(ModelShape, ConventionsDifferByHalfOfAttentionAndByWhatIsRecomputed) {
  const ModelShape& shape = find_model("llama-3.1-8b").shape;
  const double full = flops_per_token(shape, 8192, FlopConvention::full_attention);
  const double causal = flops_per_token(shape, 8192, FlopConvention::causal);
  EXPECT_DOUBLE_EQ(full - causal, 6.0 * 32 * 4096 * 8192);
  // Megatron-Bridge: 744 TFLOPS at 14,451 tokens/s.
  EXPECT_NEAR(causal, 744e12 / 14451, 0.005 * causal);
  EXPECT_EQ(flops_per_token(shape, 8192, FlopConvention::hardware), full);
  EXPECT_GT(flops_per_token(shape, 8192, FlopConvention::hardware, 4.0 / 3), 1.25 * full);
}

TEST(ModelCatalog, AnUnknownModelIsRefusedWithTheNearest) {
  try {
    (void)find_model("llama-3.1-71b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "--model");
    EXPECT_NE(error.next_step().find("llama-3.1-70b"), std::string::npos) << error.next_step();
  }
  EXPECT_EQ(find_model("Llama-3.1-70B").shape.name, "llama-3.1-70b");
}

TEST(ModelCatalog, AFamilyWithExpertsIsAnsweredWithThose) {
  try {
    (void)find_model("Qwen3-MoE");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.next_step().starts_with("did you mean qwen3-30b-a3b, qwen3-235b-a22b?"))
        << error.next_step();
  }
}

}  // namespace
}  // namespace collbench::analysis::model_shape_test
