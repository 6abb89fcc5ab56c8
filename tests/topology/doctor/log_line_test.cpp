#include "topology/doctor/log_line.hpp"

#include <gtest/gtest.h>

namespace collbench::topology {
namespace {

TEST(LogLine, HasTheFormsOfAllVersions) {
  const LogLine old = log_line("n1:10:11 [3] transport/net.cc:7 NCCL WARN it failed");
  EXPECT_EQ(old.level, LogLevel::warning);
  EXPECT_EQ(old.message, "it failed");
  EXPECT_EQ(old.process(), "n1:10");
  EXPECT_EQ(old.time(), "");
  const LogLine now =
      log_line("[1,3]<stdout>:[2026-03-02 14:09:10] n1:10:11 [0] init.cc:7 (ncclInit) NCCL WARN it failed");
  EXPECT_EQ(now.process(), "n1:10");
  EXPECT_EQ(now.time(), "14:09:10");
  EXPECT_EQ(now.rank(), "3");
  EXPECT_EQ(log_line("include/socket.h:311 WARN no socket").message, "no socket");
  EXPECT_EQ(log_line("2026-03-02 WARN of the program").level, LogLevel::none);
  const LogLine torch =
      log_line("[rank12]:[E626 06:24:44.90 ProcessGroupNCCL.cpp:616] [Rank 12] it timed out");
  EXPECT_EQ(torch.level, LogLevel::warning);
  EXPECT_EQ(torch.message, "[Rank 12] it timed out");
  EXPECT_EQ(torch.rank(), "12");
  EXPECT_EQ(log_line("[I626 ProcessGroupNCCL.cpp:616] it began").level, LogLevel::none);
  EXPECT_EQ(log_line("it failed", "Last error:").level, LogLevel::warning);
  EXPECT_EQ(log_line("it failed", "").level, LogLevel::none);
}

TEST(LogLine, WhatAFrameworkPassesOnHasItsWordsInTheHead) {
  const LogLine torch = log_line("[rank3]: it failed", "[rank3]: Last error:");
  EXPECT_EQ(torch.message, "it failed");
  EXPECT_EQ(torch.rank(), "3");
  const LogLine ray =
      log_line("(Worker pid=7) ERROR 05-22 10:26:17 [executor.py:870]  it failed", "Last error:");
  EXPECT_EQ(ray.message, "it failed");
  EXPECT_EQ(log_line("[rank3]: ", "Last error:").level, LogLevel::none);
  EXPECT_EQ(log_line("[rank3]:     raise RuntimeError(f\"NCCL error: {text}\")").level, LogLevel::none);
  const LogLine sharp = log_line("[n1:0:17 - comm.c:379][2024-05-30 12:26:47] ERROR it failed");
  EXPECT_EQ(sharp.level, LogLevel::warning);
  EXPECT_EQ(sharp.message, "it failed");
  EXPECT_EQ(log_line("[2024-05-30 12:26:47] ERROR of the program").level, LogLevel::other_program);
}

/// By such a line alone a text is known as a log; other daemons' words may be anything.
TEST(LogLine, SlurmsDaemonsAreKnownInTheJournalToo) {
  for (const char* line : {"Feb 24 09:21:38 n17 slurmctld[26180]: error: it failed",
                           "Feb 24 09:21:38 n17 slurmd[7]: fatal: it failed", "slurmdbd: error: it failed",
                           "salloc: error: it failed"})
    EXPECT_NE(own_error(line), std::string_view::npos) << line;
  EXPECT_EQ(own_error("Feb 24 09:21:38 n17 gdm[7]: error: it failed"), std::string_view::npos);
}

/// What a launcher, MPI, UCX or Python says when it fails; no prose and no line of a traceback before its
/// last.
TEST(LogLine, ErrorsOfOtherProgramsAreKnownByTheirForm) {
  for (const std::string line :
       {"slurmstepd: error: pyxis: container start failed", "[1771.2] [n1:9:0] a.c:3  UCX  ERROR it failed",
        "[n1:0000] *** An error occurred in MPI_Init",
        "modprobe: ERROR: could not insert 'x': Invalid argument", "[ERROR] it failed",
        "slurmd[57]: fatal: it failed", "2026-05-27 07:00:00 ERROR it failed", "Error: it failed",
        "[rank0]: ValueError: it failed", "torch.OutOfMemoryError: it failed",
        "[2026-05-27T07:00:00.123] [8.0] error: it failed", "[2026-05-27T07:00:00] fatal: it failed",
        "kubelet[7]: E0116 15:56:51.763612  1363 a.go:196] it failed",
        "E20260116 15:56:51.763612  1363 a.cpp:447] it failed", "time=\"7\" level=error msg=\"it failed\"",
        " 09-09-2026 07:00:00:123 [pid=7 tid=7] ERROR  cufio:36 it failed"})
    EXPECT_EQ(log_line(line).level, LogLevel::other_program) << line;
  for (const std::string line :
       {"an Error: it failed", "    raise ValueError(\"x: y\")", "0 errors: none",
        "[2026-01-01] [INFO] [ERROR] count", "Using ssh: no", "a fatal: word", "no ERROR here",
        "I0116 15:56:51.763612  1363 a.go:196] it began", "[2026-05-27T07:00:00.123] a job of error: 7",
        "E0116 of the list] it failed", "[2026-05-27T07:00:00.123] [8.0] done with job"})
    EXPECT_EQ(log_line(line).level, LogLevel::none) << line;
}

TEST(LogLine, AKindIsWhatStaysTheSame) {
  EXPECT_EQ(message_kind("connect to 10.0.0.1<4000> failed"),
            message_kind("connect to 10.11.2.7<37> failed"));
  EXPECT_EQ(message_kind("segment /dev/shm/nccl-aB3 (size 7)"),
            message_kind("segment /dev/shm/nccl-Zz (size 96)"));
  EXPECT_EQ(message_kind("comm 0x7ff0a1 on mlx5_0"), message_kind("comm 0x1 on mlx5_11"));
  EXPECT_NE(message_kind("with error 12"), message_kind("with error 5"));
  EXPECT_NE(message_kind("it failed"), message_kind("it ended"));
}

}  // namespace
}  // namespace collbench::topology
