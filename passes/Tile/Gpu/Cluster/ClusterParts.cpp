//===- ClusterParts.cpp - Attention in parts of its keys ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterParts.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"

using namespace mlir;
using namespace gist;

/// Steps that a part has at least: fewer do not pay for starting a workgroup
/// and for putting parts together.
static constexpr int64_t kLeastSteps = 16;
/// Parts of a block of queries, at most: more take more memory. A call with
/// workgroups for `kManyRounds` rounds has no parts.
static constexpr int64_t kMostParts = 4, kManyRounds = 2;
/// Numbers of a row beside its outputs, and what outputs are filled up to.
static constexpr int64_t kRowWords = 8, kFragmentColumns = 32;
/// Parts are cut so that a place has this many of them.
static constexpr int64_t kPartsOfPlace = 3;

PartSteps::PartSteps(GpuBuilder &b, KeySteps &all, Value begin, Value end)
    : all(all) {
  Value zero = b.index(0), steps = all.getCount(b);
  this->begin = b.min(b.max(begin, zero), steps);
  count = b.max(b.sub(b.min(end, steps), this->begin), zero);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t getGroup(ClusterAttentionOp op) {
  return op.getQuery().getType().getDimSize(1) /
         op.getHeads().getType().getDimSize(1);
}

int64_t gist::getAttentionPlaces(ClusterAttentionOp op, GpuAttentionAttr tile,
                                 const GpuInfo &gpu) {
  // Queries, and two steps of keys and values; and what a workgroup takes
  // besides. Registers allow three.
  constexpr int64_t kReserved = 2048, kStages = 2, kBytes = 2, kMost = 3;
  int64_t keySize = op.getKeys().getType().getDimSize(1);
  int64_t valueSize = op.getValues().getType().getDimSize(1);
  int64_t memory = kBytes * (tile.getRows() * std::max(keySize, valueSize) +
                             kStages * tile.getKeys() * (keySize + valueSize));
  return gpu.computeUnits *
         std::clamp<int64_t>(gpu.workgroupMemory / (memory + kReserved), 1,
                             kMost);
}

FailureOr<KernelScratch> gist::getClusterScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  auto op = findRoot<ClusterAttentionOp>(kernel);
  const GpuInfo *gpu = getGpuTarget(kernel->getParentOfType<ModuleOp>());
  if (!gpu)
    return failure();
  GpuTileInterface chosen = selectClusterAttentionTile(op, *gpu);
  if (isa<GpuDecodeAttr>(chosen))
    return makeDecodeScratch({op.getQuery().getType().getDimSize(1),
                              op.getHeads().getType().getDimSize(1),
                              op.getValues().getType().getDimSize(1)},
                             *gpu, kernel.getContext());
  // Without `own`, the call's tokens are in the cache already: that form has no
  // scratch, because it need not be fast.
  auto tile = dyn_cast<GpuAttentionAttr>(chosen);
  if (!tile || tile.getInstruction() == Instruction::Mma16x8x16 ||
      op.getOwn().empty())
    return scratch;
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op.getQuery());
  if (failed(sizes))
    return failure();
  int64_t kvHeads = op.getHeads().getType().getDimSize(1);
  int64_t most =
      llvm::divideCeil(static_cast<int64_t>(op.getBlock()) * getGroup(op),
                       tile.getRows()) *
      kvHeads;
  if (most >= kManyRounds * getAttentionPlaces(op, tile, *gpu))
    return scratch;
  // What threads have of a row: each its largest score and its sum, and all of
  // them its outputs, filled up to whole fragments. Sizes are polynomials, so
  // blocks are not rounded up.
  int64_t words =
      kRowWords +
      llvm::alignTo(op.getValues().getType().getDimSize(1), kFragmentColumns);
  MLIRContext *context = kernel.getContext();
  scratch.tensors.push_back(
      {{getAffineConstantExpr(kMostParts, context),
        ((*sizes)[0] * getGroup(op) + tile.getRows()) * (kvHeads * words)},
       Float32Type::get(context)});
  scratch.controlWords = most;
  scratch.leavesZero = true;
  return scratch;
}

std::optional<ClusterParts> ClusterParts::find(GpuKernel &kernel,
                                               ClusterAttentionOp op) {
  func::FuncOp source = kernel.source;
  if (getKernelAttr(source).getScratch() != 2 || op.getOwn().empty())
    return std::nullopt;
  auto target = cast<func::FuncOp>(kernel.b.getBlock()->getParentOp());
  unsigned last = source.getNumArguments() - 1;
  return ClusterParts(kernel.b, target.getArgument(last - 1),
                      target.getArgument(last));
}

ClusterParts::ClusterParts(GpuBuilder &b, Value memory, Value control)
    : b(b), memory(memory), control(control),
      most(cast<MemRefType>(memory.getType()).getDimSize(0)) {}

HandedIn ClusterParts::getPlace(Value number, TypeRange state) {
  return {memory, number, b.mul(item, countNumbers(state) * b.getThreads())};
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void ClusterParts::begin(Value item, Value part, Value steps, Value mean) {
  this->item = item;
  this->part = part;
  Value least = b.max(b.div(mean, kPartsOfPlace), b.index(kLeastSteps));
  count = b.div(b.add(steps, b.sub(least, 1)), least);
  count = b.max(b.min(count, b.index(most)), b.index(1));
  // A call of more tokens than a block has no words for its last blocks.
  Value words = b.index(cast<MemRefType>(control.getType()).getDimSize(0));
  count = b.select(b.isLess(item, words), count, b.index(1));
  hasWork = b.isLess(part, count);
  Value each = b.div(b.add(steps, b.sub(count, 1)), count);
  first = b.mul(part, each);
  end = b.add(first, each);
}

void ClusterParts::finish(AttentionLoop &loop,
                          const AttentionLoop::State &state,
                          function_ref<void(AttentionLoop::State &)> emit) {
  Values own = pack(state);
  TypeRange types = ValueRange(own).getTypes();
  Value isWhole = b.isEqual(count, 1);
  Value isLast = b.ifElse(
      isWhole,
      [&]() -> Value {
        return arith::ConstantIntOp::create(b, b.getI1Type(), 1);
      },
      [&] {
        writeState(b, getPlace(part, types), own);
        return isLastToArrive(b, control, item, count);
      });
  b.ifThen(isLast, [&] {
    AttentionLoop::State all = loop.getStart();
    ValueRange left = own;
    forEachValue(all, [&](Value &start) {
      start = b.select(isWhole, left.front(), start);
      left = left.drop_front();
    });
    Value parts = b.select(isWhole, b.index(0), count);
    all = carry(b, b.index(0), parts, all,
                [&](Value number, const AttentionLoop::State &seen) {
                  Values found = readState(b, getPlace(number, types), types);
                  return loop.merge(seen, unpack(seen, found));
                });
    // The next launch finds zeros.
    b.ifThen(b.both(b.isEqual(b.thread(), 0), b.negate(isWhole)),
             [&] { atomicWrite(b, b.i32(0), control, item); });
    emit(all);
  });
}
