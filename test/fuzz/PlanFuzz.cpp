//===- PlanFuzz.cpp - Any bytes as a plan ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  PlanFile plan;
  (void)parsePlanFile({reinterpret_cast<const char *>(data), size}, "folder",
                      plan)
      .ok();
  return 0;
}
