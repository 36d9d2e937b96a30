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
//   close    ids and ranks (SelectWords.cpp)
//   gram     nearest representatives that are still unknown
//   finish   nearest ids and weights
//
// SelectGram.cpp, SelectShares.cpp and SelectAhead.cpp compute products,
// SelectRules.cpp decides what comes next, SelectCovering.cpp and
// SelectColumns.cpp what a greedy covering keeps. Selections among few tokens
// have no rounds at all (SelectDirect.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECT_SELECTKERNEL_H
#define GIST_PASSES_TILE_GPU_SELECT_SELECTKERNEL_H

#include "dialect/GistTileAttrs.h"
#include "passes/Kernel/Selections.h"
#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Select/GramEpilogue.h"
#include "passes/Tile/Gpu/Select/SelectRounds.h"

#include <functional>
#include <tuple>

namespace gist {

/// Which tokens are kept.
enum class SelectRule { All, Kept, Covering, Paper };

/// What a rule has done; a kernel begins with the first, and takes what its
/// rule needs, in this order, chunks again and again.
enum class SelectStage : int64_t {
  Start,
  Decide,  ///< the products of a chunk are done
  Suspect, ///< suspects of a chunk have been marked
  Outside, ///< paper: the inherited ones have been compared
  List,    ///< it is known which tokens are kept
  Rank,    ///< their words are written
  Close,   ///< ids and ranks are written
  Nearest, ///< the nearest representatives are known
  End,
};

/// Sets of tokens in words of 32, and a number for each word.
enum class WordSet : int64_t {
  Suspects, ///< tokens of a chunk that might be new representatives
  Kept,
  Rank, ///< representatives before a word
  Lost, ///< tokens whose nearest representative is not known
};

/// The buffers and options of a selection.
struct SelectProblem {
  SelectRule rule;
  Similarity similarity;
  bool isCausal;
  float theta = 0;
  mlir::Value taus; ///< one for each head, in place of theta; null for none
  mlir::Value tokens, offsets;
  mlir::Value oldIds, oldCount; ///< inherited
  SelectionBuffers to;
};

class SelectKernel {
public:
  using Value = mlir::Value;

  SelectKernel(GpuBuilder &b, GpuSelectionAttr tile,
               const SelectProblem &problem);
  /// Workgroups for each head.
  int64_t getWorkgroups() const { return workgroups; }
  int64_t getNumHeads() const { return heads; }
  /// Writes the kernel.
  void emit();

private:
  /// A list of tokens: those of an array, or neighbours, from `first` on.
  struct List {
    std::optional<SelectArray> array;
    Value first, count;
  };
  /// A product: rows against columns.
  struct Product {
    List rows, columns;
    Reach reach;
    Value use;            ///< GramUse
    Value firstBit = {};  ///< column of `bits` of the first column
    Value coverFrom = {}; ///< tokens before this one are not covered by it
    /// How many columns can matter to rows up to number `row`; all if empty.
    std::function<Value(Value row)> getLimit = {};
    /// Instead of that: rows are neighbours, columns ascend, and those before a
    /// row's token matter.
    bool isSearched = false;
  };

  /// Steps [begin, end) of a tile, those of share `share` if not all of them.
  struct Part {
    Value tile, share, begin, end;
  };
  /// Where a tile is: its product's words, its row and column of tiles, and how
  /// many columns of tiles its row has.
  struct Place {
    Value config, rowTile, columnTile, width;
  };
  static constexpr int64_t kPlaceWords = 4;
  /// The list of a product's rows or columns: where it is, -1 for neighbours.
  struct TokenList {
    Value place, first, count;
  };

  // Rounds.
  void emitItem(Value kind, Value item);
  void emitNorms(Value item);
  void emitNormsOf(Value set);
  Value getScale(Value square);
  void clearToken(Value t);
  GpuBuilder::Values getSquares(llvm::ArrayRef<Value> tokens, Value power);
  void emitGram(Value item);
  void emitFinish(Value item);
  void emitCheck(Value item);
  void emitMark(Value item);
  void emitClose(Value item);

