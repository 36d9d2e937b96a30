//===- MakeTinyModule.cpp - Writes the test model for tests of the tools --===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: gist-make-tiny-module OUT.gist\n", stderr);
    return 2;
  }
  gist::test::TinyModel().write(argv[1]);
  return 0;
}
