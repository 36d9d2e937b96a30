//===- ByteTokenizer.h - A tokenizer of bytes and some texts ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_UNIT_BYTETOKENIZER_H
#define GIST_TEST_UNIT_BYTETOKENIZER_H

#include "runtime/text/Tokenizer.h"

#include <gtest/gtest.h>

namespace gist {

/// Every byte is the token of its number; then come `texts`, and at the end a
/// special token that ends texts.
inline Tokenizer makeByteTokenizer(const std::vector<std::string> &texts) {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte)
    spec.vocab.emplace_back(1, static_cast<char>(byte));
  spec.vocab.insert(spec.vocab.end(), texts.begin(), texts.end());
  AddedToken end;
  end.text = "<end>";
  end.id = static_cast<uint32_t>(spec.vocab.size());
  end.special = true;
  spec.added.push_back(end);
  spec.vocab.emplace_back();
  spec.eos = static_cast<int32_t>(end.id);
  spec.stop.push_back(end.id);
  Tokenizer tokenizer;
  Status status = Tokenizer::create(std::move(spec), tokenizer);
  EXPECT_TRUE(status.ok()) << status.text;
  return tokenizer;
}

} // namespace gist

#endif // GIST_TEST_UNIT_BYTETOKENIZER_H