  // Sets of tokens (SelectWords.cpp).
  Value getNumWords();
  Value getWordPlace(WordSet set, Value i);
  Value readWord(WordSet set, Value i);
  void writeWord(WordSet set, Value row, Value isInside);
  Value isInWords(WordSet set, Value t);
  Value scanWords(WordSet set, Value words,
                  llvm::function_ref<void(Value i, Value word, Value before)>);
  Value listWords(WordSet set, Value words, Value firstToken);

  // Products.
  void publishGram(llvm::ArrayRef<Product> products, Value keepsSums = {});
  Value writeWidths(const Product &product, SelectArray table, Value group,
                    Value numGroups);
  void writeLimits(const Product &product, SelectArray table, Value first,
                   Value rowTiles);
  void publishShares(Value tiles, Value keepsSums);
  void recallGram();
  void publishItems(Value whole, Value shares);
  void emitTile(const Part &part);
  void emitAhead(Value item);
  void emitParts(Value count, llvm::function_ref<Part(Value number)> getPart);
  Place readPlace(Value number);
  std::tuple<Value, Value, Value> findProduct(Value number);
  void writePlace(Value tile);
  Value isOfBits(Value use);
  void findTile(Value config, Value groups, Value number);
  std::pair<Value, Value> findInGroup(Value widths, Value firstRow,
                                      Value rowTiles, Value number);
  void clearBits(Value begin, Value end, Value firstBit);
  void reduceTile(llvm::function_ref<Value(int64_t)> word, Value columnTile,
                  const Part &part);
  Value joinParts(const Part &part);
  void improve(llvm::function_ref<Value(int64_t)> word, Value id, Value cosine,
               Value owner);
  /// A cosine and the id of its token as one key, of which the larger is
  /// nearer; and the id of such a key, -1 for zero.
  Value getKey(Value cosine, Value owner);
  Value getNearest(Value low, Value high);
  TokenList readList(unsigned number, llvm::function_ref<Value(int64_t)> word);
  Value readId(const TokenList &list, Value i);
  Value readScale(unsigned side, Value exists, Value id);
  Value loadSide(unsigned number, Value config, Value tile);
  void forSides(
      llvm::function_ref<void(unsigned number, Value local, size_t i)> body);
  GpuBuilder::Values loadIds(const Place &place);
  GpuBuilder::Values loadScales(llvm::ArrayRef<Value> ids);
  void storeIds(llvm::ArrayRef<Value> ids, bool isNext);
  void storeScales(llvm::ArrayRef<Value> scales);
  Value getBound(Value reach, Value id);

  // All in one launch without rounds (SelectDirect.cpp).
  struct Direct {
    Value rowTiles, tiles, steps; ///< tiles of rows, tiles, steps of all tiles
    Value norms, shares, groups;  ///< items
    Value fits;
  };
  /// Rows that one wave of a tile has.
  struct Group {
    Value begin, end;      ///< tokens
    Value rowTile, inTile; ///< their tile, and which group of it they are
    Value firstTile;       ///< of the row's tiles
    Value units;           ///< columns of waves
  };
  bool canBeDirect() const;
  Value getWidth(Value row);
  Value countTiles(Value row);
  Direct planDirect();
  void emitDirect(Value items);
  void emitShare(const Direct &plan, Value share);
  Value getShare(const Direct &plan, Value step);
  void loadNeighbours(unsigned number, Value tile);
  bool hasDiagonal() const;
  GpuBuilder::Values findScales(const Direct &plan,
                                llvm::ArrayRef<Value> tokens);
  void loadScales(const Direct &plan, const Group &group);
  int64_t getNumWaves() const;
  int64_t getGroupRows() const;
  int64_t getUnitsOfWave() const;
  int64_t getDirectTokens() const;
  void forUnits(const Direct &plan, const Group &group,
                llvm::SmallVectorImpl<GpuBuilder::Values> &sums,
                llvm::function_ref<void(Value columnTile)> body);
  GramEpilogue::Token readNeighbour(unsigned side, Value first, Value local);
  void emitGroup(const Direct &plan, Value number);
  void settle(const Group &group);
  void judgeToken(Value t, Value row);
  void writeGroup(const Group &group);

