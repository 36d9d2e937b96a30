//===- Verify.h - Checks that several ops share -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_VERIFY_H
#define GIST_DIALECT_VERIFY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"

#include <cmath>

namespace gist {

/// True if the sizes can be equal: dynamic ones can be anything.
/// What turns out unequal at run time is undefined: kernels do not check.
inline bool canBeEqual(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) ||
         mlir::ShapedType::isDynamic(b);
}

/// A size for diagnostics: a number, or `?`.
inline std::string printSize(int64_t size) {
  return mlir::ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

/// The type of an operand whose type has not been verified yet: inference runs
/// while parsing, before verification. Null, with an error, when it is not a
/// tensor of `minRank` to `maxRank` dimensions.
inline mlir::RankedTensorType
getTensorType(std::optional<mlir::Location> location, mlir::Value value,
              int64_t minRank, int64_t maxRank, llvm::StringRef name) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (type && type.getRank() >= minRank && type.getRank() <= maxRank)
    return type;
  (void)mlir::emitOptionalError(
      location, "expects ", name, " to be a tensor of rank ", minRank,
      minRank == maxRank ? std::string() : " to " + std::to_string(maxRank),
      ", got ", value.getType());
  return {};
}

/// The number `attribute` holds, as a double.
inline double toDouble(const llvm::APFloat &value) {
  return value.convertToDouble();
}

/// Emits what (C…) on `scale` asks for.
inline mlir::LogicalResult
verifyScale(mlir::Operation *op, const std::optional<llvm::APFloat> &scale) {
  if (!scale)
    return mlir::success();
  double value = toDouble(*scale);
  if (!std::isfinite(value) || value <= 0)
    return op->emitOpError("expects a finite, positive scale, got ") << value;
  return mlir::success();
}

/// Emits what (C…) on `offsets` asks for.
inline mlir::LogicalResult
verifyOffsets(mlir::Operation *op, mlir::Value offsets, llvm::StringRef name) {
  if (!offsets)
    return mlir::success();
  int64_t size =
      llvm::cast<mlir::RankedTensorType>(offsets.getType()).getDimSize(0);
  if (!mlir::ShapedType::isDynamic(size) && size < 2)
    return op->emitOpError("expects ")
           << name << " with at least two entries, got " << size;
  return mlir::success();
}

} // namespace gist

#endif // GIST_DIALECT_VERIFY_H
