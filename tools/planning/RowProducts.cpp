//===- RowProducts.cpp - Sums of products over many rows ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/RowProducts.h"

#include "tools/planning/AllCores.h"

#include <cstring>

using namespace gist;
using namespace gist::plan;

#ifdef __x86_64__
#define GIST_BEST_INSTRUCTIONS                                                 \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GIST_BEST_INSTRUCTIONS
#endif

/// A tile of sums stays in registers: 12 of AVX2, 24 of NEON.
static constexpr Eigen::Index kTileRows = 6, kTileColumns = 16;
using Lanes = float __attribute__((vector_size(kTileColumns * sizeof(float))));

/// The product of a panel of x with a panel of y.
GIST_BEST_INSTRUCTIONS
static void multiplyPanels(const float *x, const float *y, Eigen::Index depth,
                           float *tile) {
  Lanes sums[kTileRows] = {};
  for (Eigen::Index i = 0; i < depth; ++i) {
    Lanes row;
    std::memcpy(&row, y + i * kTileColumns, sizeof(row));
#pragma unroll
    for (Eigen::Index j = 0; j < kTileRows; ++j)
      sums[j] += x[i * kTileRows + j] * row;
  }
  std::memcpy(tile, sums, sizeof(sums));
}

static Eigen::Index countPanels(Eigen::Index columns, Eigen::Index width) {
  return (columns + width - 1) / width;
}

namespace {
/// A product and its operands as panels of `kTileRows` and of `kTileColumns`
/// columns, one after the other, with zeros behind the last column.
struct PackedProduct {
  const RowProduct *product;
  std::vector<float> x, y;
};

/// Some rows of the sums of one product.
struct Stripe {
  const PackedProduct *packed;
  Eigen::Index firstPanel, endPanel;
};
} // namespace

static std::vector<float> pack(const Matrix &rows, Eigen::Index width) {
  Eigen::Index panels = countPanels(rows.cols(), width);
  std::vector<float> result(static_cast<size_t>(panels * rows.rows() * width));
  for (Eigen::Index panel = 0; panel < panels; ++panel) {
    Eigen::Index first = panel * width,
                 count = std::min(width, rows.cols() - first);
    float *to = result.data() + panel * rows.rows() * width;
    for (Eigen::Index i = 0; i < rows.rows(); ++i, to += width)
      std::copy_n(rows.data() + i * rows.cols() + first, count, to);
  }
  return result;
}

static void multiply(const Stripe &stripe) {
  const auto &[product, x, y] = *stripe.packed;
  Matrix &sums = *product->sums;
  Eigen::Index depth = product->x->rows();
  float tile[kTileRows * kTileColumns];
  for (Eigen::Index j = 0; j < sums.cols(); j += kTileColumns)
    for (Eigen::Index panel = stripe.firstPanel; panel < stripe.endPanel;
         ++panel) {
      Eigen::Index i = panel * kTileRows,
                   rows = std::min(kTileRows, sums.rows() - i),
                   columns = std::min(kTileColumns, sums.cols() - j);
      // Above the diagonal.
      if (product->isLower && j > i + rows - 1)
        continue;
      multiplyPanels(x.data() + panel * depth * kTileRows, y.data() + j * depth,
                     depth, tile);
      for (Eigen::Index row = 0; row < rows; ++row)
        for (Eigen::Index column = 0; column < columns; ++column)
          sums(i + row, j + column) += tile[row * kTileColumns + column];
    }
}

void plan::addProducts(std::span<const RowProduct> products) {
  std::vector<PackedProduct> packed(products.size());
  forEachOnAllCores(products.size(), [&](size_t i) {
    packed[i] = {&products[i], pack(*products[i].x, kTileRows),
                 pack(*products[i].y, kTileColumns)};
  });
  // Panels of x that stay in the cache while those of y come by.
  constexpr Eigen::Index kPanels = 8;
  std::vector<Stripe> stripes;
  for (const PackedProduct &one : packed) {
    Eigen::Index panels = countPanels(one.product->sums->rows(), kTileRows);
    for (Eigen::Index first = 0; first < panels; first += kPanels)
      stripes.push_back({&one, first, std::min(first + kPanels, panels)});
  }
  forEachOnAllCores(stripes.size(), [&](size_t i) { multiply(stripes[i]); });
}
