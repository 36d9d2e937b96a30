//===- CausalMask.h - Masks that are computed from positions ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_CAUSALMASK_H
#define GIST_PASSES_IMPORT_CAUSALMASK_H

#include "mlir/IR/Value.h"

namespace gist {

/// What a mask of queries x keys says, where its computation shows that.
enum class MaskMeaning {
  Unknown,
  UpToQuery,    ///< booleans: true where the key is not after the query
  AfterQuery,   ///< booleans: the opposite
  CausalScores, ///< to add: 0 where the key is not after the query, else -inf
};

MaskMeaning findMaskMeaning(mlir::Value mask);

} // namespace gist

#endif // GIST_PASSES_IMPORT_CAUSALMASK_H
