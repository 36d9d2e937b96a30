//===- AttentionTileEmitter.h - A tile of attention -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_ATTENTIONTILEEMITTER_H
#define GIST_PASSES_TILE_CPU_ATTENTIONTILEEMITTER_H

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Tile/Cpu/AttentionLoops.h"

namespace gist {

/// Keys whose scores are formed together: one vector of results.
inline constexpr int64_t kKeys = 4;

/// Writes the loops of one tile; Attention.cpp says how they go.
class AttentionTileEmitter {
  using Value = mlir::Value;
  using Values = TileBuilder::Values;
  using Type = mlir::Type;

public:
  AttentionTileEmitter(TileBuilder &b, const AttentionTile &what,
                       CpuAttentionAttr tile)
      : b(b), what(what), step(tile.getKeys()),
        group(getType(what.query).getDimSize(1)),
        isPaired(tile.getInstruction() == Instruction::Bfmmla),
        maxRows(llvm::alignTo(tile.getQueries() * group,
                              isPaired ? tile.getRegisters() : 1)),
        rowsAtOnce(isPaired ? tile.getRegisters()
                            : countRows(what, tile.getRegisters())),
        headSize(getType(what.key).getShape().back()),
        valueSize(getType(what.value).getShape().back()),
        lanes(isPaired ? kKeys : countLanes(tile.getLanes())),
        f32(b.getF32Type()), bf16(b.getBF16Type()), queries(what.queries),
        keys(what.keys) {}
  /// With AMX tiles.
  AttentionTileEmitter(TileBuilder &b, const AttentionTile &what,
                       CpuAmxAttentionAttr tile)
      : AttentionTileEmitter(
            b, what,
            CpuAttentionAttr::get(tile.getContext(), tile.getQueries(),
                                  tile.getKeys(), tile.getLanes(),
                                  tile.getLanes(), Instruction::Fma)) {
    isTiled = true;
    maxRows = llvm::alignTo(maxRows, tile.getLanes());
  }

  Value emit(Value result);

  /// Whether vectors of more than four lanes have a key in each.
  bool isTransposed() const {
    return isWide() && getType(what.query).isDynamicDim(0);
  }

private:
  /// How many rows the tile has where that is known: of one token, mostly.
  static std::optional<int64_t> getNumRows(const AttentionTile &what) {
    std::optional<int64_t> queries = mlir::getConstantIntValue(what.queries);
    if (!queries)
      return std::nullopt;
    return *queries * getType(what.query).getDimSize(1);
  }
  /// Rows taken together: as many as registers allow, at most all rows.
  static int64_t countRows(const AttentionTile &what, int64_t limit) {
    return std::min(limit, getNumRows(what).value_or(limit));
  }

  /// Lanes of vectors: those of the target where heads fill them, and steps
  /// where keys are along them.
  int64_t countLanes(int64_t limit) const {
    bool isAlongKeys = getType(what.query).isDynamicDim(0);
    // The number of rows is dynamic, and their buffer may be only partly used.
    if (!isAlongKeys && !getNumRows(what))
      return kKeys;
    while (limit > kKeys && (headSize % limit || valueSize % limit ||
                             (isAlongKeys && step % (4 * limit))))
      limit /= 2;
    return std::max(limit, kKeys);
  }
  bool isWide() const { return lanes > kKeys; }
  /// Whether rows are so few that each key is multiplied once: widening a step
  /// first would only write and read it.
  bool readsInPlace() const {
    std::optional<int64_t> rows = getNumRows(what);
    return !isPaired && !isTiled && !what.make && rows && *rows <= rowsAtOnce;
  }

  /// Running maxima, sums and outputs of the rows, in this order.
  using State = Values;

  /// Keys and values of a step, as they are multiplied; what scores and weights
  /// are multiplied with, and what is added to scores. Without `k` and `v`,
  /// rows are read where they lie.
  struct Step {
    Value first, k = {}, v = {};
    Value keyScales = {}, valueScales = {}, bias = {}, pairBias = {};
  };
  /// Neighbours of row `i` of a step's keys or values, from `at` on, where
  /// `place` is what locateRow says of it.
  Value readRow(Value widened, Value source, Value i, const Values &place,
                Value at);
  Values locateRow(const Step &keys, Value i);
  /// Asks for `count` numbers, from number `at` on, of the row of `source` that
  /// comes `what.ahead` keys after number `n`.
  void emitPrefetch(Value source, Value n, Value at, int64_t count);

