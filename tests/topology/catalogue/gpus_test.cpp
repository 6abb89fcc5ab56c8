#include "topology/catalogue/gpus.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::gpus_test {
namespace {

TEST(GpuCatalogue, DistinguishesFormsOfOneModel) {
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

TEST(GpuCatalogue, KnowsPciIds) {
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
