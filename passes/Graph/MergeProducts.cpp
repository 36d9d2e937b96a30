//===- MergeProducts.cpp - The pass -gist-merge-products ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/Tile/Kernels.h"

namespace gist {
#define GEN_PASS_DEF_MERGEPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct MergeProductsPass final
    : gist::impl::MergeProductsPassBase<MergeProductsPass> {
  void runOnOperation() override {}
};
} // namespace
