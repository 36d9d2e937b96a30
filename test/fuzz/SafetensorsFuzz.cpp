//===- SafetensorsFuzz.cpp - Any bytes as safetensors ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Safetensors.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes{data, size};
  SafetensorsFile file;
  (void)readSafetensors(bytes, file).ok();
  std::map<std::string, std::string> index;
  (void)readSafetensorsIndex(bytes, index).ok();
  return 0;
}
