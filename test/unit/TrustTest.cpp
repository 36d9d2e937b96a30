//===- TrustTest.cpp - Whose code may run ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Trust.h"

#include "runtime/gist.h"
#include "runtime/session/Session.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

using namespace gist;
using namespace gist::test;

namespace {
/// Each test has a folder of known modules of its own.
class Trust : public ::testing::Test {
protected:
  void SetUp() override {
    before = std::getenv("XDG_STATE_HOME");
    ::setenv("XDG_STATE_HOME", folder.file("state").c_str(), 1);
    ASSERT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
  }
  void TearDown() override { ::setenv("XDG_STATE_HOME", before.c_str(), 1); }

  /// As it comes from elsewhere: it is not known.
  std::shared_ptr<const Module> open(TinyModel &model) {
    std::shared_ptr<const Module> module;
    std::string path = folder.file("m.gist");
    Status status = model.writer.write(path);
    EXPECT_TRUE(status.ok()) << status.text;
    status = Module::open(path, module);
    EXPECT_TRUE(status.ok()) << status.text;
    return module;
  }
  Status run(const std::shared_ptr<const Module> &module, bool trust = false) {
    std::unique_ptr<Session> session;
    GIST_TRY(Session::create(module, *device, {.trust = trust}, session));
    isMapped = hasMappedCode();
    const int32_t tokens[] = {3, 1, 2};
    return session->feed(tokens);
  }
  /// Whether code of a module is in this process, where it could be executed.
  static bool hasMappedCode() {
    return readFile("/proc/self/maps").find("memfd:gist-code") !=
           std::string::npos;
  }

  TemporaryFolder folder;
  std::string before;
  std::unique_ptr<Device> device;
  TinyModel model;
  bool isMapped = false;
};
} // namespace

// Code that is not in the address space cannot be executed, not a byte of it.
TEST_F(Trust, NothingOfAnUnknownModuleIsMapped) {
  auto module = open(model);
  Status status = run(module);
  EXPECT_EQ(status.code, Code::Untrusted);
  EXPECT_NE(status.text.find("was not compiled by this user on this machine, "
                             "so it is not run"),
            std::string::npos)
      << status.text;
  EXPECT_FALSE(hasMappedCode());
  // The same look finds the code of a module that runs.
  EXPECT_TRUE(run(module, /*trust=*/true).ok());
  EXPECT_TRUE(isMapped);
  EXPECT_FALSE(hasMappedCode());
  // Trust for one run is not kept.
  EXPECT_EQ(run(module).code, Code::Untrusted);
}

// All that needs no code works: looking at a module, and its tokenizer.
TEST_F(Trust, UnknownModulesCanBeRead) {
  auto module = open(model);
  EXPECT_EQ(module->spec().kernels.size(), 5u);
  EXPECT_TRUE(module->verifyWeights().ok());
}

TEST_F(Trust, KnownUntilForgotten) {
  auto module = open(model);
  ASSERT_TRUE(trustFingerprint(module->fingerprint()).ok());
  EXPECT_TRUE(run(module).ok());
  // Another file with the same content is the same module.
  EXPECT_TRUE(run(open(model)).ok());
  ASSERT_TRUE(distrustModule(*module).ok());
  EXPECT_EQ(run(module).code, Code::Untrusted);
  EXPECT_EQ(distrustModule(*module).text, "the module was not known");
}

// Kernels do what metadata and tables tell them: known code with other metadata
// is not known.
TEST_F(Trust, CodeMetadataAndTablesBelongTogether) {
  ASSERT_TRUE(trustFingerprint(open(model)->fingerprint()).ok());
  TinyModel otherGrid;
  otherGrid.writer.spec.entries[0].commands[0].grid[0] =
      otherGrid.writer.spec.addConstant(1 << 20);
  EXPECT_EQ(run(open(otherGrid)).code, Code::Untrusted);
  TinyModel otherCode(7, /*scaled=*/true);
  EXPECT_EQ(run(open(otherCode)).code, Code::Untrusted);
  TinyModel otherTable(8);
  EXPECT_EQ(run(open(otherTable)).code, Code::Untrusted);
  EXPECT_TRUE(run(open(model)).ok());
}

// Write access to the folder decides what runs.
TEST_F(Trust, AFolderOfOthersIsNotBelieved) {
  auto module = open(model);
  ASSERT_TRUE(trustFingerprint(module->fingerprint()).ok());
  std::string known;
  ASSERT_TRUE(trustFolder(TrustScope::User, known).ok());
  ASSERT_EQ(::chmod(known.c_str(), 0722), 0);
  Status status = run(module);
  EXPECT_EQ(status.code, Code::Untrusted);
  EXPECT_EQ(status.text, known + " can be written by other users, so what it "
                                 "says is not believed");
  EXPECT_EQ(trustFingerprint(module->fingerprint()).code, Code::Untrusted);
  ASSERT_EQ(::chmod(known.c_str(), 0700), 0);
  EXPECT_TRUE(run(module).ok());
}

TEST_F(Trust, WithoutAPlaceNothingIsKnown) {
  auto module = open(model);
  ASSERT_TRUE(trustFingerprint(module->fingerprint()).ok());
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::setenv("XDG_STATE_HOME", "relative", 1);
  ::setenv("HOME", "", 1);
  EXPECT_EQ(run(module).code, Code::Untrusted);
  EXPECT_EQ(trustFingerprint(module->fingerprint()).text,
            "known modules have no place: neither XDG_STATE_HOME nor HOME is "
            "an absolute path");
  ::setenv("HOME", home.c_str(), 1);
}

TEST_F(Trust, InC) {
  open(model);
  gist_module *module = nullptr;
  ASSERT_EQ(gist_module_load(folder.file("m.gist").c_str(), &module), GIST_OK);
  gist_session *session = nullptr;
  EXPECT_EQ(gist_session_create(module, nullptr, &session), GIST_UNTRUSTED);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(gist_module_trust(nullptr), GIST_BAD_ARGUMENT);
  EXPECT_EQ(gist_module_trust(module), GIST_OK);
  EXPECT_EQ(gist_session_create(module, nullptr, &session), GIST_OK)
      << gist_last_error();
  gist_session_free(session);
  gist_module_free(module);
}
