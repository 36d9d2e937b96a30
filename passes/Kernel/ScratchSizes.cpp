//===- ScratchSizes.cpp - Memory that kernels work in ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ScratchSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gist;

bool gist::hasCoveringBits(Operation *selection) {
  auto update = dyn_cast<CascadeUpdateOp>(selection);
  return !update || update.getRule() == CascadeRule::Covering;
}

int64_t gist::getGatedScratch(GatedProjectionOp op) {
  RankedTensorType basis = op.getBasis().getType();
  // Rows of x and, where a product needs them, of the residual.
  int64_t rows = op.getLow().empty() ? 1 : 2;
  return op.getInput().getType().getDimSize(0) *
         (kGatedParts * basis.getDimSize(1) +
          rows * llvm::alignTo(basis.getDimSize(0), kGatedRowUnit) +
          kGatedItems * kGatedNorms);
}

int64_t gist::getKeptTokens(int64_t tokens) {
  int64_t chunk = kSampleThreads * kSampleWidth;
  int64_t chunks = llvm::divideCeil(tokens, chunk);
  return chunk * llvm::alignTo(chunks, std::min(chunks, kSampleReads));
}
