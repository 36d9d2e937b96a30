//===- PromptPrefixes.h - What prompts begin with ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prompts that begin alike have the same state there, chunk by chunk. It is
// taken over from a sequence that runs, or from what earlier ones left.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_PROMPTPREFIXES_H
#define GIST_RUNTIME_SESSION_PROMPTPREFIXES_H

#include "runtime/session/Batch.h"
#include "runtime/session/PrefixTree.h"
#include "runtime/session/SequenceState.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gist {

/// A prompt and how far it was read.
struct ReadPrompt {
  std::vector<int32_t> tokens;
  std::unique_ptr<SequenceState> state;
  /// Tokens of the prompt that walk through fewer layers.
  RowRange bulk = {};
  int64_t past = 0; ///< tokens that the state has, those of the answer included
  /// For each whole chunk a hash of its tokens, of its part of the bulk, which
  /// its state depends on too, and of all before.
  std::vector<uint64_t> chunks = {};
  /// Where the prompt leaves those that came before, in tokens; there its state
  /// is kept where the end of the prompt alone would not do.
  int64_t fork = 0;

  auto prompt() const { return static_cast<int64_t>(tokens.size()); }
  bool isReading() const { return past < prompt(); }
  bool isInBulk() const { return past >= bulk.begin && past < bulk.end; }
  /// Tokens of the prompt that the state has.
  int64_t read() const { return std::min(past, prompt()); }
};

class PromptPrefixes {
public:
  /// What is kept takes `limit` bytes at most. `layout` outlives this.
  void set(const StateLayout &layout, int64_t chunk, uint64_t limit);

  /// Computes the hashes of a prompt.
  void nameChunks(ReadPrompt &prompt) const;

  /// Whether two prompts begin with the same tokens up to the end of a chunk,
  /// and read them alike.
  bool share(const ReadPrompt &a, const ReadPrompt &b, size_t chunk) const;

  /// Takes whole chunks of the prompt from where they are already. At least one
  /// token stays, whose logits are asked for.
  Status takeOver(ReadPrompt &prompt,
                  std::span<const ReadPrompt *const> others);

  /// Keeps the state of the prompt's first tokens, whole chunks of them, where
  /// there are `room` bytes for all that is kept. A prefix for which there is
  /// no memory is computed again.
  void keep(const ReadPrompt &prompt, int64_t tokens, uint64_t room);

  /// Whether a prompt is where its state, which cannot go back, is kept: it
  /// leaves others here, or has read its last whole chunk.
  bool isKeptHere(const ReadPrompt &prompt) const;

  // As in PrefixTree.
  bool forgetOne() { return tree.forgetOne(); }
  void shrinkTo(uint64_t bytes) { tree.shrinkTo(bytes); }
  uint64_t bytes() const { return tree.bytes(); }
  size_t size() const { return tree.size(); }

private:
  /// Names of the first chunks, one behind the other.
  std::vector<int32_t> namesOf(const ReadPrompt &prompt, size_t count) const;
  /// The chunks that are known and that the prompt begins with.
  std::vector<PrefixTree::Node *> find(const ReadPrompt &prompt);
  Status takeRows(ReadPrompt &prompt,
                  std::span<const ReadPrompt *const> others);
  Status takeWhole(ReadPrompt &prompt);
  /// Whole chunks before the last token.
  size_t mostChunks(const ReadPrompt &prompt) const {
    return static_cast<size_t>((prompt.prompt() - 1) / chunk);
  }

  const StateLayout *layout = nullptr;
  int64_t chunk = 1;
  uint64_t limit = 0;
  PrefixTree tree;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PROMPTPREFIXES_H
