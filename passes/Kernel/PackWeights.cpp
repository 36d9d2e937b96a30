//===- PackWeights.cpp - Weights in the order kernels read them -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/PackWeights.h"
#include "dialect/Formats.h"

using namespace gist;

std::vector<uint8_t> gist::packWeight(BlockFormat format, PackingAttr packing,
                                      llvm::ArrayRef<uint8_t> stored,
                                      int64_t rows, int64_t columns) {
  return packWeight(getWeightFormat(format), getPackedLayout(packing),
                    {stored.data(), stored.size()}, rows, columns);
}
