//===- BufferBuilder.cpp - Writes loops that work on buffers --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/BufferBuilder.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gist;

MemRefType gist::getBufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

Value BufferBuilder::toBuffer(Value tensor) {
  MemRefType type = getBufferType(tensor.getType());
  if (!isa<BlockArgument>(tensor) && type.getRank() > 0) {
    // Perhaps a slice: rows lie as they are, their numbers side by side.
    SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
    strides.back() = 1;
    type = MemRefType::get(
        type.getShape(), type.getElementType(),
        StridedLayoutAttr::get(getContext(), ShapedType::kDynamic, strides));
  }
  auto buffer = bufferization::ToBufferOp::create(*this, type, tensor);
  buffer.setReadOnly(true);
  return buffer;
}

Value BufferBuilder::toTensor(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(
      *this, RankedTensorType::get(type.getShape(), type.getElementType()),
      buffer, /*restrict=*/true, /*writable=*/false);
}

Value BufferBuilder::scratch(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocOp::create(*this, MemRefType::get(shape, element));
}

Value BufferBuilder::load(Value buffer, ValueRange indices) {
  return memref::LoadOp::create(*this, buffer, indices);
}

Value BufferBuilder::loadIndex(Value buffer, ValueRange indices) {
  return toIndex(load(buffer, indices));
}

void BufferBuilder::store(Value scalar, Value buffer, ValueRange indices) {
  memref::StoreOp::create(*this, scalar, buffer, indices);
}

Value BufferBuilder::loadVector(Value buffer, ValueRange indices,
                                int64_t lanes) {
  Type element = getElementTypeOrSelf(buffer.getType());
  return vector::LoadOp::create(*this, vectorOf(lanes, element), buffer,
                                indices);
}

void BufferBuilder::storeVector(Value vector, Value buffer,
                                ValueRange indices) {
  vector::StoreOp::create(*this, vector, buffer, indices);
}

Value BufferBuilder::loadF32(Value buffer, ValueRange indices, int64_t lanes) {
  return toF32(loadVector(buffer, indices, lanes));
}

void BufferBuilder::storeF32(Value vector, Value buffer, ValueRange indices) {
  Type element = getElementTypeOrSelf(buffer.getType());
  storeVector(convert(vector, element), buffer, indices);
}

static constexpr int64_t kWordBytes = 4;

static Value getPointer(BufferBuilder &b, Value buffer, Value index) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = b.add(base, b.mul(index, kWordBytes));
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()),
      arith::IndexCastOp::create(b, b.getI64Type(), address).getResult());
}

Value BufferBuilder::acquire(Value buffer, Value index) {
  return LLVM::LoadOp::create(
      *this, getI32Type(), getPointer(*this, buffer, index), kWordBytes,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire);
}

void BufferBuilder::release(Value word, Value buffer, Value index) {
  LLVM::StoreOp::create(*this, word, getPointer(*this, buffer, index),
                        kWordBytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::release);
}

Value BufferBuilder::fetchAdd(Value word, Value buffer, Value index) {
  return memref::AtomicRMWOp::create(*this, arith::AtomicRMWKind::addi, word,
                                     buffer, ValueRange(index));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value BufferArguments::get(BlockArgument tensor) {
  for (auto [number, buffer] : replaced)
    if (number == tensor.getArgNumber())
      return buffer;
  BlockArgument buffer = kernel.getBody().front().addArgument(
      getBufferType(tensor.getType()), tensor.getLoc());
  replaced.emplace_back(tensor.getArgNumber(), buffer);
  return buffer;
}

/// Takes back what get() has added where finish() was not reached.
BufferArguments::~BufferArguments() {
  Block &body = kernel.getBody().front();
  body.eraseArguments(body.getNumArguments() - replaced.size(),
                      replaced.size());
}

void BufferArguments::finish(RewriterBase &rewriter) {
  Block &body = kernel.getBody().front();
  auto end = cast<func::ReturnOp>(body.getTerminator());
  rewriter.modifyOpInPlace(end, [&] { end->setOperands({}); });
  // Users come before what they use, so that one pass finds all dead ops.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  for (auto [number, buffer] : replaced) {
    BlockArgument tensor = body.getArgument(number);
    assert(tensor.use_empty() && "is a buffer now");
    tensor.setType(buffer.getType());
    rewriter.replaceAllUsesWith(buffer, tensor);
  }
  body.eraseArguments(body.getNumArguments() - replaced.size(),
                      replaced.size());
  replaced.clear();
  kernel.setFunctionType(rewriter.getFunctionType(body.getArgumentTypes(), {}));
  kernel.removeResAttrsAttr();
}
