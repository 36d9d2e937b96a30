//===- OwnState.cpp - Notes of a test program, away from the user's -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"

#include <cstdlib>

// TinyModel::write notes modules as known. Here they are known as long as the
// program runs.
static const struct OwnState {
  OwnState() { ::setenv("XDG_STATE_HOME", folder.path.c_str(), 1); }
  gist::test::TemporaryFolder folder;
} ownState;
