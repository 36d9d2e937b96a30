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
  int64_t numHeads = op.getQuery().getType().getDimSize(1);
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  int64_t parts =
      getDecodeParts(numHeads, kvHeads, *getGpuInfo(target.getName()));
  if (parts == 1)
    return scratch;
  MLIRContext *context = kernel.getContext();
  int64_t numbers =
      getDecodeNumbers(numHeads, op.getValue().getType().getDimSize(2), parts);
  scratch.tensors.push_back(
      {{getAffineConstantExpr(numbers, context)}, Float32Type::get(context)});
  scratch.controlWords = getDecodeWords(numHeads, kvHeads);
  scratch.leavesZero = true;
  return scratch;
}

/// The memory that -gist-add-scratch has given the kernel: its last two
/// destinations. A kernel without it has all keys in one part.
static FailureOr<DecodeParts> findParts(GpuKernel &kernel, AttentionOp op) {
  func::FuncOp source = kernel.source;
  unsigned last = source.getNumArguments() - 1;
  DecodeParts parts;
  if (!source.getArgAttr(last, kControlArgAttr))
    return parts;
  int64_t numHeads = op.getQuery().getType().getDimSize(1);
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  parts.count = getDecodeParts(numHeads, kvHeads, kernel.b.getGpu());
  int64_t numbers = getDecodeNumbers(
      numHeads, op.getValue().getType().getDimSize(2), parts.count);
  Builder &b = kernel.b;
  Type types[] = {
      RankedTensorType::get(numbers, b.getF32Type()),
      RankedTensorType::get(getDecodeWords(numHeads, kvHeads), b.getI32Type())};
  // Kernels may be written by hand; the types say whether both passes agree on
  // the number of parts.
  if (last < 1 || source.getArgumentTypes().take_back(2) != ArrayRef(types))
    return op.emitOpError("expects scratch memory of ")
           << types[0] << " and " << types[1] << " for " << parts.count
           << " parts of the keys";
  auto target = cast<func::FuncOp>(kernel.b.getBlock()->getParentOp());
  parts.scratch = target.getArgument(last - 1);
  parts.control = target.getArgument(last);
  return parts;
}

FailureOr<GpuGrid> gist::emitDecodeAttention(GpuKernel &kernel,
                                             AttentionOp op) {
  FailureOr<DecodeParts> parts = findParts(kernel, op);
  if (failed(parts))
    return failure();
  int64_t kvHeads = op.getKey().getType().getDimSize(1);
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            kvHeads, op.getValue().getType().getDimSize(2),
                            op.getEffectiveScale(), *parts);
  DenseKeys keys(kernel.emitter, op, attention.getKvHead());
  attention.emit(keys);
  if (kernel.emitter.hasFailed())
    return failure();
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}
