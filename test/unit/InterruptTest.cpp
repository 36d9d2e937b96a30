//===- InterruptTest.cpp - Tests of Control-C -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Interrupt.h"

#include "gtest/gtest.h"

#include <chrono>
#include <thread>

using namespace gist::run;

TEST(InterruptTest, SignalsThatComeTogetherAreOne) {
  InterruptScope scope;
  EXPECT_FALSE(scope.requested());
  std::raise(SIGINT);
  std::raise(SIGINT);
  EXPECT_TRUE(scope.requested());
}

TEST(InterruptTest, EachScopeBeginsAnew) {
  {
    InterruptScope scope;
    std::raise(SIGINT);
    EXPECT_TRUE(scope.requested());
  }
  EXPECT_FALSE(InterruptScope().requested());
}

TEST(InterruptDeathTest, ALaterSignalEndsTheProgram) {
  EXPECT_EXIT(
      {
        InterruptScope scope;
        std::raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}
