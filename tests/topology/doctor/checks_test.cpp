#include "topology/doctor/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"

namespace collbench::topology {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(DoctorChecks, EachFindsItsOwnFaultAndNoOther) {
  for (const CheckCase& each : all_cases()) {
    const Diagnosis diagnosis = diagnose(evidence_of(each.red));
    ASSERT_THAT(found_codes(diagnosis), UnorderedElementsAre(each.code)) << each.code;
    std::string all;
    for (const DoctorObservation& seen : diagnosis.findings.front().observations) all += seen.what + "\n";
    EXPECT_NE(all.find(each.seen), std::string::npos) << each.code << ": " << all;
  }
}

TEST(DoctorChecks, EachKnowsAHealthyMachine) {
  for (const CheckCase& each : all_cases()) {
    const Diagnosis diagnosis = diagnose(evidence_of(each.green));
    EXPECT_THAT(found_codes(diagnosis), IsEmpty()) << each.code;
    std::vector<std::string> healthy;
    for (const DoctorCheck& check : diagnosis.healthy) healthy.emplace_back(check.code);
    EXPECT_THAT(healthy, Contains(each.code));
  }
}

TEST(DoctorChecks, AVirtualBridgeMayShowNoWidth) {
  const Diagnosis diagnosis = diagnose(evidence_of({{"", lspci_gpu("Speed 2.5GT/s, Width x0", "16")}}));
  EXPECT_THAT(found_codes(diagnosis), UnorderedElementsAre("virtual-bridge"));
}

// -1 is NCCL's own default, and a port without the index may be down, or not NCCL's.
TEST(DoctorChecks, AGidIndexThatNcclFindsOrThatOtherDevicesHaveIsNotAccused) {
  const std::string two =
      "DEV PORT INDEX GID IPv4 VER DEV\n"
      "mlx5_0 1 3 0000:0000:0000:0000:0000:ffff:0a00:0001 10.0.0.1 v2 eth0\n"
      "mlx5_8 1 0 fe80:0000:0000:0000:0a:1 v1 eth8\nmlx5_8 1 1 fe80:0000:0000:0000:0a:1 v2 eth8\n";
  for (const char* index : {"-1", "3"}) {
    const Diagnosis diagnosis =
        diagnose(evidence_of({{"", two}, {"environment", std::string("NCCL_IB_GID_INDEX=") + index + "\n"}}));
    EXPECT_THAT(found_codes(diagnosis), testing::Not(Contains("gid-index-wrong"))) << index;
  }
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", two}, {"environment", "NCCL_IB_GID_INDEX=7\n"}}))),
              Contains("gid-index-wrong"));
}

TEST(DoctorChecks, WithoutEvidenceNothingIsHealthyAndNothingIsFound) {
  const Diagnosis diagnosis = diagnose(Evidence());
  EXPECT_THAT(diagnosis.findings, IsEmpty());
  EXPECT_THAT(diagnosis.healthy, IsEmpty());
  EXPECT_EQ(diagnosis.not_known.size(), doctor_checks().size());
}

TEST(DoctorChecks, EachHasACaseOrIsNamedHere) {
  std::vector<std::string> with_case{"switches-hidden",        "port-slow", "fabric-manager",
                                     "fabric-manager-version", "mig-on",    "ucx-ordering-unknown"};
  for (const CheckCase& each : all_cases()) with_case.push_back(each.code);
  for (const DoctorCheck& check : log_message_checks())
    with_case.emplace_back(check.code);  // nccl_messages_test.cpp
  for (const DoctorCheck& check : doctor_checks()) {
    EXPECT_THAT(with_case, Contains(std::string(check.code)));
    EXPECT_FALSE(check.reason.empty() || check.needs.empty() || check.confirm.empty() || check.fix.empty() ||
                 check.source.empty())
        << check.code;
  }
}

Host eight_gpus(PathType path) {
  Host host;
  host.sources.push_back({"a test", "", ""});
  host.gpus.resize(4);
  for (int from = 0; from < 4; ++from) {
    for (int to = from + 1; to < 4; ++to) {
      StatedPath stated{{DeviceKind::gpu, from}, {DeviceKind::gpu, to}, {}, {}};
      stated.type.value = path;
      host.stated_paths.push_back(stated);
    }
  }
  return host;
}

