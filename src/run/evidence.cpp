#include "src/run/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/output_lock.hpp"
#include "base/secrets/secrets.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;
using EvidenceFiles = std::map<std::string, std::string>;  // text by name

constexpr const char* kSums = "SHA256SUMS";

/// Calls `change` with each text in the JSON.
void each_text(nlohmann::ordered_json& json, const auto& change) {
  if (json.is_string()) json = change(json.get<std::string>());
  if (!json.is_structured()) return;
  for (auto& each : json) each_text(each, change);
}

/// Of each text, words that look like secrets are replaced; a list of words is a command line.
void leave_secrets_out(nlohmann::ordered_json& json, const std::string& name) {
  if (json.is_array() && std::ranges::all_of(json, [](const auto& each) { return each.is_string(); })) {
    json = recorded_words(json.get<std::vector<std::string>>());
  } else if (json.is_string()) {
    json = recorded_value(name, recorded_words({json.get<std::string>()}).front());
  } else if (json.is_structured()) {
    const bool is_environment = name == "environment";
    for (const auto& [key, value] : json.items())
      leave_secrets_out(value, is_environment ? key : value.is_object() ? key : "");
  }
}

bool is_letter_or_digit(char each) { return std::isalnum(static_cast<unsigned char>(each)) != 0; }
bool is_digit(char each) { return std::isdigit(static_cast<unsigned char>(each)) != 0; }
bool is_name_letter(char each) { return is_letter_or_digit(each) || each == '-' || each == '_'; }

/// Whether the name at `begin` to `end` may be a part of another word. One that is letters alone ("vm") may;
/// others are found wherever they stand ("gpu-a17-ib0"), but for node1 in node17.
bool is_part_of_a_word(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view name = text.substr(begin, end - begin);
  if (end < text.size() && is_digit(name.back()) && is_digit(text[end])) return true;
  if (!std::ranges::all_of(name, [](char each) { return is_letter_or_digit(each) && !is_digit(each); }))
    return false;
  if (end < text.size() && is_letter_or_digit(text[end])) return true;
  if (begin == 0 || !is_letter_or_digit(text[begin - 1])) return false;
  // The letter before it ends a code for colors, or an escape of JSON.
  if (begin < 2) return true;
  const char before = text[begin - 2];
  const bool ends_a_color = text[begin - 1] == 'm' && (is_digit(before) || before == '[');
  return before != '\\' && !ends_a_color;
}

/// Behind the numbers in brackets that begin at `at`, as Slurm writes lists; `at` where there are none.
std::size_t end_of_list(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (is_digit(text[end]) || text[end] == ',' || text[end] == '-')) ++end;
  return end > at + 1 && end < text.size() && text[end] == ']' ? end + 1 : at;
}

Error unclear_alias(const std::string& why) {
  return usage_error("--anonymous", why, "leave it out, and change that name in what was written yourself");
}

std::size_t last_word(const std::string& text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_name_letter(text[begin - 1])) --begin;
  return begin;
}

std::string without_domain(const std::string& host) { return host.substr(0, host.find('.')); }

/// The files, and those of the folders, by their paths from the last part of what was named; of folders not
/// the archive and its lock.
EvidenceFiles other_files(const std::vector<std::string>& paths, const std::string& archive) {
  const std::string lock = lock_beside(archive).string();
  EvidenceFiles files;
  const auto add = [&files](const fs::path& file, const fs::path& name) {
    if (!files.emplace(name.string(), read_file(file)).second)
      throw usage_error("--with", fmt::format("two files would be called {}", name.string()), "rename one");
  };
  for (const std::string& each : paths) {
    const fs::path path = fs::absolute(each).lexically_normal();
    const fs::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
    const fs::file_status there = fs::status(path);
    if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there))
      throw usage_error("--with", fmt::format("{} is neither a file nor a folder", one_line(each)),
                        "a pipe or a device may never end: save what it says");
    if (!fs::is_directory(there)) {
      add(path, name);
      continue;
    }
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(path))
      if (file.is_regular_file() && !same_file(file.path(), archive) && !same_file(file.path(), lock))
        add(file.path(), name / file.path().lexically_relative(path));
  }
  return files;
}

