//===- GgufFuzz.cpp - Any bytes as a GGUF file ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"
#include "test/fuzz/UseTokenizer.h"

using namespace gist;

/// Reads every value as whatever it may be taken for.
static void readValues(const GgufFile &file) {
  for (const auto &[name, value] : file.metadata) {
    (void)value.integer();
    (void)value.number();
    (void)value.string();
    (void)value.strings();
    (void)value.integers();
    (void)value.numbers();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ModelSource source;
  source.isGguf = true;
  if (!readGguf({data, size}, source.gguf).ok())
    return 0;
  readValues(source.gguf);
  source.architecture = "llama";
  ModelConfig config;
  if (readCommonConfig(source.config(), config).ok())
    (void)readRotaryConfig(source.config(), config).ok();
  TokenizerSpec spec;
  if (readTokenizer(source, spec).ok())
    fuzz::useTokenizer(std::move(spec));
  return 0;
}
