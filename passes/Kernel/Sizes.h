//===- Sizes.h - Sizes as polynomials of the call's symbols -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes in a host function depend on three numbers of a call: s0 the tokens in
// it, s1 the tokens before it, s2 the capacity of the cache.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_SIZES_H
#define GIST_PASSES_KERNEL_SIZES_H

#include "dialect/GistOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <array>
#include <map>

namespace gist {

/// The value of an index computed in a host function. The first dimension of an
/// argument is the tokens, every other one the capacity, and an index argument
/// the tokens before. Null for any other index.
mlir::AffineExpr getSymbolicValue(mlir::Value index);

/// The sizes of a tensor of a host function; empty when one is unknown.
llvm::SmallVector<mlir::AffineExpr> getSymbolicShape(mlir::Value tensor);

/// A polynomial in the three symbols with coefficients that are not negative.
class SizePolynomial {
public:
  SizePolynomial() = default;
  static SizePolynomial constant(int64_t value);

  /// None if `expr` is not such a polynomial.
  static std::optional<SizePolynomial> from(mlir::AffineExpr expr);

  SizePolynomial operator*(const SizePolynomial &other) const;
  SizePolynomial operator+(const SizePolynomial &other) const;

  /// A bound for both: the larger of each pair of coefficients.
  SizePolynomial max(const SizePolynomial &other) const;
  /// A bound all of whose coefficients are multiples of `alignment`.
  SizePolynomial alignTo(int64_t alignment) const;

  int64_t evaluate(std::array<int64_t, kNumSizeSymbols> values) const;
  mlir::AffineMap toMap(mlir::MLIRContext *context) const;

private:
  using Exponents = std::array<uint8_t, kNumSizeSymbols>;
  std::map<Exponents, int64_t> terms;
};

/// Bytes of a tensor; none when a size is unknown.
std::optional<SizePolynomial> getByteSize(mlir::Value tensor);

} // namespace gist

#endif // GIST_PASSES_KERNEL_SIZES_H
