#pragma once
#include <string>
#include <string_view>

namespace collbench {

/// `name` as records have it, which are read with names of hosts only (is_host_name): what cannot be in one
/// becomes '_'. A kernel may be called anything, "(none)" among others.
[[nodiscard]] std::string legal_host_name(std::string_view name);

/// That of this host, by the kernel.
[[nodiscard]] std::string own_host_name();

/// What names of one host share: the letters up to the first dot, in lower case.
[[nodiscard]] std::string host_key(std::string_view name);
[[nodiscard]] bool is_same_host(const std::string& x, const std::string& y);

}  // namespace collbench
