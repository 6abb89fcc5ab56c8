#include "src/cli/config_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/cli/options.hpp"

namespace collbench::program::config_file_test {
namespace {

/// A program with three options, which reads the text of its --config.
class Program {
 public:
  explicit Program(const std::string& text) {
    std::ofstream(path_) << text;
    app_.add_flag("--version");
    add_option(app_, "Options", "--time", "SECONDS", "", [this](const std::string& value) {
      set("time", std::to_string(parse_number(value, "--time", 1, 9)));
    });
    add_option(app_, "Options", "-b,--sizes", "LIST", "",
               [this](const std::string& value) { set("sizes", value); });
    app_.add_flag_callback("--overwrite", [this] { set("overwrite", "yes"); });
    add_config_option(app_, config_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  /// The options in the order in which they took effect, or the error without the folder of the file.
  std::string parse(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"--config", path_});
    const std::vector<std::string> command_line = words;
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(words);
    } catch (const Error& error) {
      std::string line = describe(with_config_line(app_, config_, command_line, error));
      if (const auto at = line.find(path_); at != std::string::npos)
        line.replace(at, path_.size(), "lab.toml");
      return line;
    }
    return set_;
  }

 private:
  void set(const std::string& name, const std::string& value) { set_ += name + "=" + value + " "; }

  std::string path_ = testing::TempDir() + "collbench_config_file_" + std::to_string(::getpid()) + ".toml";
  CLI::App app_;
  ConfigFile config_;
  std::string set_;
};

TEST(ConfigFile, GivesOptionsAsTheyWouldStandOnTheCommandLine) {
  EXPECT_EQ(Program("# the lab\nsizes = [\"8\", \"1K\"]\noverwrite = true\ntime = 3\n").parse(),
            "sizes=8,1K time=3 overwrite=yes ");
  EXPECT_EQ(Program("time = 3\nsizes = \"1MB\"").parse(), "time=3 sizes=1MB ");
  EXPECT_EQ(Program("").parse(), "");
}

TEST(ConfigFile, GivesWayToTheCommandLine) {
  EXPECT_EQ(Program("time = 3\nsizes = \"8\"\n").parse({"--time", "5"}), "sizes=8 time=5 ");
  EXPECT_EQ(Program("time = 3\n").parse({"--time", "50"}), "collbench: --time: 50 is out of range; 1 to 9");
}

/// `part` until `bytes` are full: of one of two bytes, a depth at which a reader that recurses may run out of
/// stack.
std::string many(std::string_view part, std::size_t bytes = 16'000) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

TEST(ConfigFile, DotsInTextAndCommentsAreNoParts) {
  EXPECT_EQ(Program("# " + many(".", 9000) + "\nsizes = \"" + many(".", 500) + "\"\n").parse(),
            "sizes=" + many(".", 500) + " ");
  EXPECT_EQ(Program("sizes = \"\"\"\n" + many(".x", 500) + "\"\"\"\n").parse(),
            "sizes=" + many(".x", 500) + " ");
}

TEST(ConfigFile, NoKeyIsDeepEnoughToTakeTheStack) {
  for (const std::string& text :
       {"a" + many(".a") + " = 1\n", "time = [ \"\"\"a\"b\"\"\", {a" + many(".a") + " = 1} ]\n",
        "sizes = {b = '\"', a" + many(".a") + " = 1}\n", "[a" + many(".a") + "]\n"}) {
    EXPECT_EQ(Program(text).parse().find("collbench: lab.toml:1: "), 0U) << Program(text).parse();
    EXPECT_NE(Program(many("#\n", 384) + text).parse().find("is larger than 16 KiB"), std::string::npos);
  }
  EXPECT_NE(Program("time = [ \"\"\"a\"b\"\"\", {a" + many(".a", 400'000) + " = 1} ]\n")
                .parse()
                .find("is larger than"),
            std::string::npos);
}

TEST(ConfigFile, NamesTheLineOfAnError) {
  const std::vector<std::pair<std::string, std::string>> errors{
      {"sizes = \"8\"\n\ntime = 50\n", "lab.toml:3: time: 50 is out of range; 1 to 9"},
      {"sizes = \"8\"\ntimme = 3\n", "lab.toml:2: unknown key 'timme'; keys are the long names"},
      {"time = 5\n\ntime = 3\n", "lab.toml:3: 'time' is set twice; set it once"},
      {"sizes = \"a\nb\"\n", "lab.toml:1: "},
      {"just words\n", "lab.toml:1: "},
      {"time = 3\nsizes = all\n", "lab.toml:2: "},
      {"time = 3\n[report]\nformat = \"md\"\n", "lab.toml:2: [report] is a section"},
      {"time = 3\nreport.format = \"md\"\n", "lab.toml:2: [report] is a section"},
      {"sizes = 1979-05-27\n", "lab.toml:1: 'sizes' is a date or a time"},
      {"version = true\n", "lab.toml:1: unknown key 'version'"},
      {"time = 3\nsizes = \"\xff\"\n", "lab.toml:2: "},
      {"sizes = " + many("["), "lab.toml:1: "},
      {"[\020a]\n", "lab.toml:1: Error while parsing"},
      {"sizes =[}d.g\n", "lab.toml:1: Error while parsing"},
      {many("# long\n", 17'000), "lab.toml: is larger than 16 KiB"},
  };
  for (const auto& [text, message] : errors) {
    EXPECT_EQ(Program(text).parse().find("collbench: " + message), 0U) << text << Program(text).parse();
  }
}

TEST(ConfigFile, SaysWhatTomlExpects) {
  EXPECT_NE(Program("sizes = all\n").parse().find("text in quotes"), std::string::npos);
}

}  // namespace
}  // namespace collbench::program::config_file_test
