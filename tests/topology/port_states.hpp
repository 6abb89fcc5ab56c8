#pragma once
#include <optional>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Words of a port, empty where a source says nothing, and whether NCCL uses such a port.
struct PortWords {
  std::string state;
  std::string physical;
  std::optional<bool> carries;
};

/// Every logical state that the tools print, alone, and every physical state beside an active one.
inline std::vector<PortWords> port_words() {
  std::vector<PortWords> all{{"", "", std::nullopt}, {"", "LinkUp", std::nullopt}};
  const std::vector<std::string> without_traffic{
      "NOP",      "DOWN",           "INIT",           "ARMED",          "ACTIVE_DEFER",           // sysfs
      "0: NOP",   "1: DOWN",        "2: INIT",        "3: ARMED",       "5: ACTIVE_DEFER",        // ibstatus
      "Down",     "Initialize",     "Initializing",   "Armed",          "Active deferred",        // ibstat
      "PORT_NOP", "PORT_DOWN (1)",  "PORT_INIT (2)",  "PORT_ARMED (3)", "PORT_ACTIVE_DEFER (5)",  // verbs
      "down",     "LOWERLAYERDOWN", "lowerlayerdown", "NOTPRESENT",     "notpresent",
      "DORMANT",  "TESTING"  // ip link
  };
  for (const std::string& state : without_traffic) {
    for (const char* physical : {"", "LinkUp"}) all.push_back({state, physical, false});
  }
  for (const char* state : {"4: ACTIVE", "PORT_ACTIVE (4)", "UP", "up"}) all.push_back({state, "", true});
  for (const char* state : {"ACTIVE", "Active"}) {
    for (const char* physical : {"", "LinkUp", "5: LinkUp", "LINK_UP", "LINK_UP (5)", "<unknown>",
                                 "0: <unknown>", "No state change", "NOP", "invalid physical state"})
      all.push_back({state, physical, true});
    for (const char* physical : {"Sleep",
                                 "Polling",
                                 "2: Polling",
                                 "POLLING (2)",
                                 "Disabled",
                                 "3: Disabled",
                                 "DISABLED (3)",
                                 "PortConfigurationTraining",
                                 "PORT_CONFIGURATION TRAINNING (4)",
                                 "ARMED",
                                 "LinkErrorRecovery",
                                 "LINK_ERROR_RECOVERY (6)",
                                 "LINK_ERROR_RECOVER",
                                 "Phy Test",
                                 "PhyTest",
                                 "PHY TEST (7)",
                                 "PHY_TEST",
                                 "Offline",
                                 "OPA_OFFLINE",
                                 "OPA_TEST"})
      all.push_back({state, physical, false});
  }
  for (const char* state : {"UNKNOWN", "unknown", "???", "invalid state", "7", "4"}) {
    all.push_back({state, "LinkUp", std::nullopt});
    all.push_back({state, "", std::nullopt});
    all.push_back({state, "Polling", false});
  }
  all.push_back({"", "Polling", false});
  return all;
}

inline void set_words(NicPort& port, const PortWords& words) {
  port.state.value = words.state.empty() ? std::nullopt : std::optional(words.state);
  port.physical_state.value = words.physical.empty() ? std::nullopt : std::optional(words.physical);
}

}  // namespace collbench::topology
