#include "analysis/models/nccl/sound_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::analysis::sound_machine_test {
namespace {

topology::Host host_of(const std::string& name) {
  return topology::reference_host(*topology::find_reference_machine(name));
}

topology::ResolvedMachine file_of(std::vector<topology::Host> hosts) {
  return {"node.json", {std::move(hosts)}};
}

/// Everything that is judged: the sound machine's cluster of two nodes.
GpuCluster judged(const topology::Host& host, int nodes = 2) {
  return gpu_cluster(sound_machine(file_of({host}), nodes).machine, nodes, 0);
}

TEST(SoundMachine, OfANameIsThatMachine) {
  const topology::ResolvedMachine named = topology::resolve_machine("ndv4");
  EXPECT_EQ(sound_machine(named, 2).yardstick, (Yardstick{YardstickKind::named, "ndv4", {}}));
  EXPECT_EQ(sound_machine(named, 2).machine.reference, named.reference);
}

TEST(SoundMachine, DamageNeverLowersIt) {
  const topology::Host whole = host_of("hgx-h100");
  const GpuCluster expected = judged(whole);
  const auto damaged = [&](const std::string& what, auto damage) {
    topology::Host host = whole;
    damage(host);
    const SoundMachine sound = sound_machine(file_of({host}), 2);
    EXPECT_EQ(sound.yardstick.kind, YardstickKind::detected) << what;
    EXPECT_EQ(sound.yardstick.machine, "hgx-h100") << what;
    EXPECT_EQ(judged(host), expected) << what;
  };
  for (const char* state : {"DOWN", "INIT", "ARMED", "PORT_DOWN"}) {
    damaged(state, [&](topology::Host& host) {
      for (std::size_t nic = 4; nic < 8; ++nic) host.nics[nic].ports.front().state.value = state;
    });
  }
  damaged("a port of 40 Gb/s that polls", [](topology::Host& host) {
    host.nics[3].ports.front().gigabits_per_second.value = 40;
    host.nics[3].ports.front().physical_state.value = "Polling";
  });
  damaged("GPUDirect off", [](topology::Host& host) {
    for (topology::Gpu& gpu : host.gpus) gpu.gpudirect.value = false;
    for (topology::Nic& nic : host.nics) nic.gpudirect.value = false;
  });
  damaged("NVLinks missing", [](topology::Host& host) {
    for (topology::Gpu& gpu : host.gpus) gpu.nvlinks_active.value = 9;
  });
  damaged("narrow PCIe", [](topology::Host& host) {
    for (topology::PciDevice& device : host.pci_devices) {
      device.link_now.width.value = 4;
      device.link_max.width.value = 4;
    }
  });
}

TEST(SoundMachine, ANicThatIsNotOfTheFabricChangesNothing) {
  const topology::Host whole = host_of("hgx-h100");
  const auto with = [&](auto change) {
    topology::Host host = whole;
    change(host);
    return sound_machine(file_of({host}), 2).yardstick;
  };
  const auto storage = [](topology::Host& host) {
    topology::Nic nic = host.nics.front();
    nic.pci_address.value = "0000:f0:00.0";
    nic.ports.front().link_layer.value = "Ethernet";
    nic.ports.front().gigabits_per_second.value = 200;
    host.nics.push_back(nic);
  };
  EXPECT_EQ(with(storage).kind, YardstickKind::detected);
  EXPECT_EQ(with(storage).machine, "hgx-h100");
  const auto onboard = [](topology::Host& host) {
    for (std::size_t nic : {6U, 7U}) {
      host.nics[nic].ports.front().link_layer.value = "Ethernet";
      host.nics[nic].ports.front().gigabits_per_second.value = 25;
      host.nics[nic].ports.front().state.value = "DOWN";
    }
  };
  EXPECT_EQ(with(onboard).kind, YardstickKind::own) << "six NICs, and two ports that nobody plugged";
}

TEST(SoundMachine, AProvidersNetworkIsNobodyElses) {
  topology::Host host = host_of("hgx-h100");
  for (topology::Nic& nic : host.nics) nic.ports.front().gigabits_per_second.value = 200;
  const Yardstick yardstick = sound_machine(file_of({host}), 2).yardstick;
  EXPECT_EQ(yardstick, (Yardstick{YardstickKind::own, "hgx-h100", {"NICs of 200 Gb/s instead of 400"}}));
  EXPECT_EQ(sound_machine(file_of({host_of("a3-mega")}), 2).yardstick.machine, "a3-mega");
  EXPECT_EQ(sound_machine(file_of({host_of("p5")}), 2).yardstick.machine, "p5");
}

TEST(SoundMachine, OfSeveralNodesTheBestAndOfSeveralGpusTheSlowest) {
  topology::Host slow = host_of("hgx-h100");
  for (topology::Nic& nic : slow.nics) nic.ports.front().gigabits_per_second.value = 200;
  const topology::Host whole = host_of("hgx-h100");
  EXPECT_EQ(sound_machine(file_of({slow, whole}), 2).yardstick.machine, "hgx-h100");
  EXPECT_EQ(sound_machine(file_of({whole, slow}), 2).yardstick.machine, "hgx-h100");
  const topology::Host older = host_of("hgx-a100");
  EXPECT_EQ(sound_machine(file_of({whole, older}), 2).yardstick.machine, "hgx-a100");
  EXPECT_EQ(sound_machine(file_of({older, whole}), 2).yardstick.machine, "hgx-a100");
}

TEST(SoundMachine, OnOneNodeTheNicsDoNotMatter) {
  topology::Host host = host_of("hgx-h100");
  host.nics.clear();
  EXPECT_EQ(sound_machine(file_of({host}), 1).yardstick.machine, "hgx-h100");
  EXPECT_EQ(sound_machine(file_of({host}), 2).yardstick.kind, YardstickKind::own);
}

TEST(SoundMachine, OverEthernetItIsThatMachineOverEthernet) {
  topology::Host host = host_of("hgx-h100");
  for (topology::Nic& nic : host.nics) {
    nic.name.value = "mlx5_0";
    nic.ports.front().link_layer.value = "Ethernet";
  }
  const SoundMachine sound = sound_machine(file_of({host}), 2);
  EXPECT_EQ(sound.yardstick.machine, "hgx-h100");
  const GpuCluster cluster = gpu_cluster(sound.machine, 2, 0);
  EXPECT_EQ(cluster.nics, 8);
  EXPECT_EQ(cluster.nic_line_rate, judged(host_of("hgx-h100")).nic_line_rate);
  EXPECT_EQ(cluster.transport, Transport::roce);
  host.nics.back().ports.front().link_layer.value = "InfiniBand";  // one in another mode
  EXPECT_EQ(gpu_cluster(sound_machine(file_of({host}), 2).machine, 2, 0).transport, Transport::roce);
}

TEST(SoundMachine, WithoutAReferenceItIsItsOwnBestDevices) {
  topology::Host host = host_of("hgx-h100");
  host.nics.resize(4);
  const GpuCluster whole = judged(host);
  EXPECT_EQ(whole.nics, 4);
  topology::Host damaged = host;
  damaged.nics[1].ports.front().gigabits_per_second.value = 100;
  damaged.nics[2].ports.front().state.value = "DOWN";
  damaged.gpus[5].nvlinks_active.value = 3;
  damaged.gpus[5].gpudirect.value = false;
  for (topology::PciDevice& device : damaged.pci_devices)
    if (device.address == *damaged.gpus[2].pci_address.value) device.link_now.width.value = 8;
  EXPECT_EQ(judged(damaged), whole);
  const SoundMachine sound = sound_machine(file_of({damaged}), 2);
  EXPECT_EQ(sound.yardstick.kind, YardstickKind::own);
  EXPECT_EQ(sound.yardstick.machine, "hgx-h100");
  EXPECT_THAT(sound.yardstick.differences, testing::Contains(testing::HasSubstr("instead of 8")));
  damaged.nics[1].ports.front().state.value = "DOWN";
  damaged.nics[3].ports.front().state.value = "INIT";
  EXPECT_EQ(judged(damaged), whole) << "three of four ports down";
  // Of several hosts the best.
  damaged.nics.resize(2);
  EXPECT_EQ(gpu_cluster(sound_machine(file_of({damaged, host}), 2).machine, 2, 0), whole);
}

TEST(SoundMachine, SecondPortsThatNobodyCabledAreNoDamage) {
  topology::Host host = host_of("hgx-h100");
  host.nics.resize(4);
  for (std::size_t nic : {1U, 3U}) {
    host.nics[nic].ports.front().state.value = "DOWN";
    std::string address = *host.nics[nic - 1].pci_address.value;
    address.back() = '1';
    host.nics[nic].pci_address.value = address;
  }
  EXPECT_EQ(judged(host).nics, 2);
  for (std::size_t nic : {1U, 3U}) host.nics[nic].pci_address.value.reset();
  EXPECT_EQ(judged(host).nics, 2) << "as many down as up, and nobody says on which cards";
}

TEST(SoundMachine, ABridgeOfAHypervisorIsNoLink) {
  topology::Host host = host_of("hgx-h100");
  host.nics.resize(4);
  const GpuCluster whole = judged(host);
  for (topology::PciDevice& device : host.pci_devices) {
    if (!device.parent.empty() || !device.class_code.value_or("").starts_with("0x0604")) continue;
    device.link_max.gigatransfers_per_second.value = 2.5;
    device.link_max.width.value = 1;
    ASSERT_TRUE(topology::is_virtual_bridge(host, device));
  }
  EXPECT_EQ(judged(host).nic_path, whole.nic_path);
  EXPECT_EQ(judged(host).gpu_path, whole.gpu_path);
}

TEST(SoundMachine, OfAnotherKindHasNoNearestOne) {
  topology::Host host = host_of("hgx-h100");
  for (topology::Gpu& gpu : host.gpus) {
    gpu.model.value = "NVIDIA GeForce RTX 3060";
    gpu.sm.value = 86;
  }
  const SoundMachine sound = sound_machine(file_of({host}), 1);
  EXPECT_EQ(sound.yardstick, (Yardstick{YardstickKind::own, "", {}}));
}

}  // namespace
}  // namespace collbench::analysis::sound_machine_test
