#include "src/commands/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/report/report.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/secrets/secrets.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;
using EvidenceFiles = std::map<std::string, std::string>;  // text by name

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

bool is_name_letter(char each) {
  return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '-' || each == '_';
}

Error unclear_alias(const std::string& why) {
  return usage_error("--anonymous", why, "leave it out, and change that name in what was written yourself");
}

std::string without_domain(const std::string& host) { return host.substr(0, host.find('.')); }

/// The files, and those of the folders, by their paths from the last part of what was named.
EvidenceFiles other_files(const std::vector<std::string>& paths) {
  EvidenceFiles files;
  const auto add = [&files](const fs::path& file, const fs::path& name) {
    if (!files.emplace(name.string(), read_file(file)).second)
      throw usage_error("--with", fmt::format("two files would be called {}", name.string()), "rename one");
  };
  for (const std::string& each : paths) {
    const fs::path path = fs::absolute(each).lexically_normal();
    const fs::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
    if (!fs::is_directory(path)) {
      add(path, name);
      continue;
    }
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(path))
      if (file.is_regular_file()) add(file.path(), name / file.path().lexically_relative(path));
  }
  return files;
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

}  // namespace

Run without_secrets(const Run& run) {
  auto json = nlohmann::ordered_json::parse(to_json_text(run));
  leave_secrets_out(json, "");
  return run_from_json_text(json.dump(), "the record");
}

HostAliases::HostAliases(const Run& run) {
  std::vector<std::string> hosts;
  for (const Identity& rank : run.ranks) hosts.push_back(rank.host);
  if (run.cluster)
    for (const ClusterNode& node : run.cluster->nodes) hosts.push_back(node.host);
  for (const std::string& host : hosts) {
    const std::string name = without_domain(host);
    if (name.empty() || aliases_.contains(name)) continue;
    if (std::ranges::none_of(name, [](unsigned char each) { return std::isalpha(each) != 0; }))
      throw unclear_alias(fmt::format("the host \"{}\" is called as numbers are", one_line(name)));
    aliases_[name] = fmt::format("host{}", aliases_.size());
  }
}

std::string HostAliases::file_name(const std::string& name) const {
  fs::path written;
  for (const fs::path& part : fs::path(name))
    written /= text(part.stem().string()) + part.extension().string();  // an ending is no domain
  return written.string();
}

std::string HostAliases::text(std::string_view text) const {
  std::string written;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name_letter(text[end])) ++end;
    const std::string word(text.substr(at, end - at));
    const auto alias = aliases_.find(word);
    if (alias != aliases_.end()) {
      written += alias->second;
      while (end + 1 < text.size() && text[end] == '.' && is_name_letter(text[end + 1])) {
        ++end;  // a domain
        while (end < text.size() && is_name_letter(text[end])) ++end;
      }
    } else if (!word.empty() && end < text.size() && text[end] == '[' && begins_a_host(word)) {
      written += "hosts";
      end = std::min(text.find(']', end), text.size() - 1) + 1;
    } else {
      written += word;
      if (word.empty()) written += text[end++];
    }
    at = end;
  }
  return written;
}

bool HostAliases::begins_a_host(const std::string& word) const {
  const auto first = aliases_.lower_bound(word);
  return first != aliases_.end() && first->first.starts_with(word);
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

std::vector<std::string> write_evidence(const Run& run, const EvidenceRequest& request) {
  const HostAliases aliases(request.is_anonymous ? run : Run{});
  const Run given = aliases.run(without_secrets(run));
  EvidenceFiles files{{"ticket.txt", analysis::report(given, "ticket")},
                      {"report.txt", analysis::report(given, "text")},
                      {"report.html", analysis::report(given, "html")},
                      {"nccl-tests.txt", analysis::report(given, "nccl-tests")},
                      {"run.json", to_json_text(given)}};
  if (given.cluster && !given.cluster->shapes.empty()) files.emplace("topology.json", given.cluster->shapes);
  for (const auto& [name, text] : other_files(request.others)) {
    if (!files.emplace(aliases.file_name(name), aliases.text(text)).second)
      throw usage_error("--with", fmt::format("the archive has a {} already", name), "rename yours");
  }

  const ScratchFolder scratch;
  const std::string folder = scratch.file("evidence");
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    const fs::path path = fs::path(folder) / name;
    fs::create_directories(path.parent_path());
    write_file_by_rename(path, text);
    names.push_back(name);
  }
  std::vector<std::string> sums{"env", "-C", folder, "sha256sum", "--"};
  sums.insert(sums.end(), names.begin(), names.end());
  write_file_by_rename(fs::path(folder) / "SHA256SUMS", output_of(sums));
  const std::string archive = scratch.file("archive");
  output_of({"tar", "-czf", archive, "--owner=0", "--group=0", "--numeric-owner", "-C", scratch.file(""),
             "evidence"});
  write_file_by_rename(request.path, read_file(archive));
  names.emplace_back("SHA256SUMS");
  return names;
}

}  // namespace collbench::program
