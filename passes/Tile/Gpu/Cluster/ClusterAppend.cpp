//===- ClusterAppend.cpp - A call's tokens go into the rings on GPUs ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies rows, as wide as memory gives them: what an update does where tokens
// have been absorbed for all layers at once. Attention on the same rows does it
// too (ClusterAttention.cpp).
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;

/// Tokens of a workgroup: enough that all threads copy several chunks of heads
/// of 64, and few enough that a short call has several workgroups.
static constexpr int64_t kTokens = 32;
static constexpr int64_t kThreads = 256;

void gist::appendRows(ElementEmitter &emitter, ClusterUpdateOp op, Value head,
                      Value first, Value number,
                      function_ref<Value(Value token)> place) {
  GpuBuilder &b = emitter.getBuilder();
  // Numbers of 16 bytes, the widest access of a thread.
  int64_t chunk =
      128 / op.getKeys().getType().getElementType().getIntOrFloatBitWidth();
  for (auto [source, cache] : {std::pair(op.getKey(), op.getKeys()),
                               std::pair(op.getValue(), op.getValues())}) {
    Value rows = emitter.asMemory(cache)->buffer;
    int64_t chunks = cache.getType().getDimSize(1) / chunk;
    b.forEach(b.thread(), b.mul(number, chunks), b.index(b.getThreads()),
              [&, source = source](Value item) {
                Value token = b.add(first, b.div(item, chunks));
                Value column = b.mul(b.rem(item, chunks), chunk);
                b.write(emitter.elements(source, {token, head, column}, chunk),
                        rows, {place(token), column});
              });
  }
}

FailureOr<GpuGrid> gist::emitClusterAppend(GpuKernel &kernel,
                                           ClusterUpdateOp op) {
  GpuBuilder &b = kernel.b;
  ElementEmitter &emitter = kernel.emitter;
  for (Value cache : {op.getKeys(), op.getValues()})
    if (!emitter.asMemory(cache))
      return op.emitOpError("keeps its cache in a value that is not a buffer");
  Value head = b.block(1), layer = emitter.number(op.getLayer());
  Value past = emitter.number(op.getPast());
  ClusterHead plan = readHead(emitter, op.getHeads(), layer, head);
  int64_t tokensAtOnce = kernel.getTile<GpuRowsAttr>().getRows();
  Value first = b.mul(b.block(0), tokensAtOnce);
  Value number =
      b.min(b.sub(emitter.size(op.getKey(), 0), first), b.index(tokensAtOnce));
  // One remainder for a workgroup: rows that follow are found by addition.
  Value start = plan.getPlace(b, b.add(past, first));
  appendRows(emitter, op, head, first, number, [&](Value token) {
    return plan.getRow(b, start, b.sub(token, first));
  });
  OpBuilder source(op);
  FailureOr<AffineExpr> tokens = getSizeExpr(
      kernel.source, tensor::getMixedSize(source, op.getLoc(), op.getKey(), 0));
  if (failed(tokens))
    return failure();
  return GpuGrid{tokens->ceilDiv(tokensAtOnce),
                 b.getAffineConstantExpr(op.getKey().getType().getDimSize(1))};
}

GpuRowsAttr gist::selectClusterAppendTile(ClusterUpdateOp op,
                                          const GpuInfo &gpu) {
  return GpuRowsAttr::get(op.getContext(), kTokens, kThreads / gpu.waveSize,
                          op.getKeys().getType().getDimSize(1));
}
