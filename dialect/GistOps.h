//===- GistOps.h - Operations of the gist dialect --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTOPS_H
#define GIST_DIALECT_GISTOPS_H

#include "dialect/GistDialect.h"
#include "dialect/GistNames.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#define GET_OP_CLASSES
#include "dialect/GistOps.h.inc"

namespace gist {

/// Size in bytes and in values of one block of a storage format.
struct BlockLayout {
  int64_t bytes;
  int64_t values;
};
BlockLayout getBlockLayout(BlockFormat format);

/// Symbols of planned sizes: tokens, tokens before, capacity.
/// In this order: the memory plan, the emitter and gist.arena go by it.
inline constexpr unsigned kNumSizeSymbols = 3;

} // namespace gist

#endif // GIST_DIALECT_GISTOPS_H
