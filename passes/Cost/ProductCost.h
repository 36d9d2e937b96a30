//===- ProductCost.h - How long products take on a GPU ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of products by wgmma are chosen by what they would cost. The model has
// few numbers, and test/unit/ProductCostTest.cpp compares what it chooses with
// what was measured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_COST_PRODUCTCOST_H
#define GIST_PASSES_COST_PRODUCTCOST_H

#include "dialect/GpuInfo.h"
#include "llvm/ADT/SmallVector.h"

namespace gist {

/// What a product has beside totals: sums of a block of k, which are scaled
/// before they are added.
enum class BlockSums { None, Floats, Integers };

/// y = x W^T, with y of rows x columns, of numbers of one or two bytes.
struct ProductSize {
  int64_t rows, columns, depth, bytes = 2;
  BlockSums sums = BlockSums::None;
};

/// How wgmma cuts a product.
struct ProductTile {
  /// The part of the result that one workgroup computes.
  int64_t rows, columns;
  int64_t stages;

  int64_t getWarps() const;
  /// Bytes of workgroup memory.
  int64_t getMemory() const;
};

/// Microseconds that a product takes, its launch among them.
double estimateProduct(const ProductSize &size, const ProductTile &tile,
                       const GpuInfo &gpu);

/// Tiles that can be chosen for products with such sums.
llvm::SmallVector<ProductTile>
getProductTiles(const GpuInfo &gpu, BlockSums sums = BlockSums::None);

/// The cheapest of them. Rows that are not known, -1, count as some hundreds
/// and some thousands.
ProductTile chooseProductTile(const ProductSize &size, const GpuInfo &gpu);

/// Rows that fall into groups, each with a weight of its own: mixtures of
/// experts.
struct ProductGroups {
  int64_t groups; ///< weights
  int64_t slots;  ///< rows of each row of x, in groups that differ
};

/// The cheapest tile of a product in groups, of `size.columns` each; the rows
/// are those of x.
ProductTile chooseGroupedTile(const ProductSize &size,
                              const ProductGroups &groups, const GpuInfo &gpu);

/// The same with the tile that would be chosen before the rows are known.
double estimateProduct(const ProductSize &size, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_COST_PRODUCTCOST_H
