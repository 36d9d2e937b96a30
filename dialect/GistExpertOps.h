//===- GistExpertOps.h - Products with a weight for each row ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTEXPERTOPS_H
#define GIST_DIALECT_GISTEXPERTOPS_H

#include "dialect/GistOps.h"

namespace gist {

/// The sizes of a product with experts; GistExpertOps.td says what they mean.
struct ExpertSizes {
  int64_t experts; ///< E
  int64_t slots;   ///< S: experts that a token names
  int64_t columns; ///< N: outputs of an expert
  int64_t depth;   ///< K: inputs of an expert
  /// A row of the input for each slot, not one for all of a token.
  bool hasOwnRows;
};

} // namespace gist

#define GET_OP_CLASSES
#include "dialect/GistExpertOps.h.inc"

#endif // GIST_DIALECT_GISTEXPERTOPS_H
