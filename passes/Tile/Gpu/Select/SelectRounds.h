//===- SelectRounds.h - Rounds of work inside of one launch -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection is a sequence of parallel steps whose number and sizes depend on
// the data. They run in one launch: workgroups draw tickets, the items of a
// round, and the workgroup that finishes the last item of a round decides what
// the next one is while the others wait for it.
//
// A workgroup only waits for tickets smaller than its own, whose workgroups are
// running. So this terminates however many workgroups the device runs at once,
// even one after the other.
//
// Memory, for each head on its own:
//
//   control     kControlWords words, zero before the launch: tickets, the
//               round, what rules keep in between
//   scratch     arrays of one word per token, 16 bytes aligned, then bits that
//               say whether columns cover rows, kMaxColumns per token, then
//               the ids of the columns; all of it is written before it is read
//
// What is left of the scratch memory behind that of all heads is for sums of
// tiles that several workgroups compute; there may be none of it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECT_SELECTROUNDS_H
#define GIST_PASSES_TILE_GPU_SELECT_SELECTROUNDS_H

#include "passes/Tile/Gpu/Core/GpuAtomics.h"

#include <functional>

namespace gist {

/// Columns that a covering compares with at once, one bit each.
inline constexpr int64_t kMaxColumns = 4096;
inline constexpr int64_t kBitWords = kMaxColumns / 32;
/// Words of control of a head.
inline constexpr int64_t kControlWords = 320;
/// Products of one round.
inline constexpr int64_t kMaxProducts = 3;

/// Arrays of one word per token, and one that is not.
enum class SelectArray : int64_t {
  Best,      ///< 64 bits: the largest cosine and its token
  BestHigh,  ///< its second half
  Scales,    ///< inverse norms, f32
  Covered,   ///< 1 for a token that is not a representative
  Touched,   ///< 1 for a token of whose bits one has been set
  Rank,      ///< representatives before a token
  Others,    ///< ids of tokens that are not kept, or under suspicion, and
             ///< columns that must be decided
  ColumnOf,  ///< 1 + the column of a token, 0 for none
  Suspects,  ///< sets of tokens in words, WordSet
  Inherited, ///< 1 for a representative of the layer before
  Groups,    ///< tables of tiles, for each product of a round
  LastGroups = Groups + kMaxProducts - 1,
  Begins, ///< where the sequence of a token begins
  Kept,   ///< ids of representatives so far
  NumArrays,
  /// Ids of the columns of `bits`, -1 for none: kMaxColumns words, as columns
  /// are added in whole tiles and may so be more than there are tokens.
  Columns = NumArrays
};

/// A selection over T tokens takes factor * (T + kScratchRoom) words of scratch
/// for one head, and can use kSplitWords more for sums.
inline constexpr int64_t kScratchRoom = 68;
inline constexpr int64_t kSplitWords = int64_t(1) << 23;
constexpr int64_t getScratchFactor(bool hasBits) {
  return static_cast<int64_t>(SelectArray::NumArrays) +
         (hasBits ? kBitWords : 0);
}

/// What a round consists of.
enum class RoundKind : int64_t { Norms, Gram, Check, Mark, Close, Finish };

/// Words of control. The first three have a cache line of their own.
enum ControlWord : int64_t {
  kTicket = 0,
  kDone = 32,
  kLimit = 64,
  kLeft,       ///< workgroups that are done
  kRound = 96, ///< RoundKind
  kBase,       ///< the first ticket of this round
  kStage,      ///< what a rule has done
  kChunkBegin, ///< tokens of a covering that are being decided
  kChunkEnd,
  kNumColumns,
  kNumKept,
  kNumBefore, ///< those that were kept before the chunk
  kNumInherited,
  kNumCommon,  ///< representatives that are inherited
  kWholeTiles, ///< tiles of a round that one workgroup computes each
  kSplitTiles, ///< the others, which
  kSplitItems, ///< so many share
  kKeepsSums,  ///< 1 if the round leaves the sums of all tiles
  kRecall,     ///< 1 if they are reduced again
  kGram = 112, ///< kMaxProducts of kGramWords each
  kKeptMask = kGram + kMaxProducts * 16, ///< kBitWords: which columns are kept
};
inline constexpr int64_t kGramWords = 16;
/// Words of a product.
enum GramWord : int64_t {
  kRowList, ///< where the list begins in the head's memory, -1 for neighbours
  kRowFirst,
  kRowCount,
  kColumnList,
  kColumnFirst,
  kColumnCount,
  kReach,
  kUse,
  kFirstBit,
  kCoverFrom,
  kNumGroups,
  kNumTiles,
  kNumGramWords
};
static_assert(kNumGramWords <= kGramWords);
static_assert(kKeptMask + kBitWords <= kControlWords);

class SelectRounds {
public:
  using Value = mlir::Value;

