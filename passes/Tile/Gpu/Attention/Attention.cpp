//===- Attention.cpp - Dense attention on GPUs ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has the queries of one KV head: query heads that share it are
// rows side by side, row i being head i % group of query i / group.
//
// Hidden keys get a weight of zero; their values are multiplied by it all the
// same, so that values must be finite for tokens that a query does not see.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;

namespace {
/// Keys in blocks: those of the sinks, then those from the first that a row's
/// window reaches up to the last that is seen.
class DenseSteps final : public KeySteps {
public:
  DenseSteps(ElementEmitter &emitter, AttentionOp op, Value first, int64_t rows,
             int64_t keys)
      : emitter(emitter), op(op), first(first), numRows(rows), keysOfStep(keys),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)) {
    GpuBuilder &b = emitter.getBuilder();
    numQueries = emitter.size(op.getQuery(), 0);
    numKeys = emitter.size(op.getKey(), 0);
    past = b.sub(numKeys, numQueries);
    Value end = numKeys;
    if (op.getCausal())
      end = b.min(end, b.add(getPosition(b, b.index(rows - 1)), 1));
    numBlocks = b.ceilDiv(end, keys);
    numSinks = firstBlock = b.index(0);
    if (!op.getWindow())
      return;
    Value start = b.sub(getPosition(b, b.index(0)), *op.getWindow() - 1);
    firstBlock = b.div(b.max(start, b.index(0)), keys);
    numSinks = b.min(
        numBlocks, b.index(llvm::divideCeil(op.getSinks().value_or(0), keys)));
    firstBlock = b.max(firstBlock, numSinks);
  }

  Value getCount(GpuBuilder &b) override {
    return b.add(numSinks, b.max(b.sub(numBlocks, firstBlock), b.index(0)));
  }
  Value getRow(GpuBuilder &b, Value step, Value slot) override {
    return getSmaller(b, getKey(b, step, slot), b.sub(numKeys, 1));
  }
  Value isPlain(GpuBuilder &b, Value step) override {
    if (op.getMask())
      return arith::ConstantIntOp::create(b, 0, 1);
    Value begin = getKey(b, step, b.index(0));
    Value end = b.add(begin, keysOfStep);
    if (!op.getCausal())
      return isAtMost(b, end, numKeys);
    Value isSeen = isAtMost(b, end, b.add(getPosition(b, b.index(0)), 1));
    if (!op.getWindow())
      return isSeen;
    Value nearest =
        b.sub(getPosition(b, b.index(numRows - 1)), *op.getWindow());
    Value isNear = isAtMost(b, b.add(nearest, 1), begin);
    Value isSink = isAtMost(b, end, b.index(op.getSinks().value_or(0)));
    return b.both(isSeen, arith::OrIOp::create(b, isNear, isSink));
  }
  Value adjust(GpuBuilder &b, Value score, Value step, Value row,
               Value slot) override {
    Value key = getKey(b, step, slot);
    if (op.getMask()) {
      Value query = b.min(getQuery(b, row), b.sub(numQueries, 1));
      Value bias =
          emitter.element(op.getMask(), {query, b.min(key, b.sub(numKeys, 1))});
      score = b.fma(bias, b.f32(1 / op.getEffectiveScale()), score);
    }
    Value isSeen = isAtMost(b, b.add(key, 1), numKeys);
    if (op.getCausal()) {
      Value position = getPosition(b, row);
      isSeen = isAtMost(b, key, position);
      if (op.getWindow()) {
        Value isNear = isAtMost(b, b.sub(position, *op.getWindow() - 1), key);
        Value isSink = b.isLess(key, op.getSinks().value_or(0));
        isSeen = b.both(isSeen, arith::OrIOp::create(b, isNear, isSink));
      }
    }
    return b.select(isSeen, score,
                    b.f32(-std::numeric_limits<double>::infinity()));
  }

private:
  Value getQuery(GpuBuilder &b, Value row) {
    return b.div(b.add(first, row), group);
  }
  Value getPosition(GpuBuilder &b, Value row) {
    return b.add(past, getQuery(b, row));
  }
  Value getKey(GpuBuilder &b, Value step, Value slot) {
    if (op.getWindow())
      step = b.select(b.isLess(step, numSinks), step,
                      b.add(b.sub(step, numSinks), firstBlock));
    return b.add(b.mul(step, keysOfStep), slot);
  }

  ElementEmitter &emitter;
  AttentionOp op;
  Value first;
  int64_t numRows, keysOfStep, group;
  Value numQueries, numKeys, past, numBlocks, numSinks, firstBlock;
};
} // namespace

