#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// What stands in a record, a stream and the texts of `doctor save` in place of a secret.
inline constexpr const char* kNotRecorded = "(set, not recorded)";

/// Whether what is called `name` (a variable, an option, a key) looks like a secret. Its words, in small or
/// large letters, are parted by other characters and by aLargeLetter; one of them
/// - has TOKEN, PASSWORD, PASSWD, PASSPHRASE, SECRET, CREDENTIAL or SIGNATURE in it;
/// - is PASS, PWD or SIG, or AUTH in the beginning or the end (and not AUTHOR);
/// - ends in KEY or KEYS, and is none of InfiniBand's keys, which are settings: NCCL_IB_PKEY is kept.
[[nodiscard]] bool is_secret_name(std::string_view name);

/// `value` of the variable `name`, or kNotRecorded: the name looks like a secret, or the value has one in it:
/// a URL with a user in it, user:password@, NAME=VALUE with such a name, a token of a service that marks its
/// own (ghp_…, hf_…, AKIA…, eyJ…), a private key, or a header Authorization. Any other secret in a value is
/// not known for one.
[[nodiscard]] std::string recorded_value(std::string_view name, std::string_view value);

/// Words of a command line with kNotRecorded in place of secrets, as of variables: in NAME=VALUE (-x's, or
/// --option=value), in the word behind an option whose name looks like one, behind sshpass -p and
/// "Authorization:", and in words that are command lines themselves (--launcher).
[[nodiscard]] std::vector<std::string> recorded_words(const std::vector<std::string>& words);

}  // namespace collbench