  // What comes next, decided by one workgroup.
  void decide();
  void decidePaper(Value stage);
  void decideCovering(Value stage);
  void markInherited();
  /// The representatives are the tokens that are not covered: next their words
  /// are written, then all tokens are closed, and nearest representatives that
  /// are still unknown are found.
  void rankKept();
  void decideNearest();
  void publishLost();
  void publishFinish();
  void finish();
  void atStage(Value stage, SelectStage which, llvm::function_ref<void()> body);
  void setStage(SelectStage stage);

  // Coverings: the tokens of a chunk are decided together.
  void openChunk();
  void closeChunk();
  Value openInherited(Value begin);
  void addSuspects();
  void resolve();
  Value judge(Value column);
  Value getColumnToken(Value column);
  void storeKept();
  void loadKept();
  Value isColumnKept(Value column) { return hasBit(kept, column); }
  /// Whether bit `column` of a set in workgroup memory is set; that bit.
  Value hasBit(Value set, Value column);
  Value getBit(Value column);

  /// Writes the nearest representative of token t, -1 for none, and counts t as
  /// its member.
  void writeNearest(Value t, Value owner,
                    llvm::function_ref<Value(Value)> getRank);

  // Helpers.
  void forTokens(Value begin, Value end, llvm::function_ref<void(Value)> body);
  /// The same where first of all something is loaded, for several tokens at
  /// once.
  void forLoaded(
      Value begin, Value end,
      llvm::function_ref<GpuBuilder::Values(Value)> load,
      llvm::function_ref<void(Value i, mlir::ArrayRef<Value> loaded)> body);
  GpuBuilder::Values at(Value i) {
    return head ? GpuBuilder::Values{head, i} : GpuBuilder::Values{i};
  }
  GpuBuilder::Values atHead() {
    return head ? GpuBuilder::Values{head} : GpuBuilder::Values{};
  }
  Value div32(Value a, Value b); ///< of numbers below 2^32
  bool hasColumns() const { return problem.rule != SelectRule::Paper; }
  bool hasHint() const { return problem.rule == SelectRule::Covering; }
  bool hasNearest() const { return problem.to.nearest || problem.to.weight; }
  /// Whether products with representatives also find the nearest of rows.
  bool findsNearest() const { return hasNearest() && problem.isCausal; }
  /// Whether products may leave sums, to find the nearest in them.
  bool canRecall() const {
    return problem.rule == SelectRule::All && findsNearest();
  }
  int64_t getNormRows() const;
  Value getNumNorms();

  GpuBuilder &b;
  SelectProblem problem;
  Value head;  ///< null where there is one selection
  Value theta; ///< the cosine that makes a token redundant
  int64_t heads, workgroups;
  int64_t groupTiles, loadsTogether; ///< the tile attribute's `group`, `loads`
  SelectRounds rounds;
  GramTile gram;
  Compact compact;
  Value begins[2];       ///< of a tile's rows and columns
  Value found;           ///< workgroup memory: a group of tiles
  Value places;          ///< workgroup memory: one for each thread
  Value kept, undecided; ///< workgroup memory: sets of columns
  Value numListed;       ///< and how many of them have been undecided
  // Workgroup memory for a group of rows: the largest cosines, which columns
  // cover them, and the scales of columns.
  Value bestOfGroup, bitsOfGroup, columnScales, rowScales;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECT_SELECTKERNEL_H
