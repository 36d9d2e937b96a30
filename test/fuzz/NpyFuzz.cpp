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
  (void)run::parseNpy({data, size}, array).ok();
  return 0;
}
