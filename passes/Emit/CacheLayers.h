//===- CacheLayers.h - Which part of a cache a call uses --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All layers keep their clusters and rings in the same tensors, each in regions
// of its own. Calls that use those of different layers need not wait for each
// other.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_EMIT_CACHELAYERS_H
#define GIST_PASSES_EMIT_CACHELAYERS_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace gist {

/// Layers from `begin` up to but not including `end`.
struct CacheLayers {
  int64_t begin, end;
};

/// The layers whose clusters and rings `call` uses; nothing for a call of
/// another kernel, or one that does not show its layer.
std::optional<CacheLayers> getCacheLayers(DispatchOp call);

/// The arguments of `function` that calls use by layers, and no call otherwise.
llvm::SmallPtrSet<mlir::Value, 8>
findLayeredCaches(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_EMIT_CACHELAYERS_H
