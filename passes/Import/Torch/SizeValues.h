//===- SizeValues.h - Sizes as formulas of the tokens -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the numbers of a graph are, as polynomials of T, the tokens of a call.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_TORCH_SIZEVALUES_H
#define GIST_PASSES_IMPORT_TORCH_SIZEVALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

namespace gist {

/// A polynomial of T, which is at least one.
class Size {
public:
  Size(int64_t constant = 0) {
    if (constant != 0)
      terms[0] = constant;
  }
  static Size tokens() {
    Size size;
    size.terms[1] = 1;
    return size;
  }

  Size operator+(const Size &other) const;
  Size operator-(const Size &other) const;
  Size operator*(const Size &other) const;
  /// None where the division leaves a rest.
  std::optional<Size> divideBy(const Size &other) const;
  bool operator==(const Size &other) const = default;
  bool operator<(const Size &other) const { return terms < other.terms; }

  std::optional<int64_t> getConstant() const;
  /// True if it is known to be at least zero for every T.
  bool isNeverNegative() const;
  /// The value at a T so large that sizes which differ in anything that a model
  /// has differ here.
  long double guess() const;

  /// The factor of each power of T.
  std::map<unsigned, int64_t> terms;
};

/// Evaluates numbers and sizes of one function. Remembers what it has found, so
/// it must not outlive a change of them.
class SizeValues {
public:
  /// An index or an integer; none where it depends on something else.
  std::optional<Size> get(mlir::Value number);
  std::optional<bool> getTruth(mlir::Value boolean);
  std::optional<Size> getSize(mlir::Value tensor, int64_t dim);
  /// Empty where a size is unknown.
  std::optional<llvm::SmallVector<Size>> getShape(mlir::Value tensor);

private:
  std::optional<Size> compute(mlir::Value number);
  std::optional<Size> computeSize(mlir::Value tensor, int64_t dim);

  llvm::DenseMap<mlir::Value, std::optional<Size>> known;
};

} // namespace gist

#endif // GIST_PASSES_IMPORT_TORCH_SIZEVALUES_H
