//===- AttentionDecodeDense.cpp - Dense attention of one query ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/HeadColumns.h"
#include "passes/Kernel/HeadOutput.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

#include <numbers>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;

/// The update of a cache by the kernel itself that `rows` are read after, or
/// null.
static tensor::InsertSliceOp findUpdate(Value rows) {
  auto slice = rows.getDefiningOp<tensor::ExtractSliceOp>();
  return slice ? slice.getSource().getDefiningOp<tensor::InsertSliceOp>()
               : tensor::InsertSliceOp();
}

namespace {
/// The keys of a tensor: the sinks, then those in the window. Where the kernel
/// writes the query's own key and value into the cache itself, they are not
/// read there.
class DenseKeys final : public DecodeKeys {
public:
  DenseKeys(ElementEmitter &emitter, AttentionOp op, Value kvHead)
      : emitter(emitter), b(emitter.getBuilder()), op(op), kvHead(kvHead),
        newKey(findUpdate(op.getKey())), newValue(findUpdate(op.getValue())) {
    count = emitter.size(op.getKey(), 0);
    for (tensor::InsertSliceOp update : {newKey, newValue})
      if (update)
        emitter.bind(update.getResult(), [&emitter, update](ValueRange indices,
                                                            int64_t width) {
          Value before = tensor::InsertSliceOp(update).getDest();
          return width == 1 ? emitter.element(before, indices)
                            : emitter.elements(before, indices, width);
        });
    // The last one.
    if (hasOwn())
      count = b.sub(count, 1);
    if (!op.getWindow())
      return;
    numSinks = b.min(count, b.index(op.getSinks().value_or(0)));
    // Not before the end of the sinks, so that no key is counted twice.
    windowStart = b.max(b.sub(count, *op.getWindow()), numSinks);
    count = b.add(numSinks, b.sub(count, windowStart));
  }

  bool hasOwn() const override { return newKey && newValue; }
  Value readOwn(bool isKey, Value column, int64_t width) override {
    Value row = isKey ? newKey.getSource() : newValue.getSource();
    return emitter.elements(row, {b.index(0), kvHead, column}, width);
  }
  bool makesOwn() const override { return hasOwn(); }
  void writeOwn(bool isKey, Value column, Value numbers) override {
    emitter.store(getNumber(isKey ? newKey : newValue),
                  {b.index(0), kvHead, column}, numbers);
  }
  bool areKnownEarly() const override { return true; }
  void prefetch(bool isKey, Value number, Value column) override {
    std::optional<MemoryAccess> memory = emitter.asMemory(getStored(isKey));
    GpuBuilder::Values at{getRow(number), kvHead, column};
    if (isKey ? newKey : newValue)
      at = getPlace(isKey ? op.getKey() : op.getValue(), at);
    prefetchLine(b, memory->buffer, memory->at(at));
  }
  int64_t getColumnsOfLine(bool isKey) override {
    Value rows = getStored(isKey);
    unsigned bits =
        cast<RankedTensorType>(rows.getType()).getElementTypeBitWidth();
    return emitter.asMemory(rows) ? kLineBits / bits : 0;
  }
  unsigned getResult() const override { return hasOwn() ? 2 : 0; }
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
  Type getMultiplied() override {
    Type type = op.getKey().getType().getElementType();
    return type == op.getValue().getType().getElementType() ? type : Type();
  }
  Value readBias(Value, Value row) override {
    return op.getMask() ? emitter.element(op.getMask(), {b.index(0), row})
                        : Value();
  }
  Value getBias(Value, Value stored) override {
    return arith::MulFOp::create(b, stored, b.f32(std::numbers::log2e));
  }

private:
  /// Where the rows lie, also those of a cache that the kernel updates.
  Value getStored(bool isKey) {
    tensor::InsertSliceOp update = isKey ? newKey : newValue;
    return update ? update.getDest() : isKey ? op.getKey() : op.getValue();
  }
  /// Where in the cache an element of the slice `rows` of it is.
  GpuBuilder::Values getPlace(Value rows, ValueRange indices) {
    auto slice = rows.getDefiningOp<tensor::ExtractSliceOp>();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    GpuBuilder::Values place;
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      place.push_back(emitter.number(offset));
      if (dropped.test(dim))
        continue;
      place.back() = b.add(place.back(), indices.front());
      indices = indices.drop_front();
    }
    return place;
  }
  /// Which result of the kernel `update` is.
  static unsigned getNumber(tensor::InsertSliceOp update) {
    for (OpOperand &use : update->getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        return use.getOperandNumber();
    llvm_unreachable("asked for before the kernel was verified");
  }

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttentionOp op;
  Value kvHead;
  tensor::InsertSliceOp newKey, newValue;
  Value count, numSinks, windowStart;
};
} // namespace

