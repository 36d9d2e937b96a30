//===- SentencePieceFuzz.cpp - Any bytes as a tokenizer.model -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerImport.h"
#include "test/fuzz/UseTokenizer.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  HuggingFaceTokenizer files;
  files.sentencePiece = {reinterpret_cast<const char *>(data), size};
  TokenizerSpec spec;
  if (importTokenizer(files, spec).ok())
    fuzz::useTokenizer(std::move(spec));
  return 0;
}