TEST(DoctorChecks, AVirtualMachineThatHidesItsSwitches) {
  Evidence evidence;
  evidence.host = eight_gpus(PathType::phb);
  EXPECT_THAT(found_codes(diagnose(evidence)), Contains("switches-hidden"));
  add_evidence(evidence, "NCCL_TOPO_FILE=/opt/topo.xml\n", "env", "environment");
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host = eight_gpus(PathType::nvl);
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
}

TEST(DoctorChecks, AFabricThatGpusHaveNotJoined) {
  Evidence evidence;
  evidence.host.sources.push_back({"a test", "", ""});
  evidence.host.gpus.resize(1);
  evidence.host.gpus[0].fabric_state.value = "Completed";
  evidence.host.gpus[0].fabric_status.value = "Success";
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host.gpus[0].fabric_state.value = "In Progress";
  EXPECT_THAT(found_codes(diagnose(evidence)), Contains("fabric-manager"));
  evidence.host.gpus[0].fabric_state.value = "N/A";
  evidence.host.nvswitches.resize(1);
  add_evidence(evidence, "inactive\n", "fm", "fabric-manager");
  EXPECT_THAT(found_codes(diagnose(evidence)), Contains("fabric-manager"));
}

TEST(DoctorChecks, AFabricManagerOfAnotherVersionThanTheDriver) {
  Evidence evidence;
  evidence.host.driver_version.value = "535.183.01";
  add_evidence(evidence, "Fabric Manager version is : 535.183.01\n", "fm", "");
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host.driver_version.value = "550.54.15";
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("fabric-manager-version"));
}

TEST(DoctorChecks, ACardThatCameUpSlowerThanOthersOfItsBoard) {
  Evidence evidence;
  for (int i = 0; i < 3; ++i) {
    Nic& nic = evidence.host.nics.emplace_back();
    nic.name.value = "mlx5_" + std::to_string(i);
    nic.board.value = i < 2 ? "MT_0000000838" : "MT_0000000834";  // another card, of 200 Gb/s
    NicPort& port = nic.ports.emplace_back();
    port.link_layer.value = "InfiniBand";
    port.state.value = "ACTIVE";
    port.gigabits_per_second.value = i < 2 ? 400 : 200;
  }
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host.nics[1].ports[0].gigabits_per_second.value = 200;
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("port-slow"));
}

TEST(DoctorChecks, AllLinksInactiveOnAModuleThatHasThem) {
  Evidence evidence;
  evidence.host.gpus.resize(8);
  for (Gpu& gpu : evidence.host.gpus) {
    gpu.model.value = "NVIDIA H100 80GB HBM3";
    gpu.nvlink_state.value = "all links are inActive";
  }
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("nvlink-inactive"));
}

/// What topo -m prints of GPUs whose pairs have `cell(a, b)`.
template <class Cell>
std::string gpu_matrix(int gpus, const Cell& cell) {
  std::string text;
  for (int gpu = 0; gpu < gpus; ++gpu) text += "\tGPU" + std::to_string(gpu);
  text += "\tCPU Affinity\n";
  for (int row = 0; row < gpus; ++row) {
    text += "GPU" + std::to_string(row);
    for (int column = 0; column < gpus; ++column)
      text += row == column ? "\t X " : "\t" + std::string(cell(row, column));
    text += "\t0-7\n";
  }
  return text;
}

