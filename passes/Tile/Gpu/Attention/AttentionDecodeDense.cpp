//===- AttentionDecodeDense.cpp - Dense attention of one query ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistTargetAttrs.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;

namespace {
/// The keys of a tensor: the sinks, then those in the window.
class DenseKeys final : public DecodeKeys {
public:
  DenseKeys(ElementEmitter &emitter, AttentionOp op, Value kvHead)
      : emitter(emitter), b(emitter.getBuilder()), op(op), kvHead(kvHead) {
    count = emitter.size(op.getKey(), 0);
    if (!op.getWindow())
      return;
    numSinks = b.min(count, b.index(op.getSinks().value_or(0)));
    // Not before the end of the sinks, so that no key is counted twice.
    windowStart = b.max(b.sub(count, *op.getWindow()), numSinks);
    count = b.add(numSinks, b.sub(count, windowStart));
  }

  Value getCount() override { return count; }
  Value getRow(Value number) override {
    if (!op.getWindow())
      return number;
    return b.select(b.isLess(number, numSinks), number,
                    b.add(b.sub(number, numSinks), windowStart));
  }
  Value readKey(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getKey(), {row, kvHead, column}, width);
  }
  Value readValue(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getValue(), {row, kvHead, column}, width);
  }
  Value getBias(Value, Value row) override {
    return op.getMask() ? emitter.element(op.getMask(), {b.index(0), row})
                        : Value();
  }

private:
  ElementEmitter &emitter;
  GpuBuilder &b;
  AttentionOp op;
  Value kvHead, count, numSinks, windowStart;
};
} // namespace

bool gist::isDecodeAttention(AttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

FailureOr<KernelScratch> gist::getDecodeScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  auto op = findRoot<AttentionOp>(kernel);
  auto target =
      kernel->getParentOfType<ModuleOp>()->getAttrOfType<GpuTargetAttr>(
          kTargetAttr);
  if (!target || !isGpuAttention(op) || !isDecodeAttention(op))
    return scratch;
  return makeDecodeScratch(op.getQuery().getType().getDimSize(1),
                           op.getKey().getType().getDimSize(1),
                           op.getValue().getType().getDimSize(2),
                           *getGpuInfo(target.getName()), kernel.getContext());
}

FailureOr<GpuGrid> gist::emitDecodeAttention(GpuKernel &kernel,
                                             AttentionOp op) {
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  int64_t valueSize = op.getValue().getType().getDimSize(2);
  FailureOr<DecodeParts> parts = findDecodeParts(
      kernel, op, op.getQuery().getType().getDimSize(1), kvHeads, valueSize);
  if (failed(parts))
    return failure();
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            kvHeads, valueSize, op.getEffectiveScale(), *parts);
  DenseKeys keys(kernel.emitter, op, attention.getKvHead());
  attention.emit(keys);
  if (kernel.emitter.hasFailed())
    return failure();
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}
