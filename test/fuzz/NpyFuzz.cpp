//===- NpyFuzz.cpp - Any bytes as an array of NumPy's ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Npy.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run::Array array;
  // What was read can be written.
  if (run::parseNpy({data, size}, array).ok() &&
      !run::writeNpy("/dev/null", array).ok())
    __builtin_trap();
  return 0;
}
