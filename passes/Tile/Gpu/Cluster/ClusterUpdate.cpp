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
//   scores    tokens x clusters that there are, and tokens x tokens: products
//   decide    one wave, from founder to founder: the next one is the first
//             token that no cluster so far is like
//   link      tokens of one cluster form a list
//   mix       each list is added to the means of its cluster
//
// Then the call's own tokens go into the ring, over those that have left it.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
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

static Value compare(GpuBuilder &b, CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}

static Value toI32(GpuBuilder &b, Value index) {
  return arith::IndexCastOp::create(b, b.getI32Type(), index);
}

static Value toIndex(GpuBuilder &b, Value number) {
  return arith::IndexCastOp::create(b, b.getIndexType(), number);
}

static Value either(GpuBuilder &b, Value x, Value y) {
  return arith::OrIOp::create(b, x, y);
}

/// state = body(state) while condition(state).
static Values repeat(GpuBuilder &b, ValueRange start,
                     function_ref<Value(ValueRange)> condition,
                     function_ref<Values(ValueRange)> body) {
  TypeRange types(start);
  SmallVector<Location> locations(start.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, start);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  scf::ConditionOp::create(b, condition(before->getArguments()),
                           before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(b, body(after->getArguments()));
  return loop.getResults();
}

namespace {
class Update {
public:
  Update(GpuKernel &kernel, ClusterUpdateOp op)
      : emitter(kernel.emitter), b(kernel.b), op(op),
        keySize(op.getKeys().getType().getDimSize(1)),
        valueSize(op.getValues().getType().getDimSize(1)),
        scores(b, kernel.getTile<GpuClustersAttr>(), keySize),
        tokens(scores.getTokens()) {
    pairs =
        b.allocWorkgroup({ClusterScores::countPairs(tokens)}, b.getF32Type());
    for (Value *numbers : {&inverses, &best, &sizes})
      *numbers = b.allocWorkgroup({tokens}, b.getF32Type());
    for (Value *numbers : {&owners, &nexts})
      *numbers = b.allocWorkgroup({tokens}, b.getI32Type());
    grown = b.allocWorkgroup({1}, b.getI32Type());
  }

  LogicalResult emit();

private:
  void absorb(const ClusterHead &head);
  Value absorbPart(const ClusterHead &head, Value first, Value number,
                   Value count);
  void decide(const ClusterHead &head, Value first, Value number, Value count);
  void link(const ClusterHead &head, Value number, Value count);
  void mix(const ClusterHead &head, Value rows, bool areKeys);
  void append(const ClusterHead &head);

  ElementEmitter &emitter;
  GpuBuilder &b;
  ClusterUpdateOp op;
  int64_t keySize, valueSize;
  ClusterScores scores;
  int64_t tokens; ///< that are looked at at once
  Value head, layer, past;
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
  Value grown; ///< how many clusters there are now
};
} // namespace

//===----------------------------------------------------------------------===//
// Who founds a cluster, and who joins which
//===----------------------------------------------------------------------===//

void Update::decide(const ClusterHead &head, Value first, Value number,
                    Value count) {
  int64_t waveSize = b.getGpu().waveSize;
  int64_t ofLane = llvm::divideCeil(tokens, waveSize);
  Value isSink = b.compare(CmpIPredicate::sge, head.sinks, b.index(0));
  Value isCluster = b.negate(isSink);
  Value limit = toI32(
      b, b.select(isSink, b.min(head.sinks, head.capacity), head.capacity));
  Value none = b.i32(tokens);

  Values token, isThere, inverse, hasDirection, bests, owned, founded;
  for (int64_t i = 0; i < ofLane; ++i) {
    Value t = b.add(b.lane(), i * waveSize);
    isThere.push_back(b.isLess(t, number));
    t = b.min(t, b.index(tokens - 1));
    token.push_back(t);
    inverse.push_back(b.read(inverses, t));
    hasDirection.push_back(
        compare(b, CmpFPredicate::ONE, inverse.back(), b.f32(0)));
    bests.push_back(b.read(best, t));
    owned.push_back(b.read(owners, t));
    founded.push_back(b.i32(0));
  }
  // The first token from `from` on that is like no cluster.
  auto findNext = [&](Value from, ValueRange bests) {
    Value next = none;
    for (int64_t i = 0; i < ofLane; ++i) {
      Value cosine = arith::MulFOp::create(b, bests[i], inverse[i]);
      Value likeness =
          createLikeness(b, cosine, b.add(first, token[i]), head.theta);
      Value isAlike =
          b.both(b.both(isCluster, hasDirection[i]),
                 compare(b, CmpFPredicate::OGE, likeness, head.theta));
      Value t = toI32(b, token[i]);
      Value isOpen = b.both(b.both(isThere[i], b.negate(isAlike)),
                            b.compare(CmpIPredicate::sge, t, from));
      next = b.min(next, b.select(isOpen, t, none));
    }
    return b.waveReduce(next, GpuBuilder::Kind::MINSI);
  };

  Values state = {findNext(b.i32(0), bests), toI32(b, count)};
  for (const Values &part : {bests, owned, founded})
    llvm::append_range(state, part);
  state = repeat(
      b, state,
      [&](ValueRange state) {
        return b.both(b.isLess(state[0], none), b.isLess(state[1], limit));
      },
      [&](ValueRange state) {
        Value founder = state[0], cluster = state[1];
        Values bests(state.slice(2, ofLane)),
            owned(state.slice(2 + ofLane, ofLane)),
            founded(state.slice(2 + 2 * ofLane, ofLane));
        Value at = toIndex(b, founder);
        for (int64_t i = 0; i < ofLane; ++i) {
          Value isLater = b.isLess(at, token[i]);
          Value score = b.read(pairs, scores.getPair(token[i], at));
          Value isBetter =
              b.both(isLater, compare(b, CmpFPredicate::OGT, score, bests[i]));
          Value isFounder = b.compare(CmpIPredicate::eq, at, token[i]);
          bests[i] = b.select(isBetter, score, bests[i]);
          owned[i] =
              b.select(either(b, isBetter, isFounder), cluster, owned[i]);
          founded[i] = b.select(isFounder, b.i32(1), founded[i]);
        }
        Value after = arith::AddIOp::create(b, founder, b.i32(1));
        Values next = {findNext(after, bests),
                       arith::AddIOp::create(b, cluster, b.i32(1))};
        for (const Values &part : {bests, owned, founded})
          llvm::append_range(next, part);
        return next;
      });
  for (int64_t i = 0; i < ofLane; ++i) {
    Value owner = state[2 + ofLane + i];
    Value isFounder =
        b.compare(CmpIPredicate::eq, state[2 + 2 * ofLane + i], b.i32(1));
    Value joins = b.both(b.both(isCluster, hasDirection[i]),
                         b.compare(CmpIPredicate::sge, owner, b.i32(0)));
    Value takesPart = b.both(isThere[i], either(b, isFounder, joins));
    Value t = b.add(b.lane(), i * waveSize);
    b.ifThen(b.isLess(t, tokens), [&] {
      b.write(b.select(takesPart, owner, b.i32(-1)), owners, t);
    });
  }
  b.ifThen(b.isEqual(b.lane(), 0),
           [&] { b.write(state[1], grown, b.index(0)); });
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// Clusters from `count` on are new.
void Update::link(const ClusterHead &head, Value number, Value count) {
  Value t = b.thread(), zero = b.i32(0), one = b.i32(1);
  b.ifThen(b.isLess(t, tokens), [&] {
    Value mine = b.read(owners, t), self = toI32(b, t);
    Values found = b.loop(
        b.index(0), number, kOwnersAtOnce, {b.i32(tokens), zero, zero},
        [&](Value at, ValueRange carried) {
          Value next = carried[0], before = carried[1], all = carried[2];
          Value owned = b.read(owners, at, kOwnersAtOnce);
          for (int64_t i = 0; i < kOwnersAtOnce; ++i) {
            Value other = toI32(b, b.add(at, i));
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
    b.write(b.f32(-1), sizes, t);
    b.ifThen(isFirst, [&] {
      Value unit = b.add(head.unit, toIndex(b, mine));
      Value size = b.ifElse(
          b.isLess(mine, toI32(b, count)),
          [&] { return b.read(weights, unit); }, [&] { return b.f32(0); });
      Value more = arith::SIToFPOp::create(b, b.getF32Type(), found[2]);
      b.write(arith::AddFOp::create(b, size, more), weights, unit);
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
    Values members = repeat(
        b, {toI32(b, t), sum, b.f32(0)},
        [&](ValueRange state) { return b.isLess(state[0], b.i32(tokens)); },
        [&](ValueRange state) {
          Value at = toIndex(b, state[0]);
          Value x = b.toF32(scores.read(at, column));
          return Values{b.read(nexts, at),
                        arith::AddFOp::create(b, state[1], x),
                        arith::AddFOp::create(b, state[2], b.f32(1))};
        });
    Value cluster = toIndex(b, b.read(owners, t));
    Value row = b.add(head.meanRow, cluster);
    Value isNew = compare(b, CmpFPredicate::OEQ, old, b.f32(0));
    Value total = b.ifElse(
        isNew, [&]() -> Value { return members[1]; },
        [&]() -> Value {
          Value mean = b.toF32(b.read(rows, {row, column}, chunk));
          return b.fma(b.broadcast(old, chunk), mean, members[1]);
        });
    Value all = arith::AddFOp::create(b, old, members[2]);
    Value mean = arith::DivFOp::create(b, total, b.broadcast(all, chunk));
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
              b.ifThen(compare(b, CmpFPredicate::OGE, old, b.f32(0)), [&] {
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
  b.ifThen(b.isEqual(b.wave(), 0), [&] { decide(head, first, number, count); });
  b.barrier();
  link(head, number, count);
  b.barrier();
  mix(head, keys, /*areKeys=*/true);
  b.barrier();
  scores.load(values, getRow, /*inverses=*/Value());
  b.barrier();
  mix(head, values, /*areKeys=*/false);
  Value now = b.readNumber(grown, b.index(0));
  b.barrier(); // Workgroup memory is free, and tokens have been read.
  return now;
}

void Update::absorb(const ClusterHead &plan) {
  Value end = plan.getFirstExact(b, past);
  Value begin = plan.getFirstExact(b, b.sub(past, op.getBlock()));
  Value number = b.sub(end, begin);
  Value isBlock = b.isEqual(b.rem(past, op.getBlock()), 0);
  b.ifThen(b.both(isBlock, b.isLess(b.index(0), number)), [&] {
    Value count = b.readNumber(counts, {layer, head});
    auto absorbFrom = [&](Value from, Value count) {
      return absorbPart(plan, b.add(begin, from),
                        b.min(b.sub(number, from), b.index(tokens)), count);
    };
    if (op.getBlock() <= tokens)
      count = absorbFrom(b.index(0), count);
    else
      count = b.loop(b.index(0), number, tokens, count,
                     [&](Value from, ValueRange carried) {
                       return Values{absorbFrom(from, carried[0])};
                     })
                  .front();
    b.ifThen(b.isEqual(b.thread(), 0),
             [&] { b.write(toI32(b, count), counts, {layer, head}); });
  });
}

/// Writes the rows of this call into the ring.
void Update::append(const ClusterHead &plan) {
  Value place = plan.getPlace(b, past);
  Value number = emitter.size(op.getKey(), 0);
  int64_t chunk = scores.getChunk();
  for (auto [source, rows, size] :
       {std::tuple(op.getKey(), keys, keySize),
        std::tuple(op.getValue(), values, valueSize)}) {
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

LogicalResult Update::emit() {
  for (auto [tensor, buffer] :
       {std::pair(op.getKeys(), &keys), std::pair(op.getValues(), &values),
        std::pair(op.getUnits(), &units)}) {
    std::optional<MemoryAccess> memory = emitter.asMemory(tensor);
    if (!memory)
      return op.emitOpError("keeps its cache in a value that is not a buffer");
    *buffer = memory->buffer;
  }
  weights = emitter.asMemory(op.getWeights())->buffer;
  counts = emitter.asMemory(op.getCounts())->buffer;
  head = b.block(0);
  layer = emitter.number(op.getLayer());
  past = emitter.number(op.getPast());
  ClusterHead plan(emitter, op.getHeads(), layer, head);
  absorb(plan);
  append(plan);
  return success();
}

FailureOr<GpuGrid> gist::emitClusterUpdate(GpuKernel &kernel,
                                           ClusterUpdateOp op) {
  int64_t chunk =
      128 / getElementTypeOrSelf(op.getKeys()).getIntOrFloatBitWidth();
  for (Value rows : {op.getKeys(), op.getValues()})
    if (cast<RankedTensorType>(rows.getType()).getDimSize(1) % chunk != 0)
      return op.emitOpError("has heads whose size is not a multiple of ")
             << chunk << " numbers";
  auto end =
      cast<func::ReturnOp>(kernel.source.getBody().front().getTerminator());
  if (!llvm::equal(end.getOperands(), op.getResults()) ||
      !llvm::all_of(op.getDpsInits(), llvm::IsaPred<BlockArgument>))
    return op.emitOpError(
        "is not the only op whose results its kernel returns");
  if (failed(Update(kernel, op).emit()))
    return failure();
  return GpuGrid{
      kernel.b.getAffineConstantExpr(op.getKey().getType().getDimSize(1))};
}

/// Numbers of a key or a value, whichever has more.
static int64_t getLongest(ClusterUpdateOp op) {
  return std::max(op.getKeys().getType().getDimSize(1),
                  op.getValues().getType().getDimSize(1));
}

GpuClustersAttr gist::selectClusterUpdateTile(ClusterUpdateOp op,
                                              const GpuInfo &gpu) {
  return ClusterScores::selectTile(gpu, op.getBlock(), getLongest(op),
                                   op.getKeys().getType().getElementType());
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(expectTile<GpuClustersAttr>(kernel)))
    return failure();
  auto op = findRoot<ClusterUpdateOp>(kernel);
  auto tile = cast<GpuClustersAttr>(kernel->getAttr(kTileAttr));
  Type element = op.getKeys().getType().getElementType();
  if (tile.getElement() != element || tile.getColumns() < getLongest(op))
    return kernel.emitOpError("expects a tile of ")
           << element << " with at least " << getLongest(op) << " columns, got "
           << tile;
  return verifyInstruction(kernel, tile.getInstruction(), gpu);
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
      return selectClusterUpdateTile(findRoot<ClusterUpdateOp>(kernel), gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      return emitClusterUpdate(kernel,
                               findRoot<ClusterUpdateOp>(kernel.source));
    },
    .verify = verifyTile,
};
