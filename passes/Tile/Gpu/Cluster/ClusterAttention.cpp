//===- ClusterAttention.cpp - Attention on a cache of clusters on GPUs ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a head sees, its clusters and then the tokens it keeps exactly, are keys
// in a row of which the queries are the last: dense causal attention with rows
// that must be looked up and something added to the scores of clusters. Here is
// that of one query; ClusterQueries.cpp has the others.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelKinds.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "passes/Tile/Gpu/Cluster/ClusterKeys.h"
#include "passes/Tile/Gpu/Cluster/ClusterParts.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;

/// Query heads of a workgroup. With more a lane of gfx942 has no registers for
/// counts beside a step's keys and values: it takes their logarithms at once,
/// in a branch that keeps values back.
static constexpr int64_t kHeadsWithCounts = 6;

static DecodeHeads getDecodeHeads(ClusterAttentionOp op) {
  return {op.getQuery().getType().getDimSize(1),
          op.getHeads().getType().getDimSize(1),
          op.getValues().getType().getDimSize(1)};
}

static bool keepsCounts(ClusterAttentionOp op, const GpuInfo &gpu) {
  DecodeHeads heads = getDecodeHeads(op);
  return gpu.kind == GpuKind::Nvidia ||
         getDecodeSplit(heads.numHeads, heads.kvHeads, gpu).heads <=
             kHeadsWithCounts;
}

namespace {
class CacheKeys final : public DecodeKeys {
public:
  CacheKeys(ElementEmitter &emitter, ClusterAttentionOp op, Value kvHead,
            const KnownKeys &known)
      : emitter(emitter), b(emitter.getBuilder()), op(op),
        update(findUpdate(op)), kvHead(kvHead), known(known),
        seen(emitter, op, kvHead, known),
        hasCounts(keepsCounts(op, b.getGpu())) {
    count = hasOwn() ? seen.getBefore() : b.add(seen.getBefore(), 1);
    // Of a window of the model the first keys are seen no more.
    start = b.index(0);
    if (std::optional<int64_t> window = this->op.getWindow()) {
      start = b.max(b.sub(count, *window), start);
      count = b.sub(count, start);
    }
  }

  Value getCount() override { return count; }
  bool hasOwn() const override {
    return !ClusterAttentionOp(op).getOwn().empty();
  }
  Value readOwn(bool isKey, Value column, int64_t width) override {
    return emitter.elements(op.getOwn()[isKey ? 0 : 1],
                            {b.index(0), kvHead, column}, width);
  }
  Value getRow(Value number) override {
    return seen.getRow(b, b.add(start, number));
  }
  Value readKey(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getKeys(), {row, column}, width);
  }
  Value readValue(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getValues(), {row, column}, width);
  }
  Value readBias(Value number, Value) override {
    Value key = b.add(start, number);
    return hasCounts ? seen.readCount(b, key)
                     : seen.getLogCount(b, key, b.index(0));
  }
  Value getBias(Value number, Value stored) override {
    return hasCounts ? seen.finishCount(b, b.add(start, number), stored)
                     : stored;
  }
  bool makesOwn() const override { return update != nullptr; }
  /// In the ring, whose row for this token no query of the call reads: a ring
  /// has room for a window and a block.
  void writeOwn(bool isKey, Value column, Value numbers) override {
    TypedValue<RankedTensorType> cache =
        isKey ? update.getKeys() : update.getValues();
    Value row = known.head.getRow(b, known.place, known.exact);
    b.write(b.convert(numbers, cache.getType().getElementType()),
            emitter.asMemory(cache)->buffer, {row, column});
  }
  unsigned getResult() const override { return getResultNumber(op); }

private:
  ElementEmitter &emitter;
  GpuBuilder &b;
  // Getters of ops are not const.
  mutable ClusterAttentionOp op;
  mutable ClusterUpdateOp update;
  Value kvHead;
  KnownKeys known;
  SeenKeys seen;
  bool hasCounts;     ///< rather than their logarithms, where keys are read
  Value start, count; ///< the first key that is seen, and how many are
};
} // namespace

