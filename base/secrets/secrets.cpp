#include "base/secrets/secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text_input.hpp"

namespace collbench {
namespace {

bool is_name_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_large(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// "apiKey", "API_KEY" and "api-key" are API and KEY.
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && is_large(name[i]) && is_name_letter(name[i - 1]) && !is_large(name[i - 1]);
    if (!is_name_letter(name[i]) || begins) words.emplace_back();
    if (is_name_letter(name[i]))
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
  }
  return words;
}

bool is_secret_word(const std::string& word) {
  constexpr std::array<const char*, 7> kAnywhere{"TOKEN",  "PASSWORD",   "PASSWD",   "PASSPHRASE",
                                                 "SECRET", "CREDENTIAL", "SIGNATURE"};
  if (std::ranges::any_of(kAnywhere, [&](const char* part) { return word.find(part) != std::string::npos; }))
    return true;
  if (word == "PASS" || word == "PWD" || word == "SIG" || word.ends_with("AUTH")) return true;
  if (word.starts_with("AUTH") && (!word.starts_with("AUTHOR") || word.starts_with("AUTHORI"))) return true;
  // InfiniBand Architecture Specification 1.4, 3.5.3 and 10.2.4: partition, queue, local and remote keys;
  // mlx5's memory key.
  constexpr std::array<const char*, 5> kOfInfiniBand{"PKEY", "QKEY", "LKEY", "RKEY", "MKEY"};
  const std::string one = word.ends_with("S") ? word.substr(0, word.size() - 1) : word;
  return one.ends_with("KEY") && std::ranges::find(kOfInfiniBand, one) == kOfInfiniBand.end();
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// user:password@ in front of a host, or any user of a URL but ssh's, which are no secrets.
bool has_user_with_password(std::string_view value) {
  for (std::size_t at = value.find('@'); at != std::string_view::npos; at = value.find('@', at + 1)) {
    // Up to a blank or a quote: a URL's password may have anything else in it.
    const std::size_t blank = value.substr(0, at).find_last_of(" \t\n\"'");
    std::string_view before = value.substr(0, at);
    if (blank != std::string_view::npos) before.remove_prefix(blank + 1);
    const std::size_t scheme = before.rfind("://");
    if (scheme != std::string_view::npos) {
      const std::string_view user = before.substr(scheme + 3);
      if (user.find(':') != std::string_view::npos || !before.substr(0, scheme).ends_with("ssh")) return true;
      continue;
    }
    const std::size_t colon = before.find(':');
    if (colon != std::string_view::npos && colon > 0 && colon + 1 < before.size() && at + 1 < value.size())
      return true;
  }
  return false;
}

/// NAME=VALUE, or "NAME":VALUE of JSON, anywhere in it, with the name of a secret.
bool has_secret_setting(std::string_view value) {
  for (std::size_t at = value.find_first_of("=:"); at != std::string_view::npos;
       at = value.find_first_of("=:", at + 1)) {
    std::size_t end = at;
    while (end > 0 && (value[end - 1] == '"' || value[end - 1] == '\\')) --end;
    if (value[at] == ':' && end == at) continue;
    std::size_t begin = end;
    while (begin > 0 && is_of_name(value[begin - 1])) --begin;
    if (is_secret_name(value.substr(begin, end - begin))) return true;
  }
  return false;
}

/// What begins as the tokens of these services do, and is as long: GitHub, GitLab, Hugging Face, NVIDIA, AWS,
/// Slack, OpenAI, Google, npm, PyPI, Docker, SendGrid, Vault, and JSON Web Tokens (RFC 7519: '{"' in base64),
/// each as its documentation has it.
bool has_token(std::string_view value) {
  constexpr std::array<std::string_view, 22> kStarts{
      "ghp_",   "gho_", "ghu_",  "ghs_",      "ghr_",  "github_pat_", "glpat-", "hf_",
      "nvapi-", "AKIA", "ASIA",  "eyJ",       "xoxb-", "xoxp-",       "sk-",    "AIza",
      "ya29.",  "npm_", "pypi-", "dckr_pat_", "SG.",   "hvs."};
  constexpr std::size_t kMinLength = 20;
  for (const std::string_view start : kStarts) {
    for (std::size_t at = value.find(start); at != std::string_view::npos; at = value.find(start, at + 1)) {
      std::size_t end = at;
      while (end < value.size() && is_of_name(value[end])) ++end;
      const bool begins = at == 0 || !is_of_name(value[at - 1]);
      if (begins && end - at >= kMinLength) return true;
    }
  }
  return false;
}

constexpr std::string_view kHeader = "authorization:";

/// A private key (RFC 7468; PGP's), or the credentials of an HTTP header (RFC 9110, 11.6.2).
bool has_key_or_header(std::string_view value) {
  const std::string small = lower(value);
  const std::size_t header = small.find(kHeader);
  return small.find("private key") != std::string::npos ||
         (header != std::string::npos && header + kHeader.size() < small.size());
}

/// Such a text up to the header's name; nothing of a key. It may end anywhere, so all behind is left out.
std::string recorded_key_or_header(std::string_view text) {
  const std::size_t header = lower(text).find(kHeader);
  if (header == std::string::npos) return kNotRecorded;
  return fmt::format("{} {}", text.substr(0, header + kHeader.size()), kNotRecorded);
}

/// "X-Api-Key:", "Cookie:" and JSON's "token":, whose value follows.
bool is_secret_header(std::string_view word) {
  if (!word.ends_with(':')) return false;
  std::string_view name = word.substr(0, word.size() - 1);
  while (!name.empty() && !is_of_name(name.front())) name.remove_prefix(1);
  while (!name.empty() && !is_of_name(name.back())) name.remove_suffix(1);
  return std::ranges::all_of(name, is_of_name) && (is_secret_name(name) || lower(name).ends_with("cookie"));
}

bool is_program(std::string_view word, std::string_view name) {
  return word == name || (word.ends_with(name) && word[word.size() - name.size() - 1] == '/');
}

bool is_word_gap(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// A word that is no command line itself.
std::string recorded_word(const std::string& word) {
  const std::size_t equals = word.find('=');
  const bool is_setting =
      equals != std::string::npos && equals > 0 &&
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_of_name);
  if (!is_setting) return recorded_value("", word);
  const std::string name = word.substr(0, equals);
  return fmt::format("{}={}", name, recorded_value(name, word.substr(equals + 1)));
}

/// A command line in one word, with its blanks as they are; none between quotes parts words.
std::string recorded_line(const std::string& line) {
  std::vector<std::string> parts(1);
  std::string blanks;
  char quote = 0;
  for (const char c : line) {
    if (quote == c) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
    if (is_word_gap(c) && quote == 0) {
      blanks += c;
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() == 1) return recorded_word(line);
  parts = recorded_words(parts);
  std::string recorded = parts.front();
  for (std::size_t i = 0; i < blanks.size(); ++i) recorded += blanks[i] + parts[i + 1];
  return recorded;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  // By which Open MPI's transports know the processes of their job.
  if (name == "OMPI_MCA_orte_precondition_transports") return true;
  const std::vector<std::string> words = words_of_name(name);
  return std::ranges::any_of(words, is_secret_word);
}

std::string recorded_value(std::string_view name, std::string_view value) {
  const std::vector<std::string> words = split_words(value);
  const bool is_secret = is_secret_name(name) || has_user_with_password(value) || has_secret_setting(value) ||
                         has_token(value) || has_key_or_header(value) ||
                         (words.size() > 1 && value.find(kNotRecorded) == std::string_view::npos &&
                          recorded_words(words) != words);
  return is_secret && !value.empty() ? kNotRecorded : std::string(value);
}

std::vector<std::string> recorded_words(const std::vector<std::string>& words) {
  std::vector<std::string> recorded;
  int hidden = 0;                 // so many words more
  bool is_after_sshpass = false;  // and options of it
  bool is_after_curl = false;
  for (const std::string& word : words) {
    if (word.empty()) {
      recorded.push_back(word);
      continue;
    }
    const bool is_password = is_after_sshpass && word.starts_with("-p");
    if (hidden > 0) {  // also where it begins with '-': so may a password
      --hidden;
      recorded.emplace_back(kNotRecorded);
      continue;
    }
    if (is_password && word != "-p") {
      recorded.push_back(fmt::format("-p{}", kNotRecorded));
    } else if (has_key_or_header(word)) {
      recorded.push_back(recorded_key_or_header(word));
    } else if (std::ranges::any_of(word, is_word_gap)) {
      recorded.push_back(recorded_line(word));
    } else {
      recorded.push_back(recorded_word(word));
    }
    const bool is_name = word.starts_with('-') && word.find('=') == std::string::npos && is_secret_name(word);
    if (is_name || word == "Bearer" || (is_password && word == "-p") || is_secret_header(word)) hidden = 1;
    if (is_after_curl && (word == "-u" || word == "--user")) hidden = 1;
    if (lower(word).ends_with("authorization:")) hidden = 2;  // the scheme, and what is shown by it
    is_after_sshpass = is_program(word, "sshpass") || (is_after_sshpass && word.starts_with('-'));
    is_after_curl = is_after_curl || is_program(word, "curl");
  }
  return recorded;
}

}  // namespace collbench
