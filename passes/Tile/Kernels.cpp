//===- Kernels.cpp - Kernel functions -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Kernels.h"
#include "dialect/GistClusterOps.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace mlir;
using namespace gist;

TileAttr gist::getKernelTile(Operation *op) {
  auto kernel = isa<func::FuncOp>(op) ? cast<func::FuncOp>(op)
                                      : op->getParentOfType<func::FuncOp>();
  return kernel ? kernel->getAttrOfType<TileAttr>(kTileAttr) : TileAttr();
}

bool gist::isTransposedMatmul(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !linalg::isaContractionOpInterface(op))
    return false;
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  using Exprs = ArrayRef<AffineExpr>;
  SmallVector<AffineMap> expected = AffineMap::inferFromExprList(
      ArrayRef<Exprs>{Exprs{m, k}, Exprs{n, k}, Exprs{m, n}}, op.getContext());
  return op.getIndexingMapsArray() == expected;
}

Operation *gist::getAnchor(func::FuncOp kernel) {
  Operation *anchor = nullptr;
  kernel.walk([&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (isa<QuantizedMatmulOp, AttentionOp, ClusterAttentionOp>(op) ||
        (linalgOp && isTransposedMatmul(linalgOp)))
      anchor = op;
  });
  return anchor;
}
