//===- GistRankOps.h - One model on several ranks ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTRANKOPS_H
#define GIST_DIALECT_GISTRANKOPS_H

#include "dialect/GistDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/GistRankOps.h.inc"

namespace gist {

/// On a function without a body that `gist.dispatch` calls: the runtime does
/// it, together with the other ranks. Its value is the columns of each rank for
/// a gather, and empty for a sum.
inline constexpr const char *kCollectiveAttr = "gist.collective";

/// Beside that: the ranks that hand on and get.
inline constexpr const char *kHandOnAttr = "gist.hand_on";

} // namespace gist

#endif // GIST_DIALECT_GISTRANKOPS_H
