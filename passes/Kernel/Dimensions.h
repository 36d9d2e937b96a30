//===- Dimensions.h - Which dimension an op asks for ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_DIMENSIONS_H
#define GIST_PASSES_KERNEL_DIMENSIONS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace gist {

/// The dimension whose size `dim` is. None if the index is not constant or out
/// of range: the verifier accepts both.
inline std::optional<int64_t> getDimension(mlir::tensor::DimOp dim) {
  std::optional<int64_t> number = dim.getConstantIndex();
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(dim.getSource().getType());
  if (!number || !type || *number < 0 || *number >= type.getRank())
    return std::nullopt;
  return number;
}

} // namespace gist

#endif // GIST_PASSES_KERNEL_DIMENSIONS_H