  /// `head` of `heads`, null where there is one.
  SelectRounds(GpuBuilder &b, Value control, Value scratch, Value head,
               int64_t heads, Value tokens, bool hasBits);

  /// Writes the loop of one of `workgroups` workgroups. `run` does item `item`
  /// of the round of the kind given, `decide` publishes the next round.
  /// `getFirstItems` gives the number of items of the first round at any
  /// insertion point.
  void run(int64_t workgroups, std::function<Value()> getFirstItems,
           llvm::function_ref<void(Value kind, Value item)> run,
           llvm::function_ref<void()> decide);

  /// Writes the loop of a workgroup where all is known before: `items` items,
  /// drawn in their order. `run` may let one wait for those before it, at most
  /// for the first `countAwaited`.
  void runInOrder(int64_t workgroups, Value items,
                  llvm::function_ref<Value()> countAwaited,
                  llvm::function_ref<void(Value item)> run);
  /// Called in an item that no other item waits for, after its own waits: if it
  /// is the last one of this workgroup, counts the workgroup as left. The
  /// result goes to noteLeft() later, so that the atomic is not waited for
  /// here.
  Value leaveEarly();
  void noteLeft(Value left);
  /// Waits until the first `count` items are done; all threads take part.
  void waitFor(Value count);

  /// Lets the round of `items` items begin, at least one. Written once all
  /// threads have written what it needs.
  void publish(RoundKind kind, Value items);
  /// Lets all workgroups leave.
  void finish();

  /// Writes code in which what follows from the number of tokens and of this
  /// thread is computed where it is needed. The places of all arrays and all
  /// comparisons of lanes, computed before the first round, would be more than
  /// the scalar registers of gfx942 hold.
  void computeHere(llvm::function_ref<void()> body);
  /// The same for a whole branch or body of a loop, which loads the kernel's
  /// arguments again.
  void loadHere(llvm::function_ref<void()> body);
  void ifThenHere(Value condition, llvm::function_ref<void()> body);

  /// Control words as numbers.
  Value get(int64_t word) { return get(b.index(word)); }
  Value get(Value word);
  /// Writes a word; thread 0 alone does.
  void set(int64_t word, Value number);
  Value getControlPlace(Value word) {
    return b.add(b.mul(head, kControlWords), word);
  }
  Value getControlPlace(int64_t word) { return getControlPlace(b.index(word)); }

  /// Where word `i` of an array lies in the scratch memory.
  Value getPlace(SelectArray array, Value i);
  /// Where an array begins, from the beginning `base` of the head's memory.
  Value getOffset(SelectArray array);
  Value getBitPlace(Value row, Value word);
  /// Where this head's part of the memory for sums begins, and its words.
  Value getSplitPlace();
  Value getSplitWords();

  Value read(SelectArray array, Value i);       ///< as i32
  Value readNumber(SelectArray array, Value i); ///< as a number
  Value readF32(SelectArray array, Value i);
  void write(Value value, SelectArray array, Value i);

  Value control, scratch;
  Value tokens; ///< how many
  Value base;   ///< of this head's scratch

private:
  void setTokens(Value number);
  void leave(int64_t workgroups, bool mayBeEarly);

  /// Items of the first round.
  Value getItemsBefore();
  void writeItems(mlir::scf::WhileOp loop,
                  llvm::function_ref<void(Value kind, Value item)> run,
                  llvm::function_ref<void()> decide);

  GpuBuilder &b;
  int64_t heads, factor;
  Value head;
  Value unit;  ///< words of an array
  Value slots; ///< workgroup memory: ticket, limit, leader, how many left
  Value numItems, nextTicket; ///< while runInOrder() is; the latter in thread 0
  std::function<Value()> countFirstItems; ///< of the first round
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECT_SELECTROUNDS_H
