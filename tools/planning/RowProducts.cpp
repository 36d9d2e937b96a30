//===- RowProducts.cpp - Sums of products over many rows ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/RowProducts.h"

#include "tools/planning/AllCores.h"

#include <cstring>
#include <map>

using namespace gist;
using namespace gist::plan;

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
    for (Eigen::Index j = 0; j < kTileRows; ++j)
      sums[j] += x[i * kTileRows + j] * row;
  }
  std::memcpy(tile, sums, sizeof(sums));
}

static Eigen::Index countPanels(Eigen::Index columns, Eigen::Index width) {
  return (columns + width - 1) / width;
}

namespace {
/// An operand as panels of `width` columns, one after the other, with zeros
/// behind the last column.
struct Panels {
  const Matrix *rows;
  Eigen::Index width;
  std::vector<float> numbers = {};
};

/// A product with the panels of its operands.
struct PackedProduct {
  const RowProduct *product;
  const Panels *x, *y;
};

/// Some rows of sums, and the products that are added to them: rows of sums are
/// for one thread.
struct Stripe {
  const std::vector<PackedProduct> *products;
  Eigen::Index firstPanel, endPanel;
};
} // namespace

static void pack(Panels &panels) {
  const auto &[rows, width, unused] = panels;
  Eigen::Index count = countPanels(rows->cols(), width);
  panels.numbers.resize(static_cast<size_t>(count * rows->rows() * width));
  for (Eigen::Index panel = 0; panel < count; ++panel) {
    Eigen::Index first = panel * width,
                 columns = std::min(width, rows->cols() - first);
    float *to = panels.numbers.data() + panel * rows->rows() * width;
    for (Eigen::Index i = 0; i < rows->rows(); ++i, to += width)
      std::copy_n(rows->data() + i * rows->cols() + first, columns, to);
  }
}

static void multiply(const PackedProduct &packed, const Stripe &stripe) {
  const RowProduct *product = packed.product;
  const float *x = packed.x->numbers.data(), *y = packed.y->numbers.data();
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
      multiplyPanels(x + panel * depth * kTileRows, y + j * depth, depth, tile);
      for (Eigen::Index row = 0; row < rows; ++row)
        for (Eigen::Index column = 0; column < columns; ++column)
          sums(i + row, j + column) += tile[row * kTileColumns + column];
    }
}

void plan::addProducts(std::span<const RowProduct> products) {
  // Many products read the same operands.
  std::map<std::pair<const Matrix *, Eigen::Index>, Panels> operands;
  auto panelsOf = [&](const Matrix *rows, Eigen::Index width) {
    return &operands.try_emplace({rows, width}, Panels{rows, width})
                .first->second;
  };
  std::map<Matrix *, std::vector<PackedProduct>> bySums;
  for (const RowProduct &product : products)
    bySums[product.sums].push_back({&product, panelsOf(product.x, kTileRows),
                                    panelsOf(product.y, kTileColumns)});
  std::vector<Panels *> all;
  for (auto &[key, panels] : operands)
    all.push_back(&panels);
  forEachOnAllCores(all.size(), [&](size_t i) { pack(*all[i]); });
  // Panels of x that stay in the cache while those of y come by.
  constexpr Eigen::Index kPanels = 8;
  std::vector<Stripe> stripes;
  for (const auto &[sums, list] : bySums) {
    Eigen::Index panels = countPanels(sums->rows(), kTileRows);
    for (Eigen::Index first = 0; first < panels; first += kPanels)
      stripes.push_back({&list, first, std::min(first + kPanels, panels)});
  }
  forEachOnAllCores(stripes.size(), [&](size_t i) {
    for (const PackedProduct &packed : *stripes[i].products)
      multiply(packed, stripes[i]);
  });
}
