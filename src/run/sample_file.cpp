#include "src/run/sample_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace collbench::program {

SampleFile::SampleFile(launch::OnRoot /*root*/, const std::string& path) : path_(path) {
  file_.reset(std::fopen(path.c_str(), "w"));
  if (!file_) throw usage_error("--samples", path + ": " + std::strerror(errno), "give another file");
  put("row,operation,size_bytes,pass,rank,sample,iterations,seconds\n");
}

void SampleFile::write(const std::vector<RowKey>& rows, const collectives::BlockSamples& block) {
  const RowKey& key = rows[block.row];
  const std::string start =
      fmt::format("{},{},{},{}", block.row, operation(key.operation).name, key.size_bytes, block.pass);
  std::string text;
  for (std::size_t rank = 0; rank < block.seconds_by_rank.size(); ++rank) {
    std::uint64_t left = block.iterations;
    std::size_t sample = 0;
    for (const double seconds : block.seconds_by_rank[rank]) {
      const std::uint64_t iterations = std::min(left, block.iterations_per_sample);
      text += fmt::format("{},{},{},{},{}\n", start, rank, sample++, iterations, seconds);
      left -= iterations;
    }
  }
  put(text);
}

void SampleFile::put(const std::string& text) {
  if (failure_) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (written && std::fflush(file_.get()) == 0) return;
  failure_ = usage_error("--samples", path_ + ": " + std::strerror(errno),
                         "the file has the blocks before this one; free space, or write to another disk");
}

}  // namespace collbench::program