TEST(DoctorChecks, AGpuWithoutItsNvLinksStandsOutInTopoM) {
  const auto of = [](auto cell) { return diagnose(evidence_of({{"", gpu_matrix(8, std::move(cell))}})); };
  const auto without_gpu2 = [](const std::string& cell) {
    return [cell](int a, int b) { return a == 2 || b == 2 ? cell : std::string("NV18"); };
  };
  const Diagnosis off = of(without_gpu2("NODE"));
  ASSERT_THAT(found_codes(off), UnorderedElementsAre("nvlink-inactive"));
  EXPECT_EQ(off.findings[0].observations[0].what,
            "GPU2: no NVLink to each of the others, which have 18 among themselves (topo -m)");
  EXPECT_EQ(of(without_gpu2("NV14")).findings[0].observations[0].what,
            "GPU2: 14 NVLinks to each of the others, which have 18 among themselves (topo -m)");
  EXPECT_THAT(found_codes(of(without_gpu2("NV18"))), IsEmpty());
  // Pairs with a bridge, and a mesh of one and two links, are so by design.
  EXPECT_THAT(found_codes(of([](int a, int b) { return a / 2 == b / 2 ? "NV12" : "SYS"; })), IsEmpty());
  EXPECT_THAT(found_codes(of([](int a, int b) { return (a + b) % 3 == 0 ? "NV2" : "NV1"; })), IsEmpty());
}

TEST(DoctorChecks, WhatGrepLeftFindsAndClearsNothing) {
  for (const char* text :
       {"[ 1.0] mlx5_core 0000:19:00.0: Link up\n", "nvidia 54566912 3 nvidia_uvm, Live 0x0\n",
        "BOOT_IMAGE=/vmlinuz root=/dev/sda1 quiet\n", "NCCL_DEBUG=INFO\n"}) {
    const Diagnosis diagnosis = diagnose(evidence_of({{"", text}}));
    EXPECT_THAT(found_codes(diagnosis), IsEmpty()) << text;
    EXPECT_THAT(diagnosis.healthy, IsEmpty()) << text << diagnosis.healthy.front().code;
  }
}

TEST(DoctorChecks, PartsOfNvidiaSmisAnswerClearNothing) {
  const std::string pages =
      "==============NVSMI LOG==============\nAttached GPUs                             : 1\nGPU "
      "00000000:17:00.0\n"
      "    Retired Pages\n        Pending Page Blacklist     : ";
  EXPECT_THAT(diagnose(evidence_of({{"", pages + "No\n"}})).healthy, IsEmpty());
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", pages + "Yes\n"}}))),
              UnorderedElementsAre("row-remap-failed"));
}

TEST(DoctorChecks, ALimitThatNobodyAskedForIsNotHealthy) {
  const Diagnosis diagnosis = diagnose(evidence_of({{"lsmod", "virtio_net 90112 0 - Live 0x0\n"}}));
  for (const DoctorCheck& check : diagnosis.healthy) EXPECT_NE(check.code, "memlock-limit");
}

TEST(DoctorChecks, WhatIsNotKnownOfDmaBufIsNoFinding) {
  const Diagnosis diagnosis = diagnose(
      evidence_of({{"lsmod", "nvidia 54566912 3 nvidia_uvm, Live 0x0\nmlx5_ib 397312 0 - Live 0x0\n"}}));
  EXPECT_THAT(found_codes(diagnosis), IsEmpty());
}

TEST(DoctorChecks, TheKernelsOwnWordOnTheIommuDecides) {
  const Diagnosis diagnosis =
      diagnose(evidence_of({{"kernel-command-line", "root=/dev/sda1 intel_iommu=on\n"},
                            {"kernel-log", "iommu: Default domain type: Passthrough\n"}}));
  EXPECT_THAT(found_codes(diagnosis), IsEmpty());
}

TEST(DoctorChecks, ACutLineIsNoCrash) {
  EXPECT_THAT(found_codes(diagnose(evidence_of(
                  {{"limits", "Max locked memory\n"}, {"lsmod", "mlx5_ib 397312 0 - Live 0x0\n"}}))),
              IsEmpty());
}

TEST(DoctorChecks, LockedMemoryMattersToRdmaOnly) {
  const std::string limit = "Max locked memory         65536                65536                bytes\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", limit}}))), UnorderedElementsAre("memlock-low"));
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", limit}, {"lsmod", "virtio_net 90112 0 - Live 0x0\n"}}))),
              IsEmpty());
}

