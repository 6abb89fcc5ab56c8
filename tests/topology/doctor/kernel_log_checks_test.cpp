// What the texts of log_check_cases.hpp do not show of kernel_log_checks() of checks.hpp, and Xids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::kernel_log_checks_test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(KernelLogChecks, ALinkThatIsSlowerThanItsPortIsLimitedThoughItHasAllLanes) {
  const std::string sysfs_like = ibstat_card("mlx5_10", "28.36.1010", "Active", "400");
  Evidence evidence = evidence_of({{"", sysfs_like}, {"", pcie_bandwidth("16")}});
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty()) << "ibstat has no addresses";
  evidence.host.nics.front().pci_address.value = "0000:5e:00.0";
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("pcie-limited"));
}

TEST(KernelLogChecks, WhatIsNoGpuAndNoNicIsNotLimited) {
  EXPECT_THAT(
      found_codes(diagnose(evidence_of(
          {{"",
            "pci 0000:0a:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at "
            "0000:00:1c.0 (capable of 7.876 Gb/s with 8.0 GT/s PCIe x2 link)\n"}}))),
      IsEmpty());
}

TEST(KernelLogChecks, APageFaultSoonAfterTheLinkFailedIsNotTheProgramsFault) {
  const std::string fault = "[ 14.3] NVRM: Xid (PCI:0000:17:00): 31, pid=1, name=python, MMU Fault\n";
  const auto codes = [](const std::string& log) { return found_codes(diagnose(evidence_of({{"", log}}))); };
  const std::string fatal =
      "[ 12.1] pcieport 0000:16:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer\n";
  EXPECT_THAT(codes(fatal + fault), UnorderedElementsAre("pcie-errors", "xid-other"));
  const std::string ecc = "[ 13.1] NVRM: Xid (PCI:0000:17:00): 48, pid=1, DBE\n";
  EXPECT_THAT(codes(ecc + fault), UnorderedElementsAre("xid", "xid-other"));
  EXPECT_THAT(codes(fault + ecc), UnorderedElementsAre("xid", "xid-program")) << "the fault came first";
  EXPECT_THAT(codes(fault + ecc + fault), UnorderedElementsAre("xid", "xid-other", "xid-program"))
      << "a fault after it does not excuse one before it";
  const std::string of_another = "[ 13.1] NVRM: Xid (PCI:0000:18:00): 48, pid=1, DBE\n";
  EXPECT_THAT(codes(of_another + fault), UnorderedElementsAre("xid", "xid-program"));
  std::string much_later = fatal;
  for (int i = 0; i < 120; ++i) much_later += "[ 13.2] usb 1-1: new device\n";
  EXPECT_THAT(codes(much_later + fault), UnorderedElementsAre("pcie-errors", "xid-program"));
}

TEST(KernelLogChecks, AGpuIsKnownByItsIdsAnywhereInTheLog) {
  const std::string limited =
      "pci 0000:17:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at "
      "0000:16:00.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n";
  const auto with = [&limited](const std::string& address) {
    return found_codes(diagnose(evidence_of({{"", limited + "Aug 17 06:18:01 n1 kernel: pci " + address +
                                                      ": [10de:2330] type 00 class 0x030200\n"}})));
  };
  EXPECT_THAT(with("0000:17:00.0"), UnorderedElementsAre("pcie-limited"));
  EXPECT_THAT(with("0000:18:00.0"), IsEmpty());
}

TEST(KernelLogChecks, AModuleThatTheNicDoesNotAcceptIsNotCalledFaulty) {
  for (const char* reason : {"Power budget exceeded", "Enforce part number list"}) {
    const std::string line = "mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, ";
    EXPECT_THAT(found_codes(diagnose(evidence_of({{"", line + reason + "\n"}}))),
                UnorderedElementsAre("port-module-refused"))
        << reason;
  }
}

/// The kernel log keeps what was mended: the module was loaded again, or one container had other libraries.
TEST(KernelLogChecks, AMismatchIsOfTheModuleThatRuns) {
  const std::string mismatch = booted("NVRM: API mismatch: the client has the version 550.54.14");
  const std::string nvidia_smi = "Failed to initialize NVML: Driver/library version mismatch\n";
  const std::string loaded = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14\n";
  const auto codes = [](const std::vector<Text>& texts) { return found_codes(diagnose(evidence_of(texts))); };
  EXPECT_THAT(codes({{"", mismatch + loaded}}), IsEmpty());
  EXPECT_THAT(codes({{"", mismatch}, {"nvidia-smi-q", kQuery}}), IsEmpty());
  EXPECT_THAT(codes({{"", mismatch}, {"", nvidia_smi}}), UnorderedElementsAre("driver-mismatch"));
  EXPECT_THAT(codes({{"", mismatch + loaded + mismatch}}), UnorderedElementsAre("driver-mismatch-logged"));
}

/// The earlier line says whether it was fatal, but only that of the same GPU.
TEST(KernelLogChecks, AConsequenceOfAnXidIsAsBadAsThatXid) {
  const auto codes = [](const std::string& first) {
    return found_codes(diagnose(evidence_of(
        {{"", first + "NVRM: Xid (PCI:0000:17:00): 45, pid=1, Ch 00000001 caused by previous Xid 149\n"}})));
  };
  EXPECT_THAT(codes("NVRM: Xid (PCI:0000:17:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 00\n"),
              UnorderedElementsAre("xid-other"));
  EXPECT_THAT(codes("NVRM: Xid (PCI:0000:17:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00\n"),
              UnorderedElementsAre("xid"));
  EXPECT_THAT(codes("NVRM: Xid (PCI:0000:18:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 00\n"),
              UnorderedElementsAre("xid", "xid-other"));
}

/// NVSwitches write an error once in words, once by number, and then its data: one event.
TEST(KernelLogChecks, ASwitchsErrorIsAsSevereAsAnyOfItsLinesSays) {
  const auto codes = [](const std::string& log) { return found_codes(diagnose(evidence_of({{"", log}}))); };
  const std::string at = "[ 12.3] nvidia-nvswitch1: SXid (PCI:0000:aa:00.0): 24007, ";
  const std::string data = at + "Data {0x00000001, 0x00000000}\n";
  EXPECT_THAT(codes(at + "Fatal, Link 12 sourcetrack timeout error\n" + data), UnorderedElementsAre("xid"));
  EXPECT_THAT(codes(at + "Severity 1 Engine instance 12 Sub-engine instance 00\n" + data),
              UnorderedElementsAre("xid"));
  EXPECT_THAT(codes(at + "Severity 0 Engine instance 12 Sub-engine instance 00\n" + data),
              UnorderedElementsAre("xid-other"));
  EXPECT_THAT(codes(data), UnorderedElementsAre("xid-other"));
}

TEST(KernelLogChecks, AnErrorOfPcieThatIsNotFatalIsARisk) {
  const std::string line =
      "[ 12.3] pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction "
      "Layer\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", line}}))),
              UnorderedElementsAre("pcie-errors-corrected"));
}

TEST(KernelLogChecks, ARegistrationThatAnotherDeviceRefusedIsNotEfas) {
  const std::string line = "[ 12.3] infiniband mlx5_0: Failed to register mr [-12]\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", line}}))),
              testing::Not(testing::Contains("efa-registration-refused")));
}

}  // namespace
}  // namespace collbench::topology::kernel_log_checks_test
