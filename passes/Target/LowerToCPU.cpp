//===- LowerToCPU.cpp - The pass -gist-lower-to-cpu -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives kernels the signature in which the runtime calls them,
//
//   void kernel(const uint64_t *slots, int64_t x, int64_t y, int64_t z)
//
// and makes the loop over workgroups the one workgroup x, y, z. With the option
// `flat` every slot is an argument.
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Limits.h"
#include "passes/Passes.h"
#include "passes/Target/KernelSlots.h"

namespace gist {
#define GEN_PASS_DEF_LOWERTOCPUPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// Reads the slots of a call.
class Slots {
public:
  /// Without `slots` each is a new argument of `body`.
  Slots(OpBuilder &builder, Location location, Block &body, Value slots)
      : builder(builder), location(location), body(body), slots(slots) {}

  /// The next word of the slots, as an address or a number.
  Value next(Type type) {
    if (!slots)
      return body.addArgument(type, location);
    Type word = builder.getI64Type();
    Value address = LLVM::GEPOp::create(
        builder, location, slots.getType(), word, slots,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number++)});
    auto load = LLVM::LoadOp::create(builder, location, type, address);
    // The runtime does not change slots during a call, so loads may be moved
    // out of loops.
    load.setInvariant(true);
    return load;
  }

private:
  OpBuilder &builder;
  Location location;
  Block &body;
  Value slots;
  unsigned number = 0;
};
} // namespace

/// Replaces the arguments of `kernel` by slots and the workgroup's numbers.
static LogicalResult rewriteSignature(func::FuncOp kernel, bool isFlat) {
  if (kernel.getNumResults() != 0)
    return kernel.emitError("has a result that is not in its destination");
  MLIRContext *context = kernel.getContext();
  Location location = kernel.getLoc();
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Type pointerType = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  // The new arguments are added behind the old ones, which are erased at the
  // end.
  unsigned old = body.getNumArguments();
  Value slotsArgument;
  if (!isFlat)
    slotsArgument = body.addArgument(pointerType, location);

  LLVMTypeConverter types(context);
  Slots slots(builder, location, body, slotsArgument);
  SmallVector<Value> words, sizes;
  // All arguments first, then all dynamic sizes: EmitModule writes slots in
  // this order.
  for (unsigned i = 0; i < old; ++i) {
    Type type = body.getArgument(i).getType();
    if (!type.isIndex() && !isa<MemRefType>(type))
      return kernel.emitError("has an argument that no slot can hold: ")
             << type;
    words.push_back(slots.next(type.isIndex() ? i64 : pointerType));
  }
  for (unsigned i = 0; i < old; ++i)
    if (auto type = dyn_cast<MemRefType>(body.getArgument(i).getType()))
      for (size_t dim = 0; dim < type.getNumDynamicDims(); ++dim)
        sizes.push_back(slots.next(i64));
  // The numbers of the workgroup come last.
  for (int i = 0; i < 3; ++i)
    body.addArgument(i64, location);
  ArrayRef<Value> rest = sizes;
  for (unsigned i = 0; i < old; ++i) {
    BlockArgument argument = body.getArgument(i);
    Value value;
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      size_t count = type.getNumDynamicDims();
      value = createMemRef(builder, location, types, type, words[i],
                           rest.take_front(count));
      rest = rest.drop_front(count);
    } else {
      value = arith::IndexCastOp::create(builder, location,
                                         builder.getIndexType(), words[i]);
    }
    argument.replaceAllUsesWith(value);
  }
  body.eraseArguments(0, old);
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  // The attributes belong to the old arguments.
  kernel.removeArgAttrsAttr();
  kernel.setPublic();
  return success();
}

/// Makes `forall` the workgroup of the kernel's last three arguments.
/// One call of the kernel is one workgroup; the runtime loops over the grid on
/// its threads.
static void inlineWorkgroup(func::FuncOp kernel, scf::ForallOp forall) {
  IRRewriter rewriter(forall);
  Location location = forall.getLoc();
  SmallVector<Value> ids;
  unsigned first = kernel.getNumArguments() - 3;
  for (unsigned dim = 0; dim < forall.getRank(); ++dim) {
    Value id =
        arith::IndexCastOp::create(rewriter, location, rewriter.getIndexType(),
                                   kernel.getArgument(first + dim));
    // The runtime counts workgroups; the loop counts in steps from zero, which
    // setGrid() of -gist-tile-and-distribute has checked.
    Value step = getValueOrCreateConstantIndexOp(rewriter, location,
                                                 forall.getMixedStep()[dim]);
    ids.push_back(arith::MulIOp::create(rewriter, location, id, step));
  }
  rewriter.eraseOp(forall.getTerminator());
  rewriter.inlineBlockBefore(forall.getBody(), forall, ids);
  rewriter.eraseOp(forall);
}

namespace {
struct LowerToCPUPass final : gist::impl::LowerToCPUPassBase<LowerToCPUPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    if (failed(verifyHasBody(kernel)) || failed(verifyVectors(kernel)))
      return signalPassFailure();
    SmallVector<scf::ForallOp> foralls;
    kernel.walk([&](scf::ForallOp forall) { foralls.push_back(forall); });
    // The grid of a launch has three dimensions.
    if (foralls.size() > 1 || (!foralls.empty() && foralls[0].getRank() > 3)) {
      kernel.emitError(
          "has more than one grid, or a grid of more than three dimensions");
      return signalPassFailure();
    }
    if (failed(rewriteSignature(kernel, flat)))
      return signalPassFailure();
    // The signature first: the numbers of the workgroup are new arguments.
    if (!foralls.empty())
      inlineWorkgroup(kernel, foralls[0]);
  }
};
} // namespace
