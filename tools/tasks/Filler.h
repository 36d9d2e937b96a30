//===- Filler.h - Text in which something is hidden -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_FILLER_H
#define GIST_TOOLS_TASKS_FILLER_H

#include "tools/tasks/Random.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist::tasks {

/// Sentences that do not help to answer the question: made of random words, so
/// that they do not repeat at any length, or taken from a text.
class Filler {
public:
  Filler() = default;
  /// The sentences of a text, in its order and from its beginning again at its
  /// end. A text without any gives made ones.
  explicit Filler(std::string_view text);

  /// `count` sentences, each without a space around it. Those of a text begin
  /// somewhere in it.
  std::vector<std::string> sentences(Random &random, size_t count) const;

private:
  std::vector<std::string> own;
};

/// Plain words, of which no two are alike.
std::span<const std::string_view> plainNouns();
std::span<const std::string_view> plainAdjectives();

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_FILLER_H
