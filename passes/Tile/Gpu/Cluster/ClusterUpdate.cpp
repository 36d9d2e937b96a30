//===- ClusterUpdate.cpp - Tokens go into a cache of clusters on GPUs -----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has a KV head. Clusters never change their unit, so that all that
// depends on the order of tokens is which of them found clusters:
//
//   scores    tokens x existing clusters, and tokens x tokens: products
//   decide    in rounds of all tokens (ClusterDecide.h)
//   link      tokens of one cluster form a list
//   mix       each list is added to the means of its cluster
//
// Then the call's own tokens go into the ring, over those that have left it;
// or that is left to other kernels (ClusterAppend.cpp), and a workgroup has a
// head of any layer.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Cluster/ClusterDecide.h"
#include "passes/Tile/Gpu/Cluster/ClusterScores.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tokens that are looked at at once when lists are made.
static constexpr int64_t kOwnersAtOnce = 4;

static int64_t getWidth(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getDimSize(1);
}

namespace {
/// Emits a ClusterUpdateOp or a ClusterAbsorbOp.
class Update {
public:
  template <typename OpTy>
  Update(GpuKernel &kernel, OpTy op)
      : emitter(kernel.emitter), b(kernel.b), op(op), heads(op.getHeads()),
        cache(op.getDpsInits()), block(op.getBlock()),
        keySize(getWidth(op.getKeys())), valueSize(getWidth(op.getValues())),
        scores(b, kernel.getTile<GpuClustersAttr>(), keySize),
        decide(b, scores), tokens(scores.getTokens()), head(b.block(0)),
        past(kernel.emitter.number(op.getPast())) {
    pairs =
        b.allocWorkgroup({ClusterScores::countPairs(tokens)}, b.getF32Type());
    for (Value *numbers : {&inverses, &best, &sizes})
      *numbers = b.allocWorkgroup({tokens}, b.getF32Type());
    for (Value *numbers : {&owners, &nexts})
      *numbers = b.allocWorkgroup({tokens}, b.getI32Type());
  }

  /// Lets tokens leave the window of this workgroup's head of `layer`.
  LogicalResult emitAbsorb(Value layer);
  /// And puts those of a call into its ring.
  LogicalResult emit(ClusterUpdateOp update);

private:
  void absorb(const ClusterHead &head);
  Value absorbPart(const ClusterHead &head, Value first, Value number,
                   Value count);
  void link(const ClusterHead &head, Value number, Value count);
  void mix(const ClusterHead &head, Value rows, bool areKeys);
  void append(ClusterUpdateOp update, const ClusterHead &head);

  ElementEmitter &emitter;
  GpuBuilder &b;
  Operation *op;
  Value heads;
  Values cache;
  int64_t block, keySize, valueSize;
  ClusterScores scores;
  ClusterDecide decide;
  int64_t tokens; ///< that are looked at at once
  Value head, past, layer;
  Value keys, values, units, weights, counts;

