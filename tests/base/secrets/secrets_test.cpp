#include "base/secrets/secrets.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace collbench::secrets_test {
namespace {

using ::testing::ElementsAre;

constexpr const char* kHidden = kNotRecorded;

TEST(Secrets, AreKnownByTheirNames) {
  for (const char* name : {"NCCL_TOKEN",         "NCCL_PLUGIN_TOKEN",
                           "UCX_PASSWORD",       "FI_MY_SECRET",
                           "NCCL_API_KEY",       "NCCL_KEY",
                           "COLLBENCH_AUTH",     "OMPI_MCA_btl_my_password",
                           "NCCL_APIKEY",        "NCCL_ACCESSKEY",
                           "NCCL_TOKENFILE",     "NCCL_SECRETKEY",
                           "NCCL_KEYS",          "NCCL_OAUTH",
                           "NCCL_AUTHORIZATION", "NCCL_AUTHKEY",
                           "NCCL_AUTH_HEADER",   "NCCL_CREDENTIALS",
                           "NCCL_PASSPHRASE",    "NCCL_DB_PASS",
                           "NCCL_PASSWD",        "NCCL_DB_PWD",
                           "nccl_api_key",       "apiKey",
                           "accessToken",        "--token",
                           "--api-key",          "--auth",
                           "glibc.my.password",  "OMPI_MCA_orte_precondition_transports"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
    EXPECT_EQ(recorded_value(name, "abc"), kHidden) << name;
  }
}

/// Settings that runs differ by, which have the letters of a secret's name in them.
TEST(Secrets, SettingsAreNone) {
  for (const char* name : {"NCCL_IB_PKEY",
                           "UCX_IB_PKEY",
                           "OMPI_MCA_btl_openib_pkey",
                           "UCX_IB_MKEY",
                           "UCX_TCP_KEEPIDLE",
                           "UCX_KEEPALIVE_INTERVAL",
                           "FI_AUTHOR",
                           "FI_PSM3_AUTHORS",
                           "NCCL_BYPASS",
                           "UCX_PASSES",
                           "--passes",
                           "--compass",
                           "NCCL_KEYBOARD",
                           "NCCL_IB_HCA",
                           "NCCL_ALGO",
                           "NCCL_COMM_ID",
                           "FI_PROVIDER",
                           "GLIBC_TUNABLES",
                           "SLURM_JOB_ID",
                           ""}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
    EXPECT_EQ(recorded_value(name, "0x7fff"), "0x7fff") << name;
  }
}

TEST(Secrets, AreKnownInValues) {
  for (const char* value : {"http://me:hunter2@proxy:3128",
                            "https://me:a/b@c@host/path",
                            "ftp://me:x@host",
                            "me:hunter2@host",
                            "https://ghp_1234@github.com/x",
                            "tcp://a:1,http://u:p@b",
                            "tcp://ghp_1234@h:5",
                            "amqp://me@h",
                            "https://s3/x?X-Amz-Signature=deadbeef",
                            "https://x.blob/y?sv=1&sig=abc",
                            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
                            "x hf_abcdefghijklmnopqrst",
                            "https://h/AKIAIOSFODNN7EXAMPLE/x",
                            "eyJhbGciOiJIUzI1NiJ9.e30.sig",
                            "plugin;token=abc",
                            "a=1,api_key=abc",
                            "password=x",
                            "--url=http://u:p@h",
                            "Authorization: Basic dXNlcjpw",
                            "-----BEGIN RSA PRIVATE KEY-----\nMIIE"})
    EXPECT_EQ(recorded_value("NCCL_NET", value), kHidden) << value;
}

TEST(Secrets, AreKnownInValuesThatAreCommandLinesOrHeaders) {
  for (const char* value :
       {"a --password hunter2", "--api-key hunter2", "Bearer hunter2", "sshpass -v -o -p hunter2 ssh h",
        "/usr/bin/sshpass -e -phunter2", "curl -s -u me:hunter2 h", "X-Api-Key: hunter2",
        "Set-Cookie: hunter2", R"({"auth":"hunter2"})", R"({\"accessToken\":\"hunter2\"})",
        "sk-proj-abcdefghijklmnopqrst", "AIzaSyA1234567890abcdefghijk", "npm_abcdefghijklmnopqrst",
        "pypi-AgEIcHlwaS5vcmcCJDAw", "hvs.CAESIJ1234567890abcdef"}) {
    EXPECT_EQ(recorded_value("NCCL_X", value), kHidden) << value;
  }
  for (const char* value : {"--hosts a,b -u 3", "turkey:22", "a: b", R"({"ranks":"8"})",
                            "sshpass ssh -p 22 h", "sk-8", "key of it"}) {
    EXPECT_EQ(recorded_value("NCCL_X", value), value);
  }
}

TEST(Secrets, ValuesAreKept) {
  for (const char* value : {"=mlx5_0:1,mlx5_1:1",
                            "^mlx5_bond_0",
                            "10.0.0.1:5000",
                            "[fe80::1%eth0]:5000",
                            "mlx5_0:1",
                            "self,tcp",
                            "Ring",
                            "ssh://me@host:22/x",
                            "me@host",
                            "@hosts.txt",
                            "a:@hosts",
                            "hf_Ring",
                            "AKIA",
                            "lib_ghp_sixteen_and_more_letters",
                            "user:@",
                            "glibc.malloc.check=3:glibc.malloc.top_pad=1",
                            "n1:8,n2:8",
                            "pkey=0x7fff",
                            "allreduce:ring;broadcast:tree",
                            "a@b:c",
                            "",
                            "token",
                            "http://host:80/path",
                            "unix:/tmp/a"})
    EXPECT_EQ(recorded_value("NCCL_NET", value), value) << value;
  EXPECT_EQ(recorded_value("NCCL_TOKEN", ""), "")
      << "there is nothing to hide, and that it is empty may matter";
}

TEST(Secrets, OfWordsOnlyTheyAreHidden) {
  EXPECT_THAT(recorded_words({"collbench", "--label", "a", "--token", "abc", "-J", "x.json"}),
              ElementsAre("collbench", "--label", "a", "--token", kHidden, "-J", "x.json"));
  EXPECT_THAT(recorded_words({"--token=abc", "-x", "NCCL_TOKEN=abc", "A=b", "--auth", "-n", "2"}),
              ElementsAre(std::string("--token=") + kHidden, "-x", std::string("NCCL_TOKEN=") + kHidden,
                          "A=b", "--auth", kHidden, "2"))
      << "what follows is its value, also where that begins with -";
  EXPECT_THAT(recorded_words({"--hosts", "@hosts.txt", "u:p@host", "--url=http://u:p@h"}),
              ElementsAre("--hosts", "@hosts.txt", kHidden, std::string("--url=") + kHidden));
  EXPECT_THAT(recorded_words({"--launcher", "mpirun -x MY_TOKEN=abc --password x  -np 2 --host {a}:1,{b}:1"}),
              ElementsAre("--launcher",
                          fmt::format("mpirun -x MY_TOKEN={} --password {}  -np 2 --host {{a}}:1,{{b}}:1",
                                      kHidden, kHidden)));
  EXPECT_THAT(recorded_words({"--label", "Bearer abc of me"}),
              ElementsAre("--label", fmt::format("Bearer {} of me", kHidden)));
  for (const char* header : {"Authorization: Basic dXNlcjpw", "Authorization:Basic dXNlcjpw",
                             "Authorization: Digest username=u, response=\"R35P\""})
    EXPECT_THAT(recorded_words({"curl", "-H", header, "x"}),
                ElementsAre("curl", "-H", fmt::format("Authorization: {}", kHidden), "x"));
  EXPECT_THAT(recorded_words({"Authorization:", "Basic", "dXNlcjpw", "x"}),
              ElementsAre("Authorization:", kHidden, kHidden, "x"));
  EXPECT_THAT(recorded_words({"--label", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END"}),
              ElementsAre("--label", kHidden));
  EXPECT_THAT(recorded_words({"sshpass", "-p", "hunter2", "ssh", "-p", "22", "h"}),
              ElementsAre("sshpass", "-p", kHidden, "ssh", "-p", "22", "h"));
  EXPECT_THAT(recorded_words({"--launcher", "sshpass -phunter2 ssh {a}"}),
              ElementsAre("--launcher", fmt::format("sshpass -p{} ssh {{a}}", kHidden)));
  EXPECT_THAT(recorded_words({"env DB_PASSWORD=\"S1 S2\" mpirun --token 'S3 S4' x"}),
              ElementsAre(fmt::format("env DB_PASSWORD={} mpirun --token {} x", kHidden, kHidden)));
  const std::vector<std::string> usual{"/usr/bin/collbench",
                                       "--ops",
                                       "all_reduce,all_gather",
                                       "-b",
                                       "8",
                                       "--passes",
                                       "2",
                                       "--topology",
                                       "a:b",
                                       "",
                                       " "};
  EXPECT_EQ(recorded_words(usual), usual);
}

}  // namespace
}  // namespace collbench::secrets_test
