#pragma once
#include <string>
#include <string_view>

namespace collbench {

/// The JSON of a saved topology without what tells twins apart and is no part of their shape: what the host
/// is called, UUIDs, GUIDs, serial numbers, places of sources, the rate of an idle link, and the memory of a
/// NUMA node below a GiB. Names of NICs stay, since permuted ones are told. Files of equal text, each one
/// host, are of one group: one of them has to be read. `text` must be one that can be loaded, or else be
/// loaded in any case when it is the first of its kind.
[[nodiscard]] std::string shape_text(std::string_view text);

}  // namespace collbench
