//===- GistClusterOps.h - A KV cache of clusters ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTCLUSTEROPS_H
#define GIST_DIALECT_GISTCLUSTEROPS_H

#include "dialect/GistDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "runtime/format/HeadTable.h"

#define GET_OP_CLASSES
#include "dialect/GistClusterOps.h.inc"

namespace gist {

/// On a module: programs for other targets continue with the cache where this
/// one left it, so that all must leave the same after a call.
/// The driver sets it where a module has several targets and a plan.
inline constexpr llvm::StringLiteral kSharedStateAttr = "gist.shared_state";

/// What is compared with a head's theta for token `t`: `cosine`, or where theta
/// is random (runtime/format/HeadTable.h) the token's own number from 2 to 3.
/// All but `t` are f32.
/// The definition and the kernels of all targets share it, so that they put a
/// token into the same cluster.
mlir::Value createLikeness(mlir::ImplicitLocOpBuilder &b, mlir::Value cosine,
                           mlir::Value t, mlir::Value theta);

} // namespace gist

#endif // GIST_DIALECT_GISTCLUSTEROPS_H
