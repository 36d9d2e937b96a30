//===- PlaceBuffers.cpp - The pass -gist-place-buffers --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// What a vector load likes.
static constexpr int64_t kAlignment = 64;

/// The number of bytes that `alloc` needs at most.
static FailureOr<int64_t> getBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  int64_t bytes = type.getElementType().isIndex()
                      ? sizeof(int64_t)
                      : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      bytes *= type.getDimSize(dim);
      continue;
    }
    FailureOr<int64_t> size = ValueBoundsConstraintSet::computeConstantBound(
        presburger::BoundType::UB,
        {alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]},
        /*stopCondition=*/nullptr, /*closedUB=*/true);
    if (failed(size))
      return failure();
    bytes *= *size;
  }
  return bytes;
}

namespace {
struct PlaceBuffersPass final
    : gist::impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using Base::Base;

  /// Turns an allocation into space on the stack, at the start of the kernel so
  /// that a loop does not take it again in every round.
  LogicalResult place(memref::AllocOp alloc) {
    FailureOr<int64_t> bytes = getBytes(alloc);
    if (failed(bytes))
      return alloc.emitOpError("has a size without a bound, but a kernel keeps "
                               "its scratch on the stack");
    // Buffers do not share space, so the stack takes the sum of all.
    total += *bytes;
    if (total > maxBytes)
      return alloc.emitOpError("takes the kernel's scratch to ")
             << total << " bytes, more than " << maxBytes.getValue();
    auto kernel = getOperation();
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    auto type = MemRefType::get({*bytes}, builder.getI8Type());
    Value space = memref::AllocaOp::create(
        builder, alloc.getLoc(), type, builder.getI64IntegerAttr(kAlignment));
    builder.setInsertionPoint(alloc);
    // The view stays where the allocation was: its sizes are known only there.
    Value zero = arith::ConstantIndexOp::create(builder, alloc.getLoc(), 0);
    auto view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                                       space, zero, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view.getResult());
    alloc.erase();
    return success();
  }

  /// Leaves results in their destinations and nowhere else.
  void dropResults() {
    func::FuncOp kernel = getOperation();
    unsigned inputs =
        kernel.getNumArguments() - getKernelAttr(kernel).getOutputs();
    auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    OpBuilder builder(end);
    for (auto [number, operand] : llvm::enumerate(end->getOperands())) {
      Value destination = kernel.getArgument(inputs + number);
      Value source = operand;
      while (auto cast = source.getDefiningOp<memref::CastOp>())
        source = cast.getSource();
      if (source != destination)
        memref::CopyOp::create(builder, end.getLoc(), source, destination);
    }
    end->setOperands({});
    kernel.setFunctionType(
        builder.getFunctionType(kernel.getArgumentTypes(), {}));
    kernel.removeResAttrsAttr();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    if (failed(verifyHasBody(kernel)))
      return signalPassFailure();
    // First, because it makes copies, which are replaced below like the others.
    dropResults();
    total = 0;
    SmallVector<memref::AllocOp> allocs;
    SmallVector<memref::CopyOp> copies;
    kernel.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        allocs.push_back(alloc);
      else if (auto copy = dyn_cast<memref::CopyOp>(op))
        copies.push_back(copy);
    });
    for (memref::AllocOp alloc : allocs)
      if (failed(place(alloc)))
        return signalPassFailure();
    // Left as it is, memref.copy becomes a call of a runtime library that
    // kernels are not linked with.
    for (memref::CopyOp copy : copies) {
      OpBuilder builder(copy);
      // Another workgroup may be writing what this one would put back.
      if (copy.getSource() != copy.getTarget())
        linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                                 copy.getTarget());
      copy.erase();
    }
  }

private:
  int64_t total = 0;
};
} // namespace
