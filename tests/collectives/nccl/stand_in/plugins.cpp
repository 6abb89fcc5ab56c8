#include "tests/collectives/nccl/stand_in/plugins.hpp"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>

#include "collectives/nccl/observer/plugin_interfaces.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"

namespace collbench::collectives {
namespace {

constexpr int kAlgorithms = 7;
constexpr int kProtocols = 3;
constexpr std::array<const char*, kAlgorithms> kAlgorithmWords{
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<const char*, kProtocols> kProtocolWords{"LL", "LL128", "SIMPLE"};
constexpr int kTree = 0;
constexpr int kRing = 1;
constexpr int kNvls = 4;
constexpr std::size_t kSimple = 2;

using CostTable = std::array<std::array<float, kProtocols>, kAlgorithms>;

/// Of the two that the stand-in has, and of NVLS where it is forced: µs of a made-up machine, a start and a
/// rate each.
CostTable cost_table(Ask ask, std::size_t bytes, const Restriction& only) {
  constexpr std::array<std::array<float, kProtocols>, 2> kStart{{{6.0F, 12.0F, 20.0F}, {8.0F, 16.0F, 24.0F}}};
  constexpr std::array<float, kProtocols> kBytesPerMicrosecond{1e4F, 5e4F, 1e5F};
  CostTable table;
  for (auto& row : table) row.fill(-1);
  for (const int algorithm : {kTree, kRing}) {
    if (algorithm == kTree && ask != Ask::all_reduce) continue;
    for (std::size_t protocol = 0; protocol < kProtocols; ++protocol) {
      const auto wanted = [](const std::string& find_by_name, const char* word) {
        return find_by_name.empty() || ::strcasecmp(find_by_name.c_str(), word) == 0;
      };
      const auto row = static_cast<std::size_t>(algorithm);
      if (!wanted(only.algorithm, kAlgorithmWords.at(row))) continue;
      if (!wanted(only.protocol, kProtocolWords.at(protocol))) continue;
      const float rate = kBytesPerMicrosecond.at(protocol) * (algorithm == kTree ? 0.5F : 1.0F);
      table.at(row).at(protocol) = kStart.at(row).at(protocol) + static_cast<float>(bytes) / rate;
    }
  }
  if (only.algorithm == "NVLS" && has_nvswitches()) table.at(kNvls).at(kSimple) = 30.0F;
  return table;
}

/// A plugin that is loaded, whatever its version: what the stand-in calls.
struct Tuner {
  std::function<void(void** context, int ranks)> init;
  std::function<void(void* context, std::size_t bytes, CostTable&, int* channels)> ask;
  std::function<void(void* context)> finalize;
};
struct Profiler {
  std::function<void(void** context, int* mask, int ranks, int rank)> init;
  std::function<void(void* context, const Use*)> tell;  // null: of a send or receive
  std::function<void(void* context)> finalize;
};

/// The symbol's address in `library`, when this NCCL knows that version of it.
template <typename Plugin>
Plugin* symbol(void* library, const char* name, int first_nccl) {
  return stand_in_version() < first_nccl ? nullptr : static_cast<Plugin*>(::dlsym(library, name));
}

template <typename Plugin>
Tuner newer_tuner(Plugin* plugin) {
  return {.init =
              [plugin](void** context, int ranks) {
                std::array<double, 256> constants{};
                plugin->init(context, 1, static_cast<std::size_t>(ranks), 1, nullptr, nullptr,
                             constants.data());
              },
          .ask =
              [plugin](void* context, std::size_t bytes, CostTable& table, int* channels) {
                plugin->collective_info(context, 4, bytes, 1, reinterpret_cast<float**>(table.data()),
                                        kAlgorithms, kProtocols, 0, channels);
              },
          .finalize = [plugin](void* context) { plugin->finalize(context); }};
}

template <typename Plugin, typename Ask>
Tuner older_tuner(Plugin* plugin, Ask ask) {
  return {.init = [plugin](void** context,
                           int ranks) { plugin->init(static_cast<std::size_t>(ranks), 1, nullptr, context); },
          .ask = ask,
          .finalize = [plugin](void* context) { plugin->destroy(context); }};
}

std::optional<Tuner> tuner_in(void* library) {
  if (auto* v6 = symbol<TunerV6>(library, "ncclTunerPlugin_v6", 23000)) return newer_tuner(v6);
  if (auto* v5 = symbol<TunerV5>(library, "ncclTunerPlugin_v5", 22800)) return newer_tuner(v5);
  if (auto* v4 = symbol<TunerV4>(library, "ncclTunerPlugin_v4", 22400)) {
    return older_tuner(v4, [v4](void* context, std::size_t bytes, CostTable& table, int* channels) {
      v4->collective_info(context, 4, bytes, 1, reinterpret_cast<float**>(table.data()), kAlgorithms,
                          kProtocols, 0, channels);
    });
  }
  if (auto* v3 = symbol<TunerV3>(library, "ncclTunerPlugin_v3", 22200)) {
    return older_tuner(v3, [v3](void* context, std::size_t bytes, CostTable& table, int* channels) {
      v3->collective_info(context, 4, bytes, 1, reinterpret_cast<float**>(table.data()), kAlgorithms,
                          kProtocols, channels);
    });
  }
  return std::nullopt;
}

template <typename Event>
Event event_of(const Use* use) {
  Event event{};
  if (use == nullptr) {
    event.type = 1U << 2U;
    event.peer_to_peer = {};
    if constexpr (requires { event.peer_to_peer.channels; }) event.peer_to_peer.channels = 2;
    return event;
  }
  event.type = 1U << 1U;
  event.collective = {};
  event.collective.channels = static_cast<std::uint8_t>(use->channels);
  const auto algorithm = static_cast<std::size_t>(use->algorithm);
  const auto protocol = static_cast<std::size_t>(use->protocol);
  if constexpr (requires { event.collective.algorithm = std::uint8_t{}; }) {
    event.collective.algorithm = static_cast<std::uint8_t>(algorithm);
    event.collective.protocol = static_cast<std::uint8_t>(protocol);
  } else {
    event.collective.algorithm = kAlgorithmWords.at(algorithm);
    event.collective.protocol = kProtocolWords.at(protocol);
  }
  return event;
}

template <typename Event, typename Plugin, typename Init>
Profiler profiler(Plugin* plugin, Init init) {
  return {.init = init,
          .tell =
              [plugin](void* context, const Use* use) {
                void* group = nullptr;
                Event around{};
                around.type = 1;
                plugin->start_event(context, &group, &around);
                if (group == nullptr) return;  // up to 2.27 there is nothing below no group
                auto event = event_of<Event>(use);
                event.parent = group;
                void* handle = nullptr;
                plugin->start_event(context, &handle, &event);
                plugin->stop_event(handle);
                plugin->stop_event(group);
              },
          .finalize = [plugin](void* context) { plugin->finalize(context); }};
}

std::optional<Profiler> profiler_in(void* library) {
  const auto hash_first = [](auto* plugin) {
    return [plugin](void** context, int* mask, int ranks, int rank) {
      plugin->init(context, 1, mask, nullptr, 1, ranks, rank, nullptr);
    };
  };
  const auto plain = [](auto* plugin) {
    return [plugin](void** context, int* mask, int /*ranks*/, int /*rank*/) { plugin->init(context, mask); };
  };
  if (auto* v6 = symbol<ProfilerV6>(library, "ncclProfiler_v6", 22900)) {
    return profiler<ProfilerEventV6>(v6, hash_first(v6));
  }
  if (auto* v5 = symbol<ProfilerV5>(library, "ncclProfiler_v5", 22800)) {
    return profiler<ProfilerEventV5>(v5, hash_first(v5));
  }
  if (auto* v4 = symbol<ProfilerV4>(library, "ncclProfiler_v4", 22700)) {
    return profiler<ProfilerEventV4>(v4, [v4](void** context, int* mask, int ranks, int rank) {
      v4->init(context, mask, nullptr, 1, 1, ranks, rank, nullptr);
    });
  }
  if (auto* v3 = symbol<ProfilerV3>(library, "ncclProfiler_v3", 22600)) {
    return profiler<ProfilerEventV3>(v3, plain(v3));
  }
  if (auto* v2 = symbol<ProfilerV2>(library, "ncclProfiler_v2", 22400)) {
    return profiler<ProfilerEventV2>(v2, plain(v2));
  }
  if (auto* v1 = symbol<ProfilerV1>(library, "ncclProfiler_v1", 22300)) {
    return profiler<ProfilerEventV1>(v1, plain(v1));
  }
  return std::nullopt;
}

/// dlopen of what is named, or of the usual file. Null for none.
void* open_plugin(const char* variable, const std::string& usual) {
  const char* const find_by_name = std::getenv(variable);
  if (find_by_name == nullptr || *find_by_name == '\0')
    return ::dlopen((usual + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (::strcasecmp(find_by_name, "none") == 0) return nullptr;
  if (void* const library = ::dlopen(find_by_name, RTLD_NOW | RTLD_LOCAL)) return library;
  return ::dlopen((usual + "-" + find_by_name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// What all communicators of this process share.
struct Loaded {
  std::mutex mutex;
  int communicators = 0;
  void* tuner_library = nullptr;
  void* profiler_library = nullptr;
  std::optional<Tuner> tuner;
  std::optional<Profiler> profiler;
  std::atomic<int> event_mask{0};
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

}  // namespace

Plugins::Plugins(int ranks, int rank) : ranks_(ranks) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (all.communicators++ == 0 && !injected_fault("no_plugins")) {
    all.tuner_library = open_plugin("NCCL_TUNER_PLUGIN", "libnccl-tuner");
    if (all.tuner_library != nullptr) all.tuner = tuner_in(all.tuner_library);
    all.profiler_library = open_plugin("NCCL_PROFILER_PLUGIN", "libnccl-profiler");
    if (all.profiler_library != nullptr) {
      all.profiler = profiler_in(all.profiler_library);
    }
  }
  static_assert(sizeof all.event_mask == sizeof(int));
  if (all.profiler) {
    all.profiler->init(&profiler_context_, reinterpret_cast<int*>(&all.event_mask), ranks, rank);
  }
  if (all.tuner) all.tuner->init(&tuner_context_, ranks);
}

Plugins::~Plugins() {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (all.tuner) all.tuner->finalize(tuner_context_);
  if (all.profiler) all.profiler->finalize(profiler_context_);
  if (--all.communicators > 0) return;
  all.tuner.reset();
  all.profiler.reset();
  for (void** library : {&all.tuner_library, &all.profiler_library}) {
    if (*library != nullptr) ::dlclose(*library);
    *library = nullptr;
  }
}

void Plugins::run(Ask ask, std::size_t bytes, const Restriction& restriction) const {
  if (ranks_ == 1) return;
  const Loaded& all = loaded();
  CostTable table = cost_table(ask, bytes, restriction);
  int most_channels = 0;
  if (all.tuner) all.tuner->ask(tuner_context_, bytes, table, &most_channels);
  Use use{.channels = static_cast<int>(std::clamp<std::size_t>(bytes / 1024, 1, 16))};
  float least = -1;
  for (int algorithm = 0; algorithm < kAlgorithms; ++algorithm) {
    for (int protocol = 0; protocol < kProtocols; ++protocol) {
      const float cost = table.at(static_cast<std::size_t>(algorithm)).at(static_cast<std::size_t>(protocol));
      if (cost < 0 || (least >= 0 && cost >= least)) continue;
      least = cost;
      use.algorithm = algorithm;
      use.protocol = protocol;
    }
  }
  if (all.profiler && (static_cast<unsigned>(all.event_mask.load()) & 1U << 1U) != 0) {
    all.profiler->tell(profiler_context_, &use);
  }
}

void Plugins::send(std::size_t transfers) const {
  if (ranks_ == 1) return;
  const Loaded& all = loaded();
  if (!all.profiler || (static_cast<unsigned>(all.event_mask.load()) & 1U << 2U) == 0) return;
  for (std::size_t i = 0; i < transfers; ++i) all.profiler->tell(profiler_context_, nullptr);
}

}  // namespace collbench::collectives
