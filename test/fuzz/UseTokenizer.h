//===- UseTokenizer.h - What a tokenizer from a file is asked ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_FUZZ_USETOKENIZER_H
#define GIST_TEST_FUZZ_USETOKENIZER_H

#include "runtime/text/Tokenizer.h"

namespace gist::fuzz {

/// Builds the tables, encodes a text with something of everything, and decodes
/// what came out and what cannot come out.
inline void useTokenizer(TokenizerSpec spec) {
  Tokenizer tokenizer;
  if (!Tokenizer::create(std::move(spec), tokenizer).ok())
    return;
  std::vector<int32_t> ids;
  tokenizer.encode("  Hello, world's <s>\t\n12345 Grüße 世界 \xf0\x9f\x99\x82"
                   "\xff\xc3 don't<|im_end|>",
                   ids);
  (void)tokenizer.decode(ids, false);
  const int32_t odd[] = {-1, 0, 1, 255, 1 << 30, INT32_MIN};
  (void)tokenizer.decode(odd);
  for (int32_t id : odd) {
    (void)tokenizer.tokenText(id);
    (void)tokenizer.isStop(id);
  }
}

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_USETOKENIZER_H