  // Workgroup memory.
  /// Products of tokens with the units of earlier ones.
  Value pairs;
  /// For each token: one over the norm of its key, 0 where it has no direction;
  /// the largest product with a unit; the cluster that has it, and then the one
  /// that the token joins or founds, -1 for none.
  Value inverses, best, owners;
  /// The next token of the same cluster, `tokens` for none; for the first one
  /// of a cluster the members that it had, else -1.
  Value nexts, sizes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// Clusters from `count` on are new.
void Update::link(const ClusterHead &head, Value number, Value count) {
  Value t = b.thread(), zero = b.i32(0), one = b.i32(1);
  b.ifThen(b.isLess(t, tokens), [&] {
    Value mine = b.read(owners, t), self = b.toI32(t);
    Values found = b.loop(
        b.index(0), number, kOwnersAtOnce, {b.i32(tokens), zero, zero},
        [&](Value at, ValueRange carried) {
          Value next = carried[0], before = carried[1], all = carried[2];
          // May read behind `number`: `owners` has -1 there, and memory for
          // `tokens`.
          Value owned = b.read(owners, at, kOwnersAtOnce);
          for (int64_t i = 0; i < kOwnersAtOnce; ++i) {
            Value other = b.toI32(b.add(at, i));
            Value isSame =
                b.compare(CmpIPredicate::eq, b.extract(owned, i), mine);
            Value isNext = b.both(isSame, b.isLess(self, other));
            Value isBefore = b.both(isSame, b.isLess(other, self));
            next = b.select(isNext, b.min(next, other), next);
            before = b.select(isBefore, one, before);
            all = arith::AddIOp::create(b, all, b.select(isSame, one, zero));
          }
          return Values{next, before, all};
        });
    Value isFirst = b.both(b.compare(CmpIPredicate::sge, mine, zero),
                           b.compare(CmpIPredicate::eq, found[1], zero));
    b.write(found[0], nexts, t);
    // mix() takes the first token of each list and skips the others.
    b.write(b.f32(-1), sizes, t);
    b.ifThen(isFirst, [&] {
      Value unit = b.add(head.unit, b.toIndex(mine));
      Value size = b.ifElse(
          b.isLess(mine, b.toI32(count)), [&] { return b.read(weights, unit); },
          [&] { return b.f32(0); });
      Value more = arith::SIToFPOp::create(b, b.getF32Type(), found[2]);
      b.write(b.add(size, more), weights, unit);
      b.write(size, sizes, t);
    });
  });
}

/// Adds the tokens in workgroup memory to the means in `rows`.
void Update::mix(const ClusterHead &head, Value rows, bool areKeys) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1);
  int64_t chunk = scores.getChunk();
  Type element = cast<MemRefType>(rows.getType()).getElementType();
  ClusterScores::Team team = scores.getTeam(size);
  auto mixChunk = [&](Value t, Value old, Value column) {
    Value sum = b.constant(b.vectorOf(chunk, b.getF32Type()), 0);
    Values members = b.loopWhile(
        {b.toI32(t), sum, b.f32(0)},
        [&](ValueRange state) { return b.isLess(state[0], b.i32(tokens)); },
        [&](ValueRange state) {
          Value at = b.toIndex(state[0]);
          Value x = b.toF32(scores.read(at, column));
          return Values{b.read(nexts, at), b.add(state[1], x),
                        b.add(state[2], b.f32(1))};
        });
    Value cluster = b.toIndex(b.read(owners, t));
    Value row = b.add(head.meanRow, cluster);
    // A new cluster has a row that was never written, which may hold a NaN.
    Value isNew = b.compare(CmpFPredicate::OEQ, old, b.f32(0));
    Value total = b.ifElse(
        isNew, [&]() -> Value { return members[1]; },
        [&]() -> Value {
          Value mean = b.toF32(b.read(rows, {row, column}, chunk));
          return b.fma(b.broadcast(old, chunk), mean, members[1]);
        });
    Value all = b.add(old, members[2]);
    Value mean = b.div(total, b.broadcast(all, chunk));
    b.write(b.convert(mean, element), rows, {row, column});
    if (areKeys)
      b.ifThen(isNew, [&] {
        Value unit =
            scores.makeUnit(scores.read(t, column), b.read(inverses, t));
        b.write(unit, units, {b.add(head.unit, cluster), column});
      });
  };
  b.forEach(team.number, b.index(tokens), b.index(b.getThreads() / team.lanes),
            [&](Value t) {
              Value old = b.read(sizes, t);
              b.ifThen(b.compare(CmpFPredicate::OGE, old, b.f32(0)), [&] {
                for (int64_t piece = 0; piece < team.pieces; ++piece) {
                  Value column = team.getColumn(b, piece, chunk);
                  b.ifThen(b.isLess(column, size),
                           [&] { mixChunk(t, old, column); });
                }
              });
            });
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// Absorbs `number` tokens from `first` on; returns how many clusters there are
/// then.
Value Update::absorbPart(const ClusterHead &head, Value first, Value number,
                         Value count) {
  Value place = head.getPlace(b, first);
  auto getRow = [&](Value i) {
    return head.getRow(b, place, b.min(i, b.sub(number, 1)));
  };
  scores.load(keys, getRow, inverses);
  b.ifThen(b.isLess(b.thread(), tokens), [&] {
    b.write(b.f32(-kInfinity), best, b.thread());
    b.write(b.i32(-1), owners, b.thread());
  });
  b.barrier();
  scores.findBest(units, head.unit, count, best, owners);
  scores.findPairs(inverses, pairs);
  b.barrier();
  Value now =
      decide.emit({pairs, inverses, best, owners}, head, first, number, count);
  b.barrier();
  link(head, number, count);
  b.barrier();
  mix(head, keys, /*areKeys=*/true);
  b.barrier();
  scores.load(values, getRow, /*inverses=*/Value());
  b.barrier();
  mix(head, values, /*areKeys=*/false);
  b.barrier(); // Workgroup memory is free, and tokens have been read.
  return now;
}

void Update::absorb(const ClusterHead &plan) {
  Value end = plan.getFirstExact(b, past);
  Value begin = plan.getFirstExact(b, b.sub(past, block));
  // The first tokens are the sinks, the others are dropped.
  Value isSink = b.compare(CmpIPredicate::sge, plan.sinks, b.index(0));
  end = b.select(isSink, b.min(end, plan.sinks), end);
  Value number = b.sub(end, begin);
  // Tokens leave when a block begins. Calls inside of one only append.
  Value isBlock = b.isEqual(b.rem(past, block), 0);
  b.ifThen(b.both(isBlock, b.isLess(b.index(0), number)), [&] {
    Value count = b.readNumber(counts, {layer, head});
    auto absorbFrom = [&](Value from, Value count) {
      return absorbPart(plan, b.add(begin, from),
                        b.min(b.sub(number, from), b.index(tokens)), count);
    };
    // At most a block leaves at once, so a loop of one step is not a loop.
    if (block <= tokens)
      count = absorbFrom(b.index(0), count);
    else
      count = b.loop(b.index(0), number, tokens, count,
                     [&](Value from, ValueRange carried) {
                       return Values{absorbFrom(from, carried[0])};
                     })
                  .front();
    b.ifThen(b.isEqual(b.thread(), 0),
             [&] { b.write(b.toI32(count), counts, {layer, head}); });
  });
}

/// Writes the rows of this call into the ring.
void Update::append(ClusterUpdateOp update, const ClusterHead &plan) {
  Value place = plan.getPlace(b, past);
  Value number = emitter.size(update.getKey(), 0);
  int64_t chunk = scores.getChunk();
  for (auto [source, rows, size] :
       {std::tuple(update.getKey(), keys, keySize),
        std::tuple(update.getValue(), values, valueSize)}) {
    int64_t chunks = size / chunk;
    b.forEach(b.thread(), b.mul(number, chunks), b.index(b.getThreads()),
              [&, source = source, rows = rows](Value item) {
                Value i = b.div(item, chunks);
                Value column = b.mul(b.rem(item, chunks), chunk);
                b.write(emitter.elements(source, {i, head, column}, chunk),
                        rows, {plan.getRow(b, place, i), column});
              });
  }
}

LogicalResult Update::emitAbsorb(Value ofLayer) {
  layer = ofLayer;
  Value *buffers[] = {&keys, &values, &units, &weights, &counts};
  for (auto [tensor, buffer] : llvm::zip_equal(cache, buffers)) {
    std::optional<MemoryAccess> memory = emitter.asMemory(tensor);
    if (!memory)
      return op->emitOpError("keeps its cache in a value that is not a buffer");
    *buffer = memory->buffer;
  }
  absorb(readHead(emitter, heads, layer, head));
  return success();
}

LogicalResult Update::emit(ClusterUpdateOp update) {
  if (failed(emitAbsorb(emitter.number(update.getLayer()))))
    return failure();
  append(update, readHead(emitter, heads, layer, head));
  return success();
}

/// What both ops ask of their kernel.
/// An op that is fused with others would need their code in this one.
template <typename OpTy>
static LogicalResult verifyUpdate(GpuKernel &kernel, OpTy op) {
  int64_t chunk =
      128 / getElementTypeOrSelf(op.getKeys()).getIntOrFloatBitWidth();
  for (Value rows : {op.getKeys(), op.getValues()})
    if (getWidth(rows) % chunk != 0)
      return op.emitOpError("has heads whose size is not a multiple of ")
             << chunk << " numbers";
  auto end =
      cast<func::ReturnOp>(kernel.source.getBody().front().getTerminator());
  if (!llvm::equal(end.getOperands(), op->getResults()) ||
      !llvm::all_of(op.getDpsInits(), llvm::IsaPred<BlockArgument>))
    return op.emitOpError(
        "is not the only op whose results its kernel returns");
  return success();
}

FailureOr<GpuGrid> gist::emitClusterUpdate(GpuKernel &kernel,
                                           ClusterUpdateOp op) {
  if (failed(verifyUpdate(kernel, op)))
    return failure();
  if (op.getAbsorbed())
    return emitClusterAppend(kernel, op);
  if (failed(Update(kernel, op).emit(op)))
    return failure();
  return GpuGrid{
      kernel.b.getAffineConstantExpr(op.getKey().getType().getDimSize(1))};
}

/// 1 where `past` is a positive multiple of `block`, else 0.
static AffineExpr isNextBlock(AffineExpr past, int64_t block) {
  // More than any text has tokens: divided by it, only 0 stays 0.
  constexpr int64_t kMany = int64_t{1} << 40;
  return past.ceilDiv(kMany) - (past % block).ceilDiv(block);
}

FailureOr<GpuGrid> gist::emitClusterAbsorb(GpuKernel &kernel,
                                           ClusterAbsorbOp op) {
  if (failed(verifyUpdate(kernel, op)) ||
      failed(Update(kernel, op)
                 .emitAbsorb(kernel.b.add(kernel.b.block(1), op.getBegin()))))
    return failure();
  FailureOr<AffineExpr> past = getSizeExpr(kernel.source, op.getPast());
  if (failed(past))
    return op.emitOpError(
        "expects the tokens before the call to be a number of its kernel");
  // Most calls end no block. An empty grid is not launched, so no kernel waits
  // for it.
  return GpuGrid{
      kernel.b.getAffineConstantExpr(op.getHeads().getType().getDimSize(1)),
      kernel.b.getAffineConstantExpr(op.getEnd() - op.getBegin()),
      isNextBlock(*past, op.getBlock())};
}

/// Numbers of a key or a value, whichever has more.
template <typename OpTy> static int64_t getLongest(OpTy op) {
  return std::max(getWidth(op.getKeys()), getWidth(op.getValues()));
}

/// How the tokens that leave a window are cut.
template <typename OpTy>
static GpuClustersAttr selectAbsorbTile(OpTy op, const GpuInfo &gpu) {
  return ClusterScores::selectTile(gpu, op.getBlock(), getLongest(op),
                                   op.getKeys().getType().getElementType());
}

template <typename OpTy>
static LogicalResult verifyAbsorbTile(func::FuncOp kernel, OpTy op,
                                      const GpuInfo &gpu) {
  if (failed(expectTile<GpuClustersAttr>(kernel)))
    return failure();
  auto tile = cast<GpuClustersAttr>(kernel->getAttr(kTileAttr));
  Type element = op.getKeys().getType().getElementType();
  if (tile.getElement() != element || tile.getColumns() < getLongest(op))
    return kernel.emitOpError("expects a tile of ")
           << element << " with at least " << getLongest(op) << " columns, got "
           << tile;
  return verifyInstruction(kernel, tile.getInstruction(), gpu);
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (auto absorb = findRoot<ClusterAbsorbOp>(kernel))
    return verifyAbsorbTile(kernel, absorb, gpu);
  auto update = findRoot<ClusterUpdateOp>(kernel);
  return update.getAbsorbed() ? expectTile<GpuRowsAttr>(kernel)
                              : verifyAbsorbTile(kernel, update, gpu);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuClusterUpdateKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuClusterUpdateKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      if (auto absorb = findRoot<ClusterAbsorbOp>(kernel))
        return selectAbsorbTile(absorb, gpu);
      auto update = findRoot<ClusterUpdateOp>(kernel);
      if (update.getAbsorbed())
        return selectClusterAppendTile(update, gpu);
      return selectAbsorbTile(update, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      if (auto absorb = findRoot<ClusterAbsorbOp>(kernel.source))
        return emitClusterAbsorb(kernel, absorb);
      return emitClusterUpdate(kernel,
                               findRoot<ClusterUpdateOp>(kernel.source));
    },
    .verify = verifyTile,
};