bool is_folder_of_another(const EvidenceFiles& files, const std::string& name) {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
    if (files.contains(name.substr(0, at))) return true;
  const auto inside = files.lower_bound(name + '/');
  return inside != files.end() && inside->first.starts_with(name + '/');
}

/// What the program prints. Throws Error (not_here) where it fails.
std::string output_of(const std::vector<std::string>& words) {
  const ChildLimits limits{.seconds = 600};
  ChildResult result = run_child(words, limits);
  if (result.succeeded()) return std::move(result.out);
  throw Error(ExitStatus::not_here, "--evidence",
              fmt::format("{}: {}: {}", words.front(), describe_end(result, limits), one_line(result.err)),
              "archive what -J, --html and --format ticket write yourself");
}

/// For who opens the archive: what each file is, and what nobody put in.
std::string contents_text(const Run& run, bool has_others) {
  return fmt::format(
      "{}{}\n\n"
      "ticket.txt      to paste into a ticket: verdict, rates, limits, nccl-tests' command\n"
      "report.txt      tables and notes, such as what the doctor found and which error counters rose too "
      "fast\n"
      "report.html     the same with charts; needs no network\n"
      "nccl-tests.txt  the rows as nccl-tests prints them\n"
      "run.json        the record: all rows, versions, settings; the GPUs' clocks, throttling and errors: "
      "{}\n"
      "{}\n"
      "{}\n"
      "{}\n"
      "sha256sum -c SHA256SUMS checks them.\n",
      run.gpus_simulated ? std::string(analysis::kSimulatedGpus) + "\n" : "",
      run.complete ? "A run that was measured to its end." : "A run that is not complete.",
      run.telemetry ? "read" : "NOT THERE, nobody read them",
      run.cluster && !run.cluster->shapes.empty() ? "topology.json   the machines"
                                                  : "NOT THERE: the machines; nobody looked at them",
      run.error_counts.empty() ? "NOT THERE: counters of errors; none that could be read is above zero"
                               : "error-counters.txt  of NICs, PCIe and memory, those that are not zero",
      has_others ? "Other files are what --with named, such as logs and folders of collbench doctor save."
                 : "NOT THERE: logs, the kernel's messages. collbench doctor save keeps them;\n  collbench "
                   "report run.json --evidence NEW.tar.gz --with FILES adds them.");
}

std::string error_counters_text(const Run& run) {
  std::string text;
  for (const ErrorCount& each : run.error_counts)
    text += fmt::format("{}: {}: {} before the run, {} after it\n", each.host, each.counter, each.before,
                        each.after);
  return text;
}

}  // namespace

Run without_secrets(const Run& run) {
  auto json = nlohmann::ordered_json::parse(to_json_text(run));
  leave_secrets_out(json, "");
  return run_from_json_text(json.dump(), "the record");
}

HostAliases::HostAliases(const Run& run, bool is_anonymous) : is_anonymous_(is_anonymous) {
  if (!is_anonymous) return;
  std::vector<std::string> hosts;
  for (const Identity& rank : run.ranks) hosts.push_back(rank.host);
  if (run.cluster)
    for (const ClusterNode& node : run.cluster->nodes) hosts.push_back(node.host);
  for (const std::string& host : hosts) {
    const std::string name = lower(without_domain(host));
    if (name.size() < host.size()) domains_.insert(lower(host.substr(name.size())));
    if (name.empty() || aliases_.contains(name)) continue;
    if (std::ranges::all_of(name, is_digit))
      throw unclear_alias(fmt::format("the host \"{}\" is called as numbers are", one_line(name)));
    aliases_[name] = fmt::format("host{}", aliases_.size());
    lengths_.insert(name.size());
  }
}

std::string HostAliases::text(std::string_view text) const {
  const std::string small = lower(text);
  std::string written;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '[') {
      const std::size_t word = last_word(written);
      const std::size_t end = begins_a_host(lower(written.substr(word))) ? end_of_list(text, at) : at;
      if (end > at) {
        written.resize(word);
        written += "hosts";
        at = end;
      }
    }
    const auto [name_end, alias] = host_at(small, at);
    written += alias.empty() ? text.substr(at, name_end - at) : alias;
    at = name_end;
  }
  return written;
}

