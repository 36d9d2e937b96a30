//===- SelectionKernel.h - Selections on the CPU ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection is a few phases over blocks of rows, all in one launch. A
// workgroup draws a ticket: a phase, a block and a head. It compares the rows
// of its block with candidates and then, in the order of the blocks, writes
// down what it found. So it waits for smaller tickets alone, whose holders are
// running, and this ends whatever number of workgroups run at once.
//
//   scan     (against all, against kept, and rule covering, for which the
//            inherited set could save nothing here): a block meets what the
//            blocks before it kept, as they become known, and then itself
//   nearest  where tokens may look ahead: redundant tokens meet what was kept
//            behind them, or was new
//   norms, validate, cover: the first phases of rule paper
//
// Nothing is stored but a few words per token.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_SELECTIONKERNEL_H
#define GIST_PASSES_TILE_CPU_SELECTIONKERNEL_H

#include "passes/Kernel/Selections.h"
#include "passes/Tile/Cpu/SelectionCosines.h"

#include <functional>
#include <optional>

namespace gist {

/// What the kernel of a selection has.
struct SelectionProblem {
  enum class Rule { All, Kept, Paper };

  Rule rule = Rule::Kept;
  Similarity similarity = Similarity::Absolute;
  bool isCausal = false;
  float theta = 0;
  mlir::Value tokens, taus, coefficients, residuals, oldIds, oldCount,
      oldNearest;
  SelectionBuffers to;
};

/// One selection, as its workgroups compute it.
class SelectionKernel {
public:
  using Value = mlir::Value;
  using Values = TileBuilder::Values;

  /// Words of control of a head. Each is on a cache line of its own that others
  /// read while it is written.
  enum Word : int64_t {
    kNextTicket = 0, ///< of all heads
    kFinished = 32,  ///< blocks, phases one after the other
    kNumKept = 64,   ///< representatives so far
    kNumValid = 96,  ///< tokens in the list of valid ones
    kNumNew,         ///< tokens in the list of new ones
    kNumRemoved,     ///< of the inherited
    kNumAdded,
    kControlWords = 128 ///< of a head
  };

  /// Arrays of one word per token, for each head.
  enum Array : int64_t {
    kInverse, ///< f32: one over the norm
    kRank,    ///< representatives before the token
    kBest,    ///< f32: the largest cosine with a representative so far
    kOwner,   ///< the representative with that cosine
    kFlag,    ///< 1 for a representative, or an inherited one that is valid
    kValid,   ///< list: ids of valid inherited representatives
    kNew,     ///< list: ids of representatives that are not inherited
    kNumArrays
  };

  SelectionKernel(BufferBuilder &b, const SelectionProblem &what)
      : b(b), what(what), f32(b.getF32Type()), i32(b.getI32Type()),
        type(mlir::cast<mlir::MemRefType>(what.tokens.getType())),
        heads(type.getRank() == 3 ? type.getDimSize(1) : 1) {}

  int64_t countPhases() const {
    return what.rule == Rule::Paper ? 4 : what.isCausal ? 1 : 2;
  }
  int64_t getNumHeads() const { return heads; }

  /// The code of one workgroup.
  void emit();

private:
  using Rule = SelectionProblem::Rule;
  using CmpIPredicate = mlir::arith::CmpIPredicate;
  static constexpr int64_t kLanes = BufferBuilder::kLanes;

  using Rows = SelectionCosines::Rows;
  using Candidates = SelectionCosines::Candidates;

  void emitScan();
  void emitBlock(Value isNeverCovered);
  void emitNearest();
  void emitNorms();
  void emitValidate();
  void emitCover();

  void setState();
  void loadState();
  void improve(Value row, Value cosines, Value ids, Value isEligible = {});
  void reduceRow(Value row);
  void commit(Value token, Value row, Value isKept);
  void addMember(Value owner);
  void finishPhase(int64_t phase, bool isLast);
  void finishAll();
  void waitFor(Value blocks);

  /// What a cosine must reach to matter in a scan: a token that is redundant
  /// against the kept has one of at least theta, so smaller ones decide
  /// nothing. Null where they might.
  std::function<Value(Value)> getLimit() {
    if (what.rule != Rule::Kept || !what.coefficients)
      return nullptr;
    return [this](Value) { return theta; };
  }

  // Memory of the head.
  Value at(Array array, Value token) {
    return b.add(arrays, b.add(b.mul(b.index(array), total), token));
  }
  Value read(Array array, Value token) {
    return b.load(what.to.scratch, at(array, token));
  }
  Value readFloat(Array array, Value token) {
    return mlir::arith::BitcastOp::create(b, f32, read(array, token));
  }
  void write(Value word, Array array, Value token) {
    if (word.getType() == f32)
      word = mlir::arith::BitcastOp::create(b, i32, word);
    b.store(word, what.to.scratch, at(array, token));
  }
  Value wordAt(Word word) { return b.add(words, word); }
  Value readWord(Word word) { return b.load(what.to.control, wordAt(word)); }
  void writeWord(Value value, Word word) {
    b.store(value, what.to.control, wordAt(word));
  }
  void addToWord(Value bit, Word word) {
    Value one = mlir::arith::ExtUIOp::create(b, i32, bit);
    writeWord(mlir::arith::AddIOp::create(b, readWord(word), one), word);
  }
  /// The indices of `token` in a part of a selection.
  Values part(Value token) {
    return type.getRank() == 3 ? Values{head, token} : Values{token};
  }
  Values one() { return type.getRank() == 3 ? Values{head} : Values{}; }
  Value isInherited(Value token) {
    return b.compare(CmpIPredicate::eq, b.load(what.oldNearest, part(token)),
                     b.toI32(token));
  }
  Value negate(Value bit) {
    return mlir::arith::XOrIOp::create(
        b, bit, mlir::arith::ConstantOp::create(b, b.getBoolAttr(true)));
  }

  BufferBuilder &b;
  const SelectionProblem &what;
  mlir::Type f32, i32;
  mlir::MemRefType type;
  int64_t heads;

  Value total, blocks;         ///< tokens, and blocks of them
  Value head, block, phase;    ///< of this workgroup
  Value words, arrays;         ///< where the head's control and arrays start
  Value theta;                 ///< of the head
  Rows rows;                   ///< of the block
  Value bests, owners, covers; ///< rows x lanes, and one number a row
  std::optional<SelectionCosines> cosines;
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_SELECTIONKERNEL_H