bool gist::isDecodeAttention(AttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

static DecodeHeads getHeads(AttentionOp op) {
  return {op.getQuery().getType().getDimSize(1),
          op.getKey().getType().getDimSize(1),
          op.getValue().getType().getDimSize(2)};
}

FailureOr<KernelScratch> gist::getDecodeScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  auto op = findRoot<AttentionOp>(kernel);
  auto target =
      kernel->getParentOfType<ModuleOp>()->getAttrOfType<GpuTargetAttr>(
          kTargetAttr);
  if (!target || !isGpuAttention(op) || !isDecodeAttention(op))
    return scratch;
  return makeDecodeScratch(getHeads(op), *getGpuInfo(target.getName()),
                           kernel.getContext(), findHeadOutput(op).has_value());
}

/// Kernels may be written by hand: both caches are updated or none, by the rows
/// of one token that are the last of those that are read, and given back.
static LogicalResult verifyUpdates(AttentionOp op) {
  tensor::InsertSliceOp updates[] = {findUpdate(op.getKey()),
                                     findUpdate(op.getValue())};
  if (!updates[0] && !updates[1])
    return success();
  for (tensor::InsertSliceOp update : updates) {
    auto isReturned = [&] {
      return llvm::any_of(update->getUsers(), llvm::IsaPred<func::ReturnOp>);
    };
    if (!update || !isReturned() || update.getSourceType().getRank() != 3 ||
        update.getSourceType().getDimSize(0) != 1 || op.getWindow())
      return op.emitOpError("reads a cache that its kernel updates; expects "
                            "both to be updated by one token and returned, and "
                            "no window");
  }
  return success();
}

/// Where the kernel has the product that makes its query, key and value, the
/// clusters share it. Else each number of it is computed where it is read.
static void takeProduct(DecodeAttention &attention, AttentionOp op,
                        const GpuInfo &gpu) {
  tensor::InsertSliceOp key = findUpdate(op.getKey()),
                        value = findUpdate(op.getValue());
  if (!key || !value)
    return;
  std::optional<HeadColumns> columns[] = {findHeadColumns(op.getQuery()),
                                          findHeadColumns(key.getSource()),
                                          findHeadColumns(value.getSource())};
  if (!llvm::all_of(columns, [&](const std::optional<HeadColumns> &each) {
        return each && each->product == columns[0]->product;
      }))
    return;
  DecodeHeads heads = getHeads(op);
  Value weight = columns[0]->product.getInputs()[1];
  auto type = cast<RankedTensorType>(weight.getType());
  if (isa<BlockArgument>(weight) &&
      takesProduct(heads.numHeads, heads.kvHeads, columns[0]->size,
                   heads.valueSize, type.getDimSize(1),
                   type.getElementTypeBitWidth(), gpu))
    attention.takeProduct(
        columns[0]->product,
        {columns[0]->first, columns[1]->first, columns[2]->first});
}

/// Kernels may be written by hand: whether the clusters can multiply their
/// heads as the kernel's product has them.
static LogicalResult verifyOutput(AttentionOp op, const HeadOutput &output,
                                  const GpuInfo &gpu) {
  DecodeHeads heads = getHeads(op);
  DecodeSplit split = getDecodeSplit(heads.numHeads, heads.kvHeads, gpu);
  if (output.groups == heads.numHeads / split.heads &&
      isa<BlockArgument>(output.weight) &&
      takesOutput(
          heads.numHeads, heads.kvHeads, heads.valueSize, output.columns,
          getElementTypeOrSelf(output.weight).getIntOrFloatBitWidth(), gpu))
    return success();
  return op.emitOpError("is followed by a product of ")
         << output.groups << " groups of heads, which workgroups of "
         << gpu.name << " do not share";
}

FailureOr<GpuGrid> gist::emitDecodeAttention(GpuKernel &kernel,
                                             AttentionOp op) {
  if (failed(verifyUpdates(op)))
    return failure();
  DecodeHeads heads = getHeads(op);
  std::optional<HeadOutput> output = findHeadOutput(op);
  if (output && failed(verifyOutput(op, *output, kernel.b.getGpu())))
    return failure();
  FailureOr<DecodeParts> parts =
      findDecodeParts(kernel, op, heads, output.has_value());
  if (failed(parts))
    return failure();
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            heads.kvHeads, heads.valueSize,
                            op.getEffectiveScale(), *parts);
  takeProduct(attention, op, kernel.b.getGpu());
  DenseKeys keys(kernel.emitter, op, attention.getKvHead());
  if (output)
    attention.takeOutput(*output, keys.getResult());
  attention.emit(keys);
  if (kernel.emitter.hasFailed())
    return failure();
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}