std::pair<std::size_t, std::string_view> HostAliases::host_at(std::string_view small, std::size_t at) const {
  for (const std::size_t length : lengths_) {
    if (length > small.size() - at) continue;
    const auto alias = aliases_.find(std::string(small.substr(at, length)));
    if (alias == aliases_.end() || is_part_of_a_word(small, at, at + length)) continue;
    std::size_t end = at + length;
    for (const std::string& domain : domains_)
      if (small.substr(end).starts_with(domain)) end += domain.size();
    return {end, alias->second};
  }
  return {std::min(at + 1, small.size()), {}};
}

bool HostAliases::begins_a_host(const std::string& word) const {
  const auto first = aliases_.lower_bound(word);
  return !word.empty() && first != aliases_.end() && first->first.starts_with(word) &&
         first->first.size() > word.size() && is_digit(first->first[word.size()]);
}

Run HostAliases::run(const Run& run) const {
  auto json = nlohmann::ordered_json::parse(to_json_text(run));
  each_text(json, [this](const std::string& each) { return text(each); });
  try {
    return run_from_json_text(json.dump(), "the record");
  } catch (const Error& error) {
    throw unclear_alias(fmt::format("a host is called as a word of records is: {}", error.what()));
  }
}

std::string evidence_archive(const Run& run, const std::string& path, const std::vector<std::string>& others,
                             const HostAliases& aliases) try {
  const Run given = aliases.run(without_secrets(run));
  EvidenceFiles files{{"contents.txt", contents_text(given, !others.empty())},
                      {"ticket.txt", analysis::report(given, "ticket")},
                      {"report.txt", analysis::report(given, "text")},
                      {"report.html", analysis::report(given, "html")},
                      {"nccl-tests.txt", analysis::report(given, "nccl-tests")},
                      {"run.json", to_json_text(given)},
                      {kSums, ""}};
  if (given.cluster && !given.cluster->shapes.empty()) files.emplace("topology.json", given.cluster->shapes);
  if (!given.error_counts.empty()) files.emplace("error-counters.txt", error_counters_text(given));
  if (aliases.are_asked_for() && !aliases.is_any() && !others.empty())
    throw usage_error("--with", "the record names no host, so that no name in these files can be replaced",
                      "look through them yourself, and leave --anonymous out; or leave them out");
  for (const auto& [other, text] : other_files(others, path)) {
    const std::string name = aliases.text(other);
    if (aliases.is_any() && text.find('\0') != std::string::npos)
      throw usage_error("--with",
                        fmt::format("{} is no text, so that hosts' names in it stay", one_line(other)),
                        "unpack it, or leave it or --anonymous out");
    if (!files.emplace(name, aliases.text(text)).second || is_folder_of_another(files, name))
      throw usage_error("--with", fmt::format("the archive has a {} already", one_line(name)),
                        "rename yours");
  }

  const ScratchFolder scratch;
  const std::string folder = scratch.file("evidence");
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    if (name == kSums) continue;
    const fs::path file = fs::path(folder) / name;
    fs::create_directories(file.parent_path());
    write_file_by_rename(file, text);
    names.push_back(name);
  }
  std::vector<std::string> sums{"env", "-C", folder, "sha256sum", "--"};
  sums.insert(sums.end(), names.begin(), names.end());
  write_file_by_rename(fs::path(folder) / kSums, output_of(sums));
  const std::string archive = scratch.file("archive");
  output_of({"tar", "-czf", archive, "--owner=0", "--group=0", "--numeric-owner", "-C", scratch.file(""),
             "evidence"});
  return read_file(archive);
} catch (const fs::filesystem_error& error) {
  throw usage_error("--evidence", one_line(error.what()), "name files that can be read; TMPDIR needs room");
}

std::string evidence_note(const OutputDocument& archive) {
  return fmt::format(
      "wrote {}: it may name {}users, folders, addresses and serial numbers{}; look through it first",
      archive.path, archive.is_anonymous ? "" : "hosts, ",
      archive.others.empty() ? "" : ", and secrets in the files of --with stay");
}

}  // namespace collbench::program
