//===- ClusterAbsorb.cpp - Tokens that leave many layers ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterAbsorb.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Gpu/Cluster/ClusterScores.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

/// Workgroups for a compute unit: as many as its memory has room for.
static constexpr int64_t kPlaces = 3;

namespace {
/// How the tokens of a head are shared.
struct Shares {
  int64_t parts;  ///< workgroups of a head
  int64_t heads;  ///< of all layers
  int64_t tokens; ///< of a head that there is memory for
};
} // namespace

static Shares getShares(ClusterAbsorbOp op, const GpuInfo &gpu) {
  int64_t size = std::max(op.getKeys().getType().getDimSize(1),
                          op.getValues().getType().getDimSize(1));
  int64_t tokens =
      ClusterScores::selectTile(gpu, op.getBlock(), size,
                                op.getKeys().getType().getElementType())
          .getTokens();
  int64_t pieces = llvm::divideCeil(op.getBlock(), tokens);
  int64_t heads = op.getHeads().getType().getDimSize(1) *
                  static_cast<int64_t>(op.getEnd() - op.getBegin());
  int64_t parts = 1;
  if (gpu.kind == GpuKind::Nvidia)
    parts = std::clamp<int64_t>(kPlaces * gpu.computeUnits / heads, 1, pieces);
  return {parts, heads, pieces * tokens};
}

FailureOr<KernelScratch> gist::getAbsorbScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  auto op = findRoot<ClusterAbsorbOp>(kernel);
  const GpuInfo *gpu = getGpuTarget(kernel->getParentOfType<ModuleOp>());
  if (!gpu)
    return failure();
  if (!op)
    return scratch;
  Shares shares = getShares(op, *gpu);
  if (shares.parts == 1)
    return scratch;
  MLIRContext *context = kernel.getContext();
  for (Type element :
       {Type(Float32Type::get(context)), Type(IntegerType::get(context, 32))})
    scratch.tensors.push_back({{getAffineConstantExpr(shares.heads, context),
                                getAffineConstantExpr(shares.tokens, context)},
                               element});
  scratch.controlWords = shares.heads;
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<std::optional<AbsorbParts>> AbsorbParts::find(GpuKernel &kernel,
                                                        ClusterAbsorbOp op) {
  constexpr unsigned kMemory = 3; // Products, owners and words.
  func::FuncOp source = kernel.source;
  if (getKernelAttr(source).getScratch() == 0)
    return std::optional<AbsorbParts>();
  Builder &b = kernel.b;
  Shares shares = getShares(op, kernel.b.getGpu());
  Type types[kMemory] = {
      RankedTensorType::get({shares.heads, shares.tokens}, b.getF32Type()),
      RankedTensorType::get({shares.heads, shares.tokens}, b.getI32Type()),
      RankedTensorType::get(shares.heads, b.getI32Type())};
  // Kernels may be written by hand.
  unsigned count = source.getNumArguments();
  if (getKernelAttr(source).getScratch() != kMemory || count < kMemory ||
      source.getArgumentTypes().take_back(kMemory) != ArrayRef(types))
    return op.emitOpError("expects scratch memory of ")
           << types[0] << ", " << types[1] << " and " << types[2] << " for "
           << shares.parts << " workgroups of a head";
  auto target = cast<func::FuncOp>(kernel.b.getBlock()->getParentOp());
  return std::optional(
      AbsorbParts(kernel.b, shares.parts, op.getHeads().getType().getDimSize(1),
                  target.getArgument(count - 3), target.getArgument(count - 2),
                  target.getArgument(count - 1)));
}

AbsorbParts::AbsorbParts(GpuBuilder &b, int64_t most, int64_t heads,
                         Value bests, Value owners, Value control)
    : b(b), most(most), bests(bests), owners(owners), control(control),
      slot(b.allocWorkgroup({1}, b.getI32Type())), part(b.block(2)),
      item(b.add(b.mul(b.block(1), heads), b.block(0))) {}

void AbsorbParts::keep(Value number, Value best, Value owner) {
  b.write(best, bests, {item, number});
  b.write(owner, owners, {item, number});
}

Value AbsorbParts::getBest(Value number) {
  return b.read(bests, {item, number});
}

Value AbsorbParts::getOwner(Value number) {
  return b.read(owners, {item, number});
}

Value AbsorbParts::isLast(Value active) {
  Value last = arith::IndexCastOp::create(b, b.getI32Type(), b.sub(active, 1));
  releaseFence(b);
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    // The last one leaves the word zero.
    Value ticket = atomicUpdate(b, LLVM::AtomicBinOp::uinc_wrap, last, control,
                                item, Order::Both);
    b.write(ticket, slot, b.index(0));
  });
  b.barrier();
  acquireFence(b);
  return b.compare(CmpIPredicate::eq, b.read(slot, b.index(0)), last);
}