  static mlir::RankedTensorType getType(Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  Value emitQueries();
  Value emitWiden(Value source, Value first, Value count, int64_t size);
  Value emitColumn(Value count, llvm::function_ref<Value(Value i)> read);
  Value emitScales(Value scales, Value first, Value count);
  Value emitBias(Value first, Value count);
  /// `numbers` of neighbouring keys from number `at` of a step on, each times
  /// its scale where there are scales.
  Value scaleBy(Value scales, Value numbers, Value at) {
    if (!scales)
      return numbers;
    auto type = mlir::cast<mlir::VectorType>(numbers.getType());
    return mlir::arith::MulFOp::create(b, numbers, b.read(scales, at, type));
  }
  Step emitStep(Value first);
  Value getFirstSeen();
  State emitSteps(
      State state,
      llvm::function_ref<State(Value first, const State &state)> emitStep);
  State emitRows(Value row, int64_t rows, const Step &keys, State state);
  Value emitScores(Value row, int64_t rows, const Step &keys);
  Value emitMask(Value scores, Value query, Value key);
  Value emitSeen(Value ids, Value here);
  Value emitExp2(Value x);
  Values emitOutput(Value row, int64_t rows, Value p, Values factors,
                    const Step &keys, Value out);
  State emitKeys();
  Value emitResult(State state, Value result);

  // Keys in parts: see AttentionParts.cpp.
  bool hasParts() const {
    return what.part && mlir::isConstantIntValue(what.queries, 1);
  }
  Value emitPart(Value result);
  Value emitOneOfMany(const State &state, Value parts, Value result);
  Value locatePart(Value part, Value row);
  void storePart(const State &state);
  Value countFinished();
  State joinParts(Value parts);

  // With keys along more than four lanes: see WideAttention.cpp.
  Value emitTransposed(Value k);
  Value emitWideScores(Value row, int64_t rows, const Step &keys);

  // By tiles of AMX: see AmxAttention.cpp.
  /// What goes through memory: operands, a step's scores and weights, and the
  /// running maxima, sums and outputs of the rows.
  struct Tiled {
    Value rows, keys, values, weights, scores, outputs, turned;
    Value largest, sums, positions;
  };
  void emitTiledRows(const Tiled &tiled, Value number);
  void emitTiledKeys(const Tiled &tiled, Value first, Value count);
  void emitTiledValues(const Tiled &tiled, Value first, Value count);
  Value emitTiledMask(const Tiled &tiled, Value score, Value number, Value key);
  Value emitTiledWeights(const Tiled &tiled, Value number, const Step &keys);
  void emitTiledStep(const Tiled &tiled, Value number, const Step &keys);
  Value emitTiledResult(const Tiled &tiled, Value number, Value result);
  Value emitTiled(Value result);

  // With bfmmla: see PairedAttention.cpp.
  Value emitPairs(Value count, int64_t size, Value buffer,
                  llvm::function_ref<Value(Value row, int64_t at)> read);
  Value emitPairedQueries();
  Value emitPairedKeys(Value first, Value count);
  Value emitPairedValues(Value first, Value count);
  Value emitPairedScores(Value row, const Step &keys);
  Value emitPairedOutput(Value row, Value p, Values factors, Value v,
                         Value out);
  Value emitPairedResult(State state, Value result);
  Value emitPaired(Value result);
  Value countKeys(Value first);
  Value getPair(Value row) { return divide(row, 2, false); }
  /// Pairs of rows in whole tiles.
  Value countPairs() {
    return b.mul(b.ceilDiv(b.mul(queries, group), rowsAtOnce), rowsAtOnce / 2);
  }
  /// sum + x y, squares of 2 x 2.
  Value multiply(Value sum, Value x, Value y) {
    return mlir::LLVM::CallIntrinsicOp::create(
               b, sum.getType(), b.getStringAttr("llvm.aarch64.neon.bfmmla"),
               mlir::ValueRange{sum, x, y})
        .getResult(0);
  }
  /// Rounds finite numbers to bf16, ties away from zero: one addhn.
  Value narrow(Value vector) {
    int64_t lanes =
        mlir::cast<mlir::VectorType>(vector.getType()).getNumElements();
    auto splat = [&](double x) { return b.splat(lanes, b.getI32Type(), x); };
    Value sum = mlir::arith::AddIOp::create(
        b, b.bitcast(vector, b.getI32Type()), splat(0x8000));
    Value high = mlir::arith::ShRUIOp::create(b, sum, splat(16));
    return b.bitcast(mlir::arith::TruncIOp::create(
                         b, b.vectorOf(lanes, b.getI16Type()), high),
                     bf16);
  }
  /// `row`, or the last of `count`.
  Value clamp(Value row, Value count) {
    return mlir::arith::MinSIOp::create(b, row, b.add(count, -1));
  }
  /// Eight numbers of key or value number `n`.
  Value readSource(Value source, Value n, int64_t at) {
    Values indices = what.locate(b, n);
    indices.push_back(b.index(at));
    return narrow(b.readF32(source, indices, 8));
  }

  /// The query of a row, and its head within the group.
  Value getQuery(Value row) { return divide(row, group, false); }
  Value getHead(Value row) { return divide(row, group, true); }
  Value divide(Value row, int64_t by, bool isRemainder) {
    mlir::AffineExpr d0 = b.getAffineDimExpr(0);
    return mlir::getValueOrCreateConstantIndexOp(
        b, b.getLoc(),
        mlir::affine::makeComposedFoldedAffineApply(
            b, b.getLoc(), isRemainder ? d0 % by : d0.floorDiv(by),
            {mlir::OpFoldResult(row)}));
  }
  Value constant(double value) {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value toI32(Value index) {
    return mlir::arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value c) {
    return mlir::arith::CmpIOp::create(b, predicate, a, c);
  }

  TileBuilder &b;
  const AttentionTile &what;
  int64_t step, group;
  bool isPaired;
  bool isTiled = false;
  bool isMasked = true; ///< some query does not see some key of this step
  int64_t maxRows, rowsAtOnce, headSize, valueSize, lanes;
  Type f32, bf16;
  Value queries, keys;
  /// The part of the keys that is looked at; null: all that are seen.
  Value firstKey, endKey;
  Value keyBuffer, valueBuffer; ///< to fetch from; null: rows are not fetched
  Value q; ///< the rows' queries as they are multiplied, times the scale
};

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_ATTENTIONTILEEMITTER_H