TEST(DoctorChecks, ACardInASlotOfEightLanesIsHealthy) {
  Evidence evidence;
  evidence.host.gpus.resize(2);
  for (int i = 0; i < 2; ++i) {
    PciDevice& function = evidence.host.pci_devices.emplace_back();
    function.address = i == 0 ? "0000:17:00.0" : "0000:18:00.0";
    function.link_now.width.value = 8;
    function.link_max.width.value = 16;  // what the card could: the slot is not known
    Gpu& gpu = evidence.host.gpus.at(static_cast<std::size_t>(i));
    gpu.pci_address.value = function.address;
    gpu.model.value = "NVIDIA A10G";
  }
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host.pci_devices[1].link_now.width.value = 4;
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("pcie-narrow"));
}

TEST(DoctorChecks, ATableWithoutMessagesSaysNothingOfTheEnvironment) {
  const Diagnosis diagnosis = diagnose(evidence_of({{"", std::string(kHeading) + kRowAndSummary}}));
  EXPECT_THAT(found_codes(diagnosis), IsEmpty());
  ASSERT_EQ(diagnosis.healthy.size(), 1U);
  EXPECT_EQ(diagnosis.healthy.front().code, "log-separate-runs");
}

TEST(DoctorChecks, JobsOfSeveralRanksEachAreNotBuiltWithoutMpi) {
  const auto twice = [](const std::string& rank) {
    const std::string start =
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20\n";
    const std::string device =
        "#  Rank  " + rank + " Group  0 Pid   4711 on  n17 device  0 [0x1b] NVIDIA H100\n";
    return found_codes(diagnose(evidence_of({{"", start + start + "# Using devices\n" + device + device}})));
  };
  EXPECT_THAT(twice("0"), UnorderedElementsAre("log-separate-runs"));
  EXPECT_THAT(twice("1"), IsEmpty());
}

TEST(DoctorChecks, AGpuInMigMode) {
  Evidence evidence;
  evidence.host.gpus.resize(2);
  evidence.host.gpus[1].mig.value = true;
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("mig-on"));
}

TEST(DoctorChecks, AUcxThatDoesNotKnowTheCpu) {
  Evidence evidence;
  NumaNode& node = evidence.host.numa_nodes.emplace_back();
  node.cpu_vendor.value = "GenuineIntel";
  node.cpu_family.value = 6;
  node.cpu_model.value = 207;
  add_evidence(evidence, "# Library version: 1.18.1\n", "ucx", "");
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());  // the environment is not known
  Evidence set = evidence;
  add_evidence(evidence, "NCCL_DEBUG=INFO\n", "env", "environment");
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("ucx-ordering-unknown"));
  add_evidence(set, "UCX_IB_PCI_RELAXED_ORDERING=y\n", "env", "environment");
  EXPECT_THAT(found_codes(diagnose(set)), IsEmpty());
  evidence.host.numa_nodes[0].cpu_model.value = 143;  // Sapphire Rapids
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
}

TEST(DoctorChecks, ADefectOfAnotherMachineIsNone) {
  Evidence evidence;
  add_evidence(evidence, "n1:1:1 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n", "log", "");
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty());
  evidence.host.gpus.emplace_back().model.value = "NVIDIA GB200";
  EXPECT_THAT(found_codes(diagnose(evidence)), Contains("nccl-defect"));
}

TEST(DoctorChecks, ADefectThatTheLogShowsIsOneOfThatMachine) {
  const std::string version = "n1:1:1 [0] NCCL INFO NCCL version 2.25.1+cuda12.8\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", version}}))), IsEmpty());
  const std::string short_of =
      "n1:1:1 [0] NCCL INFO ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", version + short_of}}))),
              UnorderedElementsAre("nccl-defect"));
}

