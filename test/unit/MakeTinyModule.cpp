//===- MakeTinyModule.cpp - Writes the test model for tests of the tools --===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: gist-make-tiny-module OUT.gist [SEED]\n", stderr);
    return 2;
  }
  uint32_t seed = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 7;
  gist::test::TinyModel(seed).write(argv[1]);
  return 0;
}
