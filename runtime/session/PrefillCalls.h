//===- PrefillCalls.h - How many tokens a prefill call takes ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of more tokens multiplies larger matrices, which fill a card better,
// and takes more scratch memory. So a GPU gets the largest calls that there is
// memory for, up to where larger ones gain nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_PREFILLCALLS_H
#define GIST_RUNTIME_SESSION_PREFILLCALLS_H

#include "runtime/module/ModuleSpec.h"
#include "runtime/support/Status.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace gist {

/// Tokens per call that are not reduced for lack of memory.
inline constexpr int64_t kLeastPrefillTokens = 512;

/// Half of `most`, again and again, until `bytesOf` a call fit in `free` bytes
/// with an eighth to spare; kLeastPrefillTokens are taken as they are.
Status choosePrefillTokens(
    int64_t most, uint64_t free,
    const std::function<Status(int64_t tokens, uint64_t &bytes)> &bytesOf,
    int64_t &chosen);

/// The next call's tokens of `count`, at most `chunk`, so that all calls are
/// about as large: a last call of a few tokens would take nearly as long as
/// one of many.
int64_t evenPrefillTokens(int64_t count, int64_t chunk);

/// Which tokens of a prompt the entry `read` takes.
struct PromptBulk {
  /// Of a module whose `read` walks through fewer layers (kBulkProperty): how
  /// many tokens at both ends it does not take. None: it takes all but the last
  /// call's.
  std::optional<int64_t> first, last;

  /// Fewer tokens between the ends than this are not worth two more calls.
  int64_t least = 0;

  static Status create(const ModelInfo &model, PromptBulk &bulk);

  /// Of a prompt of `count` tokens behind `past` others: the tokens from
  /// `begin` to `end` are for `read`, unless the last call takes them.
  struct Range {
    size_t begin, end;
  };
  Range find(size_t count, int64_t past) const;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PREFILLCALLS_H