/// Two GPUs that are each below a root port of their own: what they say to each other passes both.
TEST(DoctorChecks, RootPortsWithAcsPartTwoGpusWithoutASwitch) {
  const auto machine = [](const std::string& acs) {
    std::string text;
    for (const std::string bus : {"41", "61"})
      text += "00:0" + bus.substr(0, 1) +
              ".1 PCI bridge: Vendor GPP Bridge (prog-if 00 [Normal decode])\n\tBus: primary=00, secondary=" +
              bus + ", subordinate=" + bus +
              ", sec-latency=0\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed "
              "16GT/s (ok), Width x16 (ok)\n\t\tACSCtl:\t" +
              acs + "\n\n";
    for (const std::string bus : {"41", "61"})
      text += bus +
              ":00.0 VGA compatible controller: NVIDIA Corporation AD102GL [RTX 6000 Ada] (rev "
              "a1)\n\t\tLnkCap:\tPort #0, "
              "Speed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed 16GT/s (ok), Width x16 (ok)\n\n";
    return diagnose(evidence_of({{"", text}}));
  };
  const Diagnosis on = machine("SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+");
  ASSERT_THAT(found_codes(on), UnorderedElementsAre("acs-on"));
  EXPECT_EQ(on.findings.front().observations.size(), 2U);
  EXPECT_THAT(found_codes(machine("SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd-")), IsEmpty());
}

/// What is right to do depends on what the machine has.
TEST(DoctorChecks, TheFixIsForTheMachineInView) {
  const std::vector<Text> staged{{"", channel("IB/0") + channel("IB/1")}};
  const auto fix = [&staged](const std::vector<Text>& more) {
    std::vector<Text> texts = staged;
    texts.insert(texts.end(), more.begin(), more.end());
    return diagnose(evidence_of(texts)).findings.front().fix;
  };
  EXPECT_THAT(fix({}), testing::StartsWith("modprobe nvidia-peermem"));
  EXPECT_THAT(fix({{"lsmod", "nvidia_peermem 16384 0 - Live 0x0\n"}}),
              testing::StartsWith("the peer memory module is loaded"));
  EXPECT_THAT(fix({{"kernel-version", "6.8.0-45-generic\n"},
                   {"", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.1\n"}}),
              testing::StartsWith("this kernel and driver export DMA-BUF"));
  const auto waiting = [](const std::string& model) {
    return diagnose(
        evidence_of({{"",
                      "==============NVSMI LOG==============\nAttached GPUs : 1\nGPU 00000000:51:00.0\n"
                      "    Product Name : NVIDIA " +
                          model + "\n    Fabric\n        State : In Progress\n"}}));
  };
  ASSERT_THAT(found_codes(waiting("B200")), UnorderedElementsAre("fabric-manager"));
  EXPECT_THAT(waiting("B200").findings.front().fix, testing::HasSubstr("ib_umad"));
  EXPECT_THAT(waiting("H100").findings.front().fix,
              testing::StartsWith("systemctl enable --now nvidia-fabricmanager"));
}

TEST(DoctorChecks, AGpuThatIsLostIsNamed) {
  for (const char* line :
       {"[ 12.3] NVRM: GPU 0000:17:00.0: GPU has fallen off the bus.\n",
        "[ 12.3] NVRM: The NVIDIA GPU 0000:17:00.0\n[ 12.3] NVRM: installed in this system has\n[ 12.3] "
        "NVRM: fallen off the bus and is not\n",
        "Unable to determine the device handle for GPU0000:17:00.0: GPU is lost.  Reboot the system\n"}) {
    const Diagnosis diagnosis = diagnose(evidence_of({{"", line}}));
    ASSERT_THAT(found_codes(diagnosis), UnorderedElementsAre("gpu-lost")) << line;
    EXPECT_THAT(diagnosis.findings.front().observations.front().what, testing::HasSubstr("0000:17:00.0"));
  }
}

TEST(DoctorChecks, WhatNcclSaysOfGpuDirectIsMeantForTheNetwork) {
  const std::string disabled = "n1:1:1 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", disabled}}))), UnorderedElementsAre("log-no-gpudirect"));
  EXPECT_THAT(found_codes(diagnose(evidence_of(
                  {{"", disabled + "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC/read\n"}}))),
              IsEmpty());
}

