#include "topology/catalog/gpus.hpp"

#include <gtest/gtest.h>

#include <array>

namespace collbench::topology::gpus_test {
namespace {

TEST(GpuCatalog, GenerationsByComputeCapability) {
  struct Expected {
    int sm;
    GpuGeneration generation;
    double nvlink;
    double achieved_nvlink;
    int max_nvlinks;
  };
  constexpr std::array<Expected, 16> kExpected{{
      {0, GpuGeneration::unknown, 18, 18 * 0.98, 4},
      {37, GpuGeneration::kepler, 18, 18 * 0.98, 4},
      {60, GpuGeneration::pascal, 18, 18 * 0.98, 4},
      {70, GpuGeneration::volta, 20, 22.4, 6},
      {72, GpuGeneration::volta, 20, 22.4, 6},
      {75, GpuGeneration::turing, 20, 22.4, 6},
      {80, GpuGeneration::ampere, 20, 19.6, 12},
      {86, GpuGeneration::ampere_card, 12, 12 * 0.98, 12},
      {87, GpuGeneration::orin, 20, 19.6, 12},
      {89, GpuGeneration::ada, 20, 19.6, 12},
      {90, GpuGeneration::hopper, 20.6, 20.2, 18},
      {100, GpuGeneration::blackwell, 40.1, 39.3, 18},
      {103, GpuGeneration::blackwell_ultra, 40.1, 39.3, 18},
      {120, GpuGeneration::blackwell_card, 40.1, 39.3, 18},
      {121, GpuGeneration::blackwell_card, 40.1, 39.3, 18},
      {9999, GpuGeneration::blackwell_card, 40.1, 39.3, 18},
  }};
  for (const Expected& each : kExpected) {
    const GenerationTraits& found = traits(generation_of(each.sm));
    EXPECT_EQ(found.generation, each.generation) << each.sm;
    EXPECT_EQ(found.nvlink.gigabytes_per_second, each.nvlink) << each.sm;
    EXPECT_EQ(found.achieved_nvlink.gigabytes_per_second, each.achieved_nvlink) << each.sm;
    EXPECT_EQ(found.max_nvlinks, each.max_nvlinks) << each.sm;
    EXPECT_FALSE(found.nvlink.source.empty());
    EXPECT_FALSE(found.achieved_nvlink.source.empty());
  }
}

TEST(GpuCatalog, DistinguishesFormsOfOneModel) {
  EXPECT_EQ("H100 SXM", find_gpu_model("NVIDIA H100 80GB HBM3")->name);
  EXPECT_EQ(12, find_gpu_model("NVIDIA H100 NVL")->nvlinks);  // of 18, by design
  EXPECT_EQ("A100 PCIe", find_gpu_model("NVIDIA A100 80GB PCIe")->name);
  EXPECT_EQ("A100 SXM", find_gpu_model("NVIDIA A100-SXM4-80GB")->name);
  EXPECT_EQ(8, find_gpu_model("NVIDIA H800")->nvlinks);
  EXPECT_EQ("GB200", find_gpu_model("NVIDIA GB200")->name);
  EXPECT_EQ("GH200", find_gpu_model("NVIDIA GH200 480GB")->name);
  EXPECT_EQ(89, find_gpu_model("NVIDIA L40S")->sm);
  EXPECT_EQ(nullptr, find_gpu_model("Voodoo 2"));
}

TEST(GpuCatalog, KnowsTheCardsOfWorkstationsAndOfInference) {
  const std::initializer_list<std::pair<const char*, int>> cards{
      {"NVIDIA GeForce RTX 4090", 89},
      {"NVIDIA GeForce RTX 5090", 120},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 120},
      {"NVIDIA RTX 6000 Ada Generation", 89},
      {"NVIDIA RTX A6000", 86},
      {"NVIDIA A40", 86},
      {"NVIDIA L20", 89},
      {"NVIDIA L4", 89},
      {"NVIDIA A30", 80},
      {"NVIDIA H20", 90},
      {"NVIDIA B300 SXM6 AC", 103},
      {"NVIDIA GB300", 103},
      {"NVIDIA GeForce RTX 3090", 86},
      {"Tesla T4", 75}};
  for (const auto& [name, sm] : cards) {
    const GpuModel* model = find_gpu_model(name);
    ASSERT_NE(model, nullptr) << name;
    EXPECT_EQ(model->sm, sm) << name;
  }
}

TEST(GpuCatalog, ANumberThatGoesOnIsAnotherModel) {
  EXPECT_EQ(find_gpu_model("NVIDIA RTX A4000"), nullptr);
  EXPECT_EQ(find_gpu_model("NVIDIA RTX A3000 Laptop GPU"), nullptr);
  EXPECT_EQ(find_gpu_model("NVIDIA T400"), nullptr);
  EXPECT_EQ(find_gpu_model("NVIDIA RTX A1000"), nullptr);
}

TEST(GpuCatalog, SxmModulesAreWiredAndCardsAreBridged) {
  for (const char* name : {"NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA B200", "NVIDIA H20"})
    EXPECT_TRUE(is_wired_on_board(*find_gpu_model(name))) << name;
  for (const char* name : {"NVIDIA H100 NVL", "NVIDIA H200 NVL", "NVIDIA A100 80GB PCIe", "NVIDIA A40"})
    EXPECT_FALSE(is_wired_on_board(*find_gpu_model(name))) << name;
}

TEST(GpuCatalog, OtherMakersGpusAreNamed) {
  for (const char* amd :
       {"AMD Instinct MI300X", "Aqua Vanjaram [Instinct MI300A]", "Vega 20 [Radeon Pro VII]"})
    EXPECT_EQ(other_gpu_maker(amd), "AMD") << amd;
  EXPECT_EQ(other_gpu_maker("", "0x1002"), "AMD");
  EXPECT_EQ(other_gpu_maker("Intel(R) Data Center GPU Max 1550"), "Intel");
  for (const char* nvidia :
       {"", "NVIDIA H100 80GB HBM3", "NVIDIA RTX 6000 Ada Generation", "NVIDIA Future 9000"})
    EXPECT_EQ(other_gpu_maker(nvidia, "0x10de"), "") << nvidia;
}

TEST(GpuCatalog, KnowsPciIds) {
  EXPECT_EQ("H100 SXM", find_gpu_model_by_pci("0x10de", "0x2330")->name);
  EXPECT_EQ("H100 NVL", find_gpu_model_by_pci("0x10de", "0x2321")->name);
  EXPECT_EQ("L40S", find_gpu_model_by_pci("0x10de", "0x26b9")->name);
  for (const char* device : {"0x2342", "0x2345", "0x2348"})
    EXPECT_EQ("GH200", find_gpu_model_by_pci("0x10de", device)->name);
  EXPECT_EQ("GB200", find_gpu_model_by_pci("0x10de", "0x2941")->name);
  EXPECT_EQ(nullptr, find_gpu_model_by_pci("0x1002", "0x2330"));
  EXPECT_EQ(nullptr, find_gpu_model_by_pci("0x10de", ""));
  EXPECT_EQ(nullptr, find_gpu_model_by_pci("0x10de", "0x9999"));
}

}  // namespace
}  // namespace collbench::topology::gpus_test