bool gist::isGpuAttention(AttentionOp op) {
  RankedTensorType key = op.getKey().getType(), value = op.getValue().getType();
  auto isWhole = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % 8 == 0;
  };
  return !op.getOffsets() && isWhole(key.getDimSize(2)) &&
         isWhole(value.getDimSize(2)) && !key.isDynamicDim(1);
}

FailureOr<GpuGrid> gist::emitAttention(GpuKernel &kernel, AttentionOp op) {
  GpuBuilder &b = kernel.b;
  ElementEmitter &emitter = kernel.emitter;
  auto tile = kernel.getTile<GpuAttentionAttr>();
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType(),
                   value = op.getValue().getType();
  int64_t group = query.getDimSize(1) / key.getDimSize(1);
  std::unique_ptr<AttentionLoop> owned = AttentionLoop::create(
      b, tile,
      {key.getDimSize(2), value.getDimSize(2), op.getEffectiveScale(), Type()});
  AttentionLoop &loop = *owned;
  Value numRows = b.mul(emitter.size(op.getQuery(), 0), group);
  Value numBlocks = b.ceilDiv(numRows, loop.getRows());
  BlockOrder order =
      orderBlocks(b, b.add(b.mul(b.block(1), numBlocks), b.block(0)), numBlocks,
                  key.getDimSize(1),
                  getHeadBytes(b, op.getKey(), op.getValue(),
                               emitter.size(op.getKey(), 0)));
  // What sees most comes first.
  Value first = b.mul(b.sub(b.sub(numBlocks, 1), order.block), loop.getRows());
  Value kvHead = order.head;

  auto getToken = [&](Value row) { return b.div(row, group); };
  auto getHead = [&](Value row) {
    return b.add(b.mul(kvHead, group), b.rem(row, group));
  };
  Type element = tile.getElement();
  loop.loadQueries(getRowSource(
      emitter, op.getQuery(), element, [&](Value row, Value column) {
        row = b.min(b.add(first, row), b.sub(numRows, 1));
        return AttentionLoop::Values{getToken(row), getHead(row), column};
      }));
  DenseSteps steps(emitter, op, first, loop.getRows(), loop.getKeys());
  AttentionLoop::State state =
      loop.run(loop.getStart(), steps,
               getHeadSource(emitter, op.getKey(), kvHead, element),
               getHeadSource(emitter, op.getValue(), kvHead, element));

  AttentionResult result(emitter, op.getOutput());
  loop.finish(state);
  loop.emitOutputs(state, [&](Value row, Value column, Value numbers) {
    row = b.add(first, row);
    Value isThere =
        b.both(b.isLess(row, numRows), b.isLess(column, value.getDimSize(2)));
    b.ifThen(isThere, [&] {
      result.store(getToken(row), getHead(row), column, numbers);
    });
  });
  if (emitter.hasFailed())
    return failure();
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, emitter.getWrittenSizes(0)[0]);
  if (failed(tokens))
    return failure();
  return GpuGrid{(*tokens * group).ceilDiv(loop.getRows()),
                 b.getAffineConstantExpr(key.getDimSize(1))};
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuAttentionKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuAttentionKernel = {
    // Attention that these kernels do not take runs by its definition, slowly.
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      auto op = findRoot<AttentionOp>(kernel);
      if (!isGpuAttention(op))
        return selectRowsTile(kernel, gpu);
      if (isDecodeAttention(op))
        return getDecodeTile(op.getContext(), gpu);
      return selectAttentionTile(op, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      auto op = findRoot<AttentionOp>(kernel.source);
      if (!isGpuAttention(op))
        return emitDefinition(kernel);
      return isDecodeAttention(op) ? emitDecodeAttention(kernel, op)
                                   : emitAttention(kernel, op);
    },
    .verify = [](func::FuncOp kernel, const GpuInfo &gpu) -> LogicalResult {
      auto op = findRoot<AttentionOp>(kernel);
      if (!isGpuAttention(op))
        return expectTile<GpuRowsAttr>(kernel);
      if (isDecodeAttention(op))
        return expectTile<GpuDecodeAttr>(kernel);
      return verifyAttentionTile(kernel, op.getKey().getType(),
                                 op.getValue().getType(),
                                 op.getOutput().getType(), gpu);
    },
    .scratch = getDecodeScratch,
};
