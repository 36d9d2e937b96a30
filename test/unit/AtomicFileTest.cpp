//===- AtomicFileTest.cpp - A file appears whole or not at all ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"

#include "runtime/support/TextBytes.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gist;
using namespace gist::test;

// A reader sees the old content or the new one, never a mixture, and no
// temporary file is left beside it.
TEST(AtomicFile, CommitReplacesAndLeavesNothingElse) {
  TemporaryFolder folder;
  writeFile(folder.file("out"), "old");
  AtomicFile file;
  ASSERT_TRUE(file.open(folder.file("out")).ok());
  ASSERT_TRUE(file.write(bytesOf("new content")).ok());
  // As ModuleWriter does: hashes in the header are known at the end.
  ASSERT_TRUE(file.rewrite(0, bytesOf("NEW")).ok());
  EXPECT_EQ(readFile(folder.file("out")), "old");
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(readFile(folder.file("out")), "NEW content");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out"});
}

// What a program that ends in the middle leaves behind: nothing.
TEST(AtomicFile, WithoutCommitNothingChanges) {
  TemporaryFolder folder;
  {
    AtomicFile file;
    ASSERT_TRUE(file.open(folder.file("out")).ok());
    ASSERT_TRUE(file.write(bytesOf("half")).ok());
  }
  EXPECT_TRUE(folder.list().empty());
}

// Refused when it is opened, before any work is done for the content.
TEST(AtomicFile, RefusesWhatCannotBeWritten) {
  TemporaryFolder folder;
  AtomicFile file;
  Status status = file.open(folder.file("missing/out"));
  EXPECT_EQ(status.code, Code::Io);
  EXPECT_NE(status.text.find("missing/out: cannot write: No such file"),
            std::string::npos)
      << status.text;
  AtomicFile other;
  status = other.open(folder.path);
  EXPECT_NE(status.text.find("Is a directory"), std::string::npos)
      << status.text;
}

// People send output to /dev/null. A rename would put a plain file there.
TEST(AtomicFile, ADeviceStaysOne) {
  EXPECT_TRUE(writeWhole("/dev/null", "text").ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(writeWhole("/dev/full", "text").text,
            "/dev/full: cannot write: No space left on device");
}

// Tools ask this before work that takes minutes or hours.
TEST(AtomicFile, ChecksWithoutATrace) {
  TemporaryFolder folder;
  EXPECT_TRUE(checkWritable(folder.file("out")).ok());
  EXPECT_TRUE(folder.list().empty());
  writeFile(folder.file("out"), "old");
  EXPECT_TRUE(checkWritable(folder.file("out")).ok());
  EXPECT_EQ(readFile(folder.file("out")), "old");
  EXPECT_TRUE(checkWritable("/dev/null").ok());
  EXPECT_FALSE(checkWritable(folder.file("missing/out")).ok());
  EXPECT_FALSE(checkWritable(folder.path).ok());
}

/// Runs `write` in a process that is killed wherever it calls raise().
static void expectKilled(const std::function<void()> &write) {
  pid_t child = ::fork();
  if (child == 0) {
    write();
    ::_exit(0);
  }
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
}

// Killed when half of a module is on its way, or a plan that has no name yet.
TEST(AtomicFile, KilledWritersLeaveTheOldFile) {
  TemporaryFolder folder;
  writeFile(folder.file("m.gist"), "old module");
  writeFile(folder.file("plan.json"), "old plan");
  expectKilled([&] {
    TinyModel model;
    std::vector<uint8_t> bytes(1 << 16);
    model.writer.addWeight("large", "f32", {1 << 15}, 1 << 17,
                           [&](const ByteSink &sink) -> Status {
                             GIST_TRY(sink({bytes.data(), bytes.size()}));
                             ::raise(SIGKILL);
                             return {};
                           });
    (void)model.writer.write(folder.file("m.gist")).ok();
  });
  expectKilled([&] {
    AtomicFile file;
    (void)file.open(folder.file("plan.json")).ok();
    (void)file.write(bytesOf("half of a new pl")).ok();
    ::raise(SIGKILL);
  });
  EXPECT_EQ(readFile(folder.file("m.gist")), "old module");
  EXPECT_EQ(readFile(folder.file("plan.json")), "old plan");
  // Where the file system has files without names, nothing else is left.
  EXPECT_EQ(folder.list().size(), 2u);
}

// The limit on file sizes fails a write as a full disk does.
TEST(AtomicFile, NoSpaceLeavesTheOldFile) {
  TemporaryFolder folder;
  writeFile(folder.file("out.gist"), "old module");
  writeFile(folder.file("plan.json"), "old plan");
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  // The signal would end the test program.
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  // The first page of a module holds header and table, so that the write fails
  // in the middle.
  struct rlimit small = {4096, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  TinyModel model;
  Status status = model.writer.write(folder.file("out.gist"));
  Status plan = writeWhole(folder.file("plan.json"), std::string(5000, ' '));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_EQ(plan.code, Code::Io);
  EXPECT_EQ(status.code, Code::Io);
  EXPECT_NE(status.text.find("out.gist: cannot write: File too large"),
            std::string::npos)
      << status.text;
  EXPECT_EQ(readFile(folder.file("out.gist")), "old module");
  EXPECT_EQ(readFile(folder.file("plan.json")), "old plan");
  EXPECT_EQ(folder.list().size(), 2u);
}
