//===- RowByRow.h - Which calls treat every row alike -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of a model treats the tokens of a call one by one: products with
// weights, norms, activations. Row t of what such a kernel gives depends on row
// t of what it reads, on weights, and on nothing else: not on the other rows,
// not on where the row lies. A runtime may put the rows of several sequences
// into one call of it. What reads a cache, or a position, is of one sequence.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_ROWBYROW_H
#define GIST_PASSES_KERNEL_ROWBYROW_H

#include "dialect/GistOps.h"

namespace gist {

/// Whether `tensor` of a host function has a row for every token of the call:
/// its first size is the number of tokens, the others are constants.
bool hasRows(mlir::Value tensor);

/// Whether the kernel of `call` treats rows one by one, by what its ops mean.
/// Also true for one that reads nothing, such as the clearing of words. False
/// where it is not clear. What a call reads that has no rows counts as the same
/// for all: the caller knows whether it is state.
bool isRowByRow(DispatchOp call);

/// Marks the kernels of `calls` that a GPU launches once for many sequences
/// (kByTableAttr): those of `score` that rows of several sequences cannot
/// share, and the one at the end of `prefill`, which draws a token. Nothing for
/// CPUs and for one of several ranks, whose runtime has no use for it.
void markSharedLaunches(mlir::ModuleOp calls);

} // namespace gist

#endif // GIST_PASSES_KERNEL_ROWBYROW_H
