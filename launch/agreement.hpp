#pragma once
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

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
/// failed in its text and that rank and `host` in front of it when not all ranks failed.
void agree(Ranks& ranks, const std::string& host, const std::optional<Error>& mine);

/// Brings an Error on which some ranks have agreed among themselves to all of them, in its own words.
void agree_on_groups(Ranks& ranks, const std::optional<Error>& mine);

/// Runs `work` on every rank, then agrees: returns on all or throws the same AgreedError on all. `work` must
/// not communicate.
void agreed(Ranks& ranks, const std::string& host, const std::function<void()>& work);

/// One text for each of the same things on all ranks: that of the lowest rank that has any, empty where none
/// has. Where nobody has one, this is a single reduction. Collective.
[[nodiscard]] std::vector<std::string> agreed_texts(Ranks& ranks, std::vector<std::string> mine);

/// What agree_on_root and RootErrors, which alone make one, give to the work whose error they bring to all
/// ranks. Code that fails on rank 0 alone and takes one as its first argument cannot be called by accident
/// where the other ranks would wait for ever. It is a reminder, no proof: it can be copied and kept, and not
/// all such code takes one.
class OnRoot {
 private:
  OnRoot() = default;
  friend class RootErrors;
  template <typename Work>
  friend auto agree_on_root(Ranks& ranks, const std::string& host, const Work& work);
};

/// Runs `work(OnRoot)` on rank 0 alone, then agrees: throws the same AgreedError on all ranks when it failed.
/// Returns its result, if it has one, on rank 0, and none on the others. Collective; `work` must not
/// communicate.
template <typename Work>
auto agree_on_root(Ranks& ranks, const std::string& host, const Work& work) {
  using Result = std::invoke_result_t<const Work&, OnRoot>;
  if constexpr (std::is_void_v<Result>) {
    agreed(ranks, host, [&] {
      if (ranks.is_root()) work(OnRoot());
    });
  } else {
    std::optional<Result> result;
    agreed(ranks, host, [&] {
      if (ranks.is_root()) result.emplace(work(OnRoot()));
    });
    return result;
  }
}

/// What fails on rank 0 while the other ranks measure and cannot agree: the first Error is kept until all
/// can.
class RootErrors {
 public:
  /// Runs `work(OnRoot)`. On rank 0 alone; collective is only agree.
  void attempt(const std::function<void(OnRoot)>& work);
  /// Keeps an Error that somebody else caught on rank 0.
  void keep(const std::optional<Error>& error);
  /// Throws the first Error, if there is one, as the same AgreedError on all ranks. Collective.
  void agree(Ranks& ranks, const std::string& host) const;
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::optional<Error> first_;
};

}  // namespace collbench::launch
