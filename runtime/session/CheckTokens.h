//===- CheckTokens.h - Tokens of a model's vocabulary -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_CHECKTOKENS_H
#define GIST_RUNTIME_SESSION_CHECKTOKENS_H

#include "runtime/support/Status.h"

#include <cinttypes>
#include <span>

namespace gist {

/// Refuses tokens that are not in the vocabulary: kernels read rows of the
/// embedding by these numbers and do not check them.
inline Status checkTokens(std::span<const int32_t> tokens, int64_t vocabSize) {
  for (int32_t token : tokens)
    if (token < 0 || token >= vocabSize)
      return Status::error(Code::BadArgument,
                           "token %" PRId32
                           " is outside a vocabulary of %" PRId64,
                           token, vocabSize);
  return {};
}

} // namespace gist

#endif // GIST_RUNTIME_SESSION_CHECKTOKENS_H
