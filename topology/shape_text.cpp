#include "topology/shape_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "topology/shape_hash.hpp"

namespace collbench {
namespace {

constexpr int kHostDepth = 2;  // {"hosts": [{…}]}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// One walk over the tokens. It knows which list of the host it is in, by the last key of the host itself.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string take() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"') {
      read_string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      read_number();
    } else {
      if (c == '{') ++depth_;
      if (c == '}') --depth_;
      if (!is_blank(c)) out_ += c;
      ++at_;
    }
  }

  void read_string() {
    std::size_t end = text_.find_first_of("\"\\", at_ + 1);
    const bool plain = end != std::string_view::npos && text_[end] == '"';
    while (end < text_.size() && text_[end] == '\\')
      end = text_.find_first_of("\"\\", std::min(end + 2, text_.size()));
    end = std::min(end, text_.size() - 1) + 1;
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const bool is_key = at_ < text_.size() && text_[at_] == ':';
    if (is_key) {
      key_ = token.substr(1, token.size() - 2);
      if (depth_ == kHostDepth) list_ = key_;
      out_ += token;
    } else if (plain && tells_twins_apart()) {
      out_ += "\"\"";
      key_ = {};
    } else {
      out_ += token;
    }
  }

  void read_number() {
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    if (tells_twins_apart()) {
      out_ += '0';
      key_ = {};  // the source that follows stays
    } else if (key_ == "memory_bytes" && list_ == "numa_nodes") {
      out_ += in_gibibytes(token);
      key_ = {};
    } else {
      out_ += token;
    }
  }

  /// As the shape counts it; what is no whole number stays.
  static std::string in_gibibytes(std::string_view bytes) {
    constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
    if (error != std::errc{} || end != bytes.data() + bytes.size()) return std::string(bytes);
    return std::to_string((value + kGibibyte / 2) / kGibibyte) + "G";
  }

  [[nodiscard]] bool tells_twins_apart() const {
    if (key_ == "name") return depth_ == kHostDepth;
    return key_ == "place" || is_identity(key_) || is_momentary(key_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string_view key_;   ///< the last one; empty once its value was left out
  std::string_view list_;  ///< "gpus", …
  std::string out_;
};

}  // namespace

std::string shape_text(std::string_view text) { return Walk(text).take(); }

}  // namespace collbench
