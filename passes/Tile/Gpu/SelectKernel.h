//===- SelectKernel.h - Selections as GPU kernels ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch computes a selection, in rounds (SelectRounds.h):
//
//   norms    inverse norms; everything starts empty
//   gram     which tokens are covered, by the rule's own products
//   gram     the nearest representative of every other token
//   finish   nearest ids and weights
//
// `against all` needs one product: tokens against earlier ones, tiles with
// s < t only. `rule paper` needs two, one after the other. Coverings are in
// SelectCovering.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECTKERNEL_H
#define GIST_PASSES_TILE_GPU_SELECTKERNEL_H

#include "passes/Tile/Gpu/Compact.h"
#include "passes/Tile/Gpu/GramEpilogue.h"
#include "passes/Tile/Gpu/SelectRounds.h"

namespace gist {

/// Which tokens are kept.
enum class SelectRule { All, Kept, Covering, Paper };

/// The buffers and options of a selection.
struct SelectProblem {
  SelectRule rule;
  Similarity similarity;
  bool isCausal;
  float theta;
  mlir::Value tokens, offsets, control, scratch;
  mlir::Value oldIds, oldCount;            ///< inherited
  mlir::Value ids, count, nearest, weight; ///< results
  mlir::Value removed, added;              ///< of a cascade
};

class SelectKernel {
public:
  using Value = mlir::Value;

  SelectKernel(GpuBuilder &b, GpuTileAttr tile, const SelectProblem &problem);
  /// Writes the kernel of `workgroups` workgroups for each head.
  void emit(int64_t workgroups);

private:
  /// A list of tokens: those of an array, or neighbours from `first` on.
  struct List {
    std::optional<SelectArray> array;
    Value first, count;
  };
  /// A product: rows against columns.
  struct Product {
    List rows, columns;
    Reach reach;
    GramUse use;
    Value firstBit = {}; ///< column of `bits` of the first column
  };
  /// How many columns can matter to rows up to number `row`.
  using Limit = llvm::function_ref<Value(Value row)>;

  // Rounds.
  void emitItem(Value kind, Value item);
  void emitNorms(Value item);
  void emitGram(Value item);
  void emitFinish(Value item);
  void emitCheck(Value item);

  // What comes next, decided by one workgroup.
  void decide();
  void decideAll(Value stage);
  void decidePaper(Value stage);
  void decideCovering(Value stage);
  void markInherited();
  void publishGram(llvm::ArrayRef<std::pair<Product, Limit>> products);
  /// The representatives are the tokens that are not covered; the nearest of
  /// every other token is next.
  void publishNearest();
  void publishFinish();
  void finish();
  void atStage(Value stage, int64_t number, llvm::function_ref<void()> body);

  // Coverings: the tokens of a chunk are decided together.
  void startChunk(Value begin);
  void startInherited(Value begin);
  void publishChunk(Value begin, Value end, Value numKept, const List &columns,
                    Value firstBit);
  void resolve();
  void endChunk();
  void addSuspects();
  void storeKept();
  void loadKept();
  Value isColumnKept(Value column);

  // A tile.
  Value loadSide(unsigned number, Value config, Value tile);
  Value getBound(Value reach, Value id);

  // Helpers.
  void forTokens(Value begin, Value end, llvm::function_ref<void(Value)> body);
  GpuBuilder::Values at(Value i) {
    return head ? GpuBuilder::Values{head, i} : GpuBuilder::Values{i};
  }
  GpuBuilder::Values atHead() {
    return head ? GpuBuilder::Values{head} : GpuBuilder::Values{};
  }
  Value toI32(Value number);
  Value toNumber(Value word);
  bool isCovering() const {
    return problem.rule == SelectRule::Kept ||
           problem.rule == SelectRule::Covering;
  }
  int64_t getNormRows() const;

  GpuBuilder &b;
  SelectProblem problem;
  Value head; ///< null where there is one selection
  Value numTokens;
  SelectRounds rounds;
  GramTile gram;
  Compact compact;
  Value begins[2];       ///< of a tile's rows and columns
  Value found;           ///< workgroup memory: a group of tiles
  Value kept, undecided; ///< workgroup memory: sets of columns
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECTKERNEL_H