TEST(DoctorChecks, GroupsOfTheIommuAsTheKernelHasThemNow) {
  const std::string group = "/sys/kernel/iommu_groups/";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", group + "0/type:DMA-FQ\n" + group + "1/type:DMA\n"}}))),
              UnorderedElementsAre("iommu-translates"));
  // Whatever the command line asked for.
  EXPECT_THAT(
      found_codes(diagnose(evidence_of({{"", group + "0/type:DMA-FQ\n" + group + "1/type:identity\n"},
                                        {"kernel-command-line", "root=/dev/sda1 intel_iommu=on\n"}}))),
      IsEmpty());
}

/// NVIDIA's catalog: 63, 92 and 137 are to be ignored at once; from Blackwell on the message says which are
/// fatal.
TEST(DoctorChecks, AnXidIsWhatTheCatalogMakesOfIt) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"63, pid=1, Row Remapper: New row marked for remapping", "xid-other"},
      {"137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error", "xid-other"},
      {"145, RLW_RXPIPE Nonfatal XC0 i0 Link 11", "xid-other"},
      {"149, NETIR_LINK_EVT Fatal XC0 i0 Link 00", "xid"},
      {"45, pid=1, name=python3, Ch 00000001 caused by previous Xid 149", "xid"},
      {"109, pid=1, Ch 00000008, errorString CTX SWITCH TIMEOUT", "xid"},
  };
  for (const auto& [message, code] : cases)
    EXPECT_THAT(found_codes(diagnose(evidence_of({{"", "NVRM: Xid (PCI:0000:17:00): " + message + "\n"}}))),
                UnorderedElementsAre(code))
        << message;
}

TEST(DoctorChecks, SocketsAndBridgesMatterBetweenNodesOnly) {
  const std::string bridges =
      "n1:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]virbr0:10.1.0.1<0>\n";
  const std::string sockets = "n1:1:1 [0] NCCL INFO Using network Socket\n";
  const auto comm = [](int nodes) {
    return "n1:1:1 [0] NCCL INFO comm 0x1 rank 1 nRanks 2 nNodes " + std::to_string(nodes) +
           " localRanks 2\n";
  };
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", bridges + sockets + comm(1)}}))), IsEmpty());
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", bridges + sockets + comm(2)}}))),
              UnorderedElementsAre("log-bridges", "log-sockets"));
}

/// NCCL of a device without an address that is routed works by the one it has.
TEST(DoctorChecks, ALinkLocalAddressIsWrongWhereThereIsARoutedOne) {
  const std::string device =
      "hca_id:\tmlx5_bond_0\n\t\t\tGID[  0]:\t\tfe80:0000::ac0:1cfb, RoCE v1\n"
      "\t\t\tGID[  1]:\t\tfe80::ac0:1cfb, RoCE v2\n";
  const std::string routed = "\t\t\tGID[  3]:\t\t::ffff:10.0.0.6, RoCE v2\n";
  const auto codes = [](const std::string& text) {
    return found_codes(diagnose(evidence_of({{"", text}, {"environment", "NCCL_IB_GID_INDEX=1\n"}})));
  };
  EXPECT_THAT(codes(device + routed), UnorderedElementsAre("gid-index-wrong"));
  EXPECT_THAT(codes(device), UnorderedElementsAre("roce-no-address"));
}

/// A rank whose log was not given has written nothing of its start, and does not hang there for that.
TEST(DoctorChecks, ARankWithoutALogDoesNotHangInTheStart) {
  const std::string partial = kVersion + of_ranks("START", 11) + of_ranks("COMPLETE", 11) +
                              "n18:4726:1 [7] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", partial}}))), testing::IsEmpty());
}

TEST(DoctorChecks, TheWorstIsFirst) {
  const Diagnosis diagnosis = diagnose(evidence_of({
      {"governor", "powersave\n"},
      {"", "NCCL_IB_DISABLE=1\n"},
      {"", "shm  67108864  0  67108864  0% /dev/shm\n"},
  }));
  EXPECT_EQ(found_codes(diagnosis), (std::vector<std::string>{"shm-small", "setting-costly", "governor"}));
}

