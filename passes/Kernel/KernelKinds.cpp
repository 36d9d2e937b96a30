//===- KernelKinds.cpp - Which op makes a kernel what it is ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelKinds.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistSamplingOps.h"
#include "dialect/GistTileOps.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

std::optional<KernelKind> gist::getRootKind(Operation *op) {
  using Kind = std::optional<KernelKind>;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([](QuantizedMatmulOp) { return KernelKind::QuantizedMatmul; })
      .Case([](GuardedMatmulOp) { return KernelKind::GuardedMatmul; })
      // What -gist-gpu-tile-products makes of a product: the kind stays.
      .Case([](TileProductOp) { return KernelKind::Matmul; })
      .Case([](AttentionOp) { return KernelKind::Attention; })
      .Case([](AttendOp) { return KernelKind::Attend; })
      .Case([](ClusterAttentionOp) { return KernelKind::ClusterAttention; })
      .Case<ClusterUpdateOp, ClusterAbsorbOp>(
          [](Operation *) { return KernelKind::ClusterUpdate; })
      .Case<GramSelectOp, CascadeUpdateOp>(
          [](Operation *) { return KernelKind::Select; })
      .Case([](GatedProjectionOp) { return KernelKind::GatedProjection; })
      .Case([](SampleOp) { return KernelKind::Sample; })
      .Case([](linalg::LinalgOp op) {
        return linalg::isaContractionOpInterface(op) ? Kind(KernelKind::Matmul)
                                                     : Kind();
      })
      .Default([](Operation *) { return Kind(); });
}

LogicalResult gist::verifyHasBody(func::FuncOp kernel) {
  if (!kernel.isExternal() && llvm::hasSingleElement(kernel.getBody()))
    return success();
  return kernel.emitOpError("is a kernel and needs a body of one block, got ")
         << kernel.getBody().getBlocks().size() << " blocks";
}

LogicalResult gist::verifyStraightLine(func::FuncOp function) {
  if (llvm::hasSingleElement(function.getBody()))
    return success();
  return function.emitOpError("expects straight-line code, got ")
         << function.getBody().getBlocks().size() << " blocks";
}

LogicalResult gist::verifyKernelBody(func::FuncOp kernel) {
  if (failed(verifyHasBody(kernel)))
    return failure();
  KernelKind kind = getKernelKind(kernel);
  // The one kind with several products, one for each level of its gate.
  bool hasProducts = kind == KernelKind::GatedProducts;
  KernelKind expected = hasProducts ? KernelKind::Matmul : kind;
  int64_t roots = 0;
  Operation *other = nullptr;
  kernel.walk([&](Operation *op) {
    // Attention may store the rows that it makes.
    if (auto update = dyn_cast<ClusterUpdateOp>(op);
        update && update.getAbsorbed() && kind == KernelKind::ClusterAttention)
      return;
    std::optional<KernelKind> found = getRootKind(op);
    roots += found == expected;
    if (found && found != expected && !other)
      other = op;
  });
  auto report = [&]() -> InFlightDiagnostic {
    return kernel.emitOpError("is a kernel of kind ")
           << stringifyKernelKind(kind);
  };
  if (other)
    return report() << ", but contains '" << other->getName()
                    << "', which makes it one of kind "
                    << stringifyKernelKind(*getRootKind(other));
  // No op has the kind Rows: that a kernel has no root is what makes it one.
  if (kind == KernelKind::Rows || (hasProducts && roots > 0) || roots == 1)
    return success();
  return report() << " and needs " << (hasProducts ? "at least one" : "one")
                  << " op of that kind, got " << roots;
}