static bool isOneQuery(ClusterAttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

/// Kernels may be written by hand: what they put into the cache are the rows
/// that attention reads beside it, and they give all of it back.
static LogicalResult verifyStoredRows(ClusterAttentionOp op) {
  ClusterUpdateOp update = findUpdate(op);
  if (!update)
    return success();
  auto isArgument = llvm::IsaPred<BlockArgument>;
  auto isReturned = [](Value result) {
    return llvm::any_of(result.getUsers(), llvm::IsaPred<func::ReturnOp>);
  };
  if (op.getOwn().size() == 2 && op.getOwn()[0] == update.getKey() &&
      op.getOwn()[1] == update.getValue() &&
      op.getHeads() == update.getHeads() && op.getPast() == update.getPast() &&
      op.getLayer() == update.getLayer() && op.getKeys() == update.getKeys() &&
      op.getValues() == update.getValues() &&
      llvm::all_of(update.getDpsInits(), isArgument) &&
      llvm::all_of(update->getResults(), isReturned))
    return success();
  return op.emitOpError("is in a kernel with a 'gist.cluster_update'; expects "
                        "it to store the keys and values that 'own' gives, and "
                        "all of the cache to be returned");
}

static FailureOr<GpuGrid> emitOneQuery(GpuKernel &kernel,
                                       ClusterAttentionOp op) {
  DecodeHeads heads = getDecodeHeads(op);
  FailureOr<DecodeParts> parts = findDecodeParts(kernel, op, heads);
  if (failed(parts))
    return failure();
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            heads.kvHeads, heads.valueSize,
                            op.getEffectiveScale(), *parts);
  // Which keys a workgroup has follows from numbers and the table, so that it
  // is known when the kernels before are over.
  bool isEarly = isConstant(op.getHeads());
  if (!isEarly)
    waitForGrids(kernel.b);
  if (parts->count > 1 && kernel.b.getGpu().kind == GpuKind::Nvidia) {
    SmallVector<Value> most;
    for (int64_t head = 0; head < heads.kvHeads; ++head) {
      most.push_back(KnownKeys(kernel.emitter, op, kernel.b.index(head))
                         .getMost(kernel.b));
      if (std::optional<int64_t> window = op.getWindow())
        most.back() = kernel.b.min(most.back(), kernel.b.index(*window));
    }
    attention.shareByKeys(most);
  }
  KnownKeys known(kernel.emitter, op, attention.getKvHead());
  if (isEarly)
    waitForGrids(kernel.b);
  CacheKeys keys(kernel.emitter, op, attention.getKvHead(), known);
  attention.emit(keys);
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}

FailureOr<GpuGrid> gist::emitClusterAttention(GpuKernel &kernel,
                                              ClusterAttentionOp op) {
  for (Value rows : {op.getKeys(), op.getValues()})
    // Eight f16 are sixteen bytes, the widest access.
    if (cast<RankedTensorType>(rows.getType()).getDimSize(1) % 8 != 0)
      return op.emitOpError(
          "has heads whose size is not a multiple of 8 numbers");
  if (failed(verifyStoredRows(op)))
    return failure();
  return isOneQuery(op) ? emitOneQuery(kernel, op)
                        : emitClusterQueries(kernel, op);
}

GpuTileInterface gist::selectClusterAttentionTile(ClusterAttentionOp op,
                                                  const GpuInfo &gpu) {
  if (isOneQuery(op))
    return getDecodeTile(op.getContext(), gpu);
  GpuAttentionAttr tile =
      getCausalTile(op.getKeys().getType(), op.getValues().getType(),
                    op.getOutput().getType(), gpu);
  // Loops for clusters, the ring and the call's own keys share registers: with
  // shorter steps three workgroups fit a compute unit where two do.
  constexpr int64_t kKeys = 64;
  if (op.getOwn().empty() || tile.getKeys() <= kKeys ||
      tile.getInstruction() != Instruction::Wgmma64x128x16)
    return tile;
  return GpuAttentionAttr::get(op.getContext(), tile.getRows(), kKeys,
                               tile.getNumWaves(), tile.getStages(),
                               tile.getInstruction(), tile.getElement());
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  auto op = findRoot<ClusterAttentionOp>(kernel);
  if (isOneQuery(op))
    return expectTile<GpuDecodeAttr>(kernel);
  return verifyAttentionTile(kernel, op.getKeys().getType(),
                             op.getValues().getType(), op.getOutput().getType(),
                             gpu);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuClusterAttentionKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuClusterAttentionKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return selectClusterAttentionTile(findRoot<ClusterAttentionOp>(kernel),
                                        gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      return emitClusterAttention(kernel,
                                  findRoot<ClusterAttentionOp>(kernel.source));
    },
    .verify = verifyTile,
    .scratch = getClusterScratch,
};
