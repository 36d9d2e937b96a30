//===- PromptPrefixes.h - What prompts begin with ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prompts that begin alike have the same state there, chunk by chunk. It is
// taken over from what others left or, where sequences show what is kept, have
// read so far; elsewhere also from a sequence that runs.
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
  int32_t adapter = 0; ///< that they are computed with
  int64_t past = 0; ///< tokens that the state has, those of the answer included
  /// For each whole chunk a hash of its tokens, of its part of the bulk and the
  /// adapter, which its state depends on too, and of all before.
  std::vector<uint64_t> chunks = {};
  /// Where the prompt leaves those that came before, in tokens; there its state
  /// is kept where the end of the prompt alone would not do.
  int64_t fork = 0;
  /// Its chunks that are known, found so far, and for which generation of the
  /// tree: a look-up goes on where the one before ended.
  std::vector<PrefixTree::Node *> path = {};
  uint64_t generation = 0;

  auto prompt() const { return static_cast<int64_t>(tokens.size()); }
  bool isReading() const { return past < prompt(); }
  bool isInBulk() const { return past >= bulk.begin && past < bulk.end; }
  /// Tokens of the prompt that the state has.
  int64_t read() const { return std::min(past, prompt()); }
};

class PromptPrefixes {
public:
  /// What is kept, and no sequence shows, takes `limit` bytes at most.
  /// Sequences have `most` tokens at most. `layout` and `device` outlive this,
  /// and it outlives the sequences.
  Status open(const StateLayout &layout, Device &device, int64_t chunk,
              int64_t most, uint64_t limit);

  /// Computes the hashes of a prompt.
  void nameChunks(ReadPrompt &prompt) const;

  /// Whether two prompts begin with the same tokens up to the end of a chunk,
  /// and read them alike.
  bool share(const ReadPrompt &a, const ReadPrompt &b, size_t chunk) const;

  /// What the prompt would take over now. While the caller has it, it stays.
  std::vector<std::shared_ptr<KeptState>> known(ReadPrompt &prompt);

  /// Takes whole chunks of the prompt from where they are already. At least one
  /// token stays, whose logits are asked for.
  Status takeOver(ReadPrompt &prompt,
                  std::span<const ReadPrompt *const> others);

  /// Keeps the state of the prompt's first tokens, whole chunks of them, where
  /// there are `room` bytes for all that is kept and that no sequence shows. A
  /// prefix for which there is no memory is computed again.
  void keep(ReadPrompt &prompt, int64_t tokens, uint64_t room);

  /// Whether the state of a prompt is kept where it is now: sequences can show
  /// it, or it cannot go back and leaves others here, or has read its last
  /// whole chunk.
  bool isKeptHere(const ReadPrompt &prompt) const;

  /// Whether sequences show what is kept, and of how many tokens their room has
  /// to be a multiple for it.
  bool shares() const { return store.shares(); }
  /// Whether a sequence with room for so many tokens can now.
  bool canShow(int64_t capacity) const { return store.canShow(capacity); }
  int64_t capacityStep() const { return store.capacityStep(); }

  // As in PrefixTree.
  bool forgetOne() { return tree.forgetOne(); }
  void shrinkTo(uint64_t bytes) { tree.shrinkTo(std::min(bytes, limit)); }
  uint64_t bytes() const { return tree.bytes(); }
  uint64_t shownBytes() const { return tree.shownBytes(); }
  size_t size() const { return tree.size(); }

private:
  /// A chunk's tokens, and behind them its part of the bulk and the adapter.
  std::vector<int32_t> nameOf(const ReadPrompt &prompt, size_t number) const;
  /// Finds the first `count` chunks of the prompt, or as many as are known.
  void findPath(ReadPrompt &prompt, size_t count);
  Status takeRows(ReadPrompt &prompt,
                  std::span<const ReadPrompt *const> others);
  Status copyRows(ReadPrompt &prompt,
                  std::span<const ReadPrompt *const> others);
  Status takeWhole(ReadPrompt &prompt);
  bool keepChunk(ReadPrompt &prompt, size_t number, uint64_t room);
  /// Whole chunks before the last token.
  size_t mostChunks(const ReadPrompt &prompt) const {
    return static_cast<size_t>((prompt.prompt() - 1) / chunk);
  }

  const StateLayout *layout = nullptr;
  int64_t chunk = 1;
  uint64_t limit = 0;
  StateStore store; ///< outlives what the tree has
  PrefixTree tree;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PROMPTPREFIXES_H
