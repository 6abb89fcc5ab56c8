#pragma once
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// An Error that every rank throws, so that rank 0 speaks for all. Any other Error of a lost rank is known
/// only where it happened.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// Turns a failure on some ranks into the same AgreedError on all of them, so that nobody waits for a rank
/// that gave up. Collective. The error of the lowest failing rank is thrown everywhere, with how many ranks
/// failed in its text and that rank and `host` in front of it when not all ranks say the same.
void agree(Ranks& ranks, const std::string& host, const std::optional<Error>& mine);

/// Runs `work` on every rank, then agrees: returns on all or throws the same AgreedError on all. `work` must
/// not communicate.
void agreed(Ranks& ranks, const std::string& host, const std::function<void()>& work);

}  // namespace collbench::launch
