#pragma once
#include <algorithm>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "launch/ranks.hpp"

namespace collbench::launch {

/// Ranks as threads of one process: the harness's own talk, tested without a launcher.
class RankThreads {
 public:
  explicit RankThreads(int ranks)
      : size_(ranks),
        step_(ranks),
        texts_(static_cast<std::size_t>(ranks)),
        values_(static_cast<std::size_t>(ranks)) {}

  class Member : public Ranks {
   public:
    Member(RankThreads& all, int rank) : all_(all), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return all_.size_; }
    void barrier() override { all_.step_.arrive_and_wait(); }

    void broadcast(std::span<std::byte> bytes, int root) override {
      if (rank_ == root) all_.bytes_.assign(bytes.begin(), bytes.end());
      barrier();
      std::copy(all_.bytes_.begin(), all_.bytes_.end(), bytes.begin());
      barrier();
    }

    [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
      all_.texts_[static_cast<std::size_t>(rank_)] = text;
      barrier();
      const std::vector<std::string> texts = all_.texts_;
      barrier();
      return texts;
    }

    [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
      const std::vector<std::string> texts = all_gather(text);
      return is_root() ? texts : std::vector<std::string>{};
    }

    void reduce(std::span<double> values, RankAggregate how) override {
      all_.values_[static_cast<std::size_t>(rank_)].assign(values.begin(), values.end());
      barrier();
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<double> column;
        for (const auto& row : all_.values_) column.push_back(row[i]);
        values[i] = reduced(column, how);
      }
      barrier();
    }

   private:
    static double reduced(const std::vector<double>& column, RankAggregate how) {
      switch (how) {
        case RankAggregate::rank0:
          return column.front();
        case RankAggregate::minimum:
          return *std::min_element(column.begin(), column.end());
        case RankAggregate::maximum:
          return *std::max_element(column.begin(), column.end());
        case RankAggregate::average:
          break;
      }
      return std::accumulate(column.begin(), column.end(), 0.0) / static_cast<double>(column.size());
    }

    RankThreads& all_;
    int rank_;
  };

 private:
  int size_;
  std::barrier<> step_;
  std::vector<std::byte> bytes_;
  std::vector<std::string> texts_;
  std::vector<std::vector<double>> values_;
};

/// Runs `work` on `ranks` ranks and waits for all. `work` must not throw.
inline void run_rank_threads(int ranks, const std::function<void(Ranks&)>& work) {
  RankThreads all(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&all, &work, rank] {
      RankThreads::Member member(all, rank);
      work(member);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Counts the calls of a rank.
class CountingRanks : public Ranks {
 public:
  explicit CountingRanks(Ranks& ranks) : ranks_(ranks) {}
  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  void barrier() override { ranks_.barrier(); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    ++small;
    ranks_.broadcast(bytes, root);
  }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    ++gathered_by_all;
    return ranks_.all_gather(text);
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    return ranks_.gather(text);
  }
  void reduce(std::span<double> values, RankAggregate how) override {
    ++small;
    ranks_.reduce(values, how);
  }

  int small = 0;
  int gathered_by_all = 0;

 private:
  Ranks& ranks_;
};

}  // namespace collbench::launch