TEST(DoctorChecks, NcclsLogSaysWhichEnvironmentWasSet) {
  const Diagnosis diagnosis =
      diagnose(evidence_of({{"", "n1:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"}}));
  EXPECT_THAT(found_codes(diagnosis), UnorderedElementsAre("setting-costly"));
}

/// What one rank of sixteen says clears the others of nothing.
TEST(DoctorChecks, ALogWithoutTheLinesOfAllRanksClearsNothing) {
  const auto healthy_by_log = [](const std::string& log) {
    const Diagnosis diagnosis = diagnose(evidence_of({{"", kVersion + log}}));
    EXPECT_THAT(found_codes(diagnosis), IsEmpty());
    return std::count_if(diagnosis.healthy.begin(), diagnosis.healthy.end(),
                         [](const DoctorCheck& check) { return check.needs.starts_with("a log"); });
  };
  EXPECT_GT(healthy_by_log(of_ranks("COMPLETE")), 40);
  EXPECT_EQ(healthy_by_log(of_ranks("COMPLETE", 11)), 0);
}

/// A log that is cut, or has the lines of a few ranks, does not say that the others hang.
TEST(DoctorChecks, APartOfALogAccusesNoRank) {
  const std::string started = kVersion + of_ranks("START");
  std::string half = started.substr(0, started.size() / 2);
  half.erase(half.rfind('\n') + 1);
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", half}}))), IsEmpty());
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", started + of_ranks("COMPLETE", 15)}}))), IsEmpty());
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", kVersion + of_ranks("START", 11) + kRowAndSummary}}))),
              IsEmpty());
}

/// Without NVLink, host memory is the usual way; ranks that were each given a NIC do not make hosts unequal.
TEST(DoctorChecks, WhatIsUsualForAMachineIsNoFault) {
  const std::string by_memory = local_channel("SHM/direct/direct") + local_channel("SHM/direct/direct");
  for (const char* gpu :
       {"NVIDIA GeForce RTX 4090", "NVIDIA A100 80GB PCIe", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"}) {
    const Diagnosis diagnosis = diagnose(evidence_of(
        {{"", std::string("#  Rank  0 Group  0 Pid   4711 on        n17 device  0 [0000:1b:00] ") + gpu +
                  "\n" + by_memory}}));
    EXPECT_THAT(found_codes(diagnosis), IsEmpty()) << gpu;
    EXPECT_THAT(diagnosis.notes, Contains(testing::HasSubstr("speak through host memory (SHM)"))) << gpu;
  }
  EXPECT_THAT(found_codes(diagnose(
                  evidence_of({{"", nics("n17", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB") +
                                        nics("n18", "[0]mlx5_0:1/IB") + nics("n18", "[0]mlx5_1:1/IB")}}))),
              IsEmpty());
}

/// What a log says is quoted in pages that are handed on.
TEST(DoctorChecks, QuotesLeaveSecretsOut) {
  const Diagnosis diagnosis = diagnose(evidence_of({{"",
                                                     "n1:10:11 [0] misc/socket.cc:40 NCCL WARN Call to "
                                                     "connect failed : http://ann:hunter2@proxy:3128/\n"}}));
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  for (const DoctorObservation& seen : diagnosis.findings.front().observations) {
    EXPECT_THAT(seen.what, testing::HasSubstr("Call to connect failed : (set, not recorded)"));
    EXPECT_THAT(seen.what, testing::Not(testing::HasSubstr("hunter2")));
  }
  // Cut off, a password is no longer seen to be one; a value of JSON may stand behind a blank.
  for (const std::string& secret :
       {std::string(60, 'x') + " http://ann:hunter2" + std::string(60, 'y') + "@proxy/",
        std::string("{\"token\": \"hunter2\"}")}) {
    const Diagnosis hidden = diagnose(evidence_of(
        {{"", "n1:10:11 [0] misc/socket.cc:40 NCCL WARN Call to connect failed : " + secret + "\n"}}));
    ASSERT_EQ(hidden.findings.size(), 1U);
    EXPECT_THAT(hidden.findings.front().observations.front().what,
                testing::Not(testing::HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace collbench::topology
