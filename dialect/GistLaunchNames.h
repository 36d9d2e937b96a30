//===- GistLaunchNames.h - Attributes of launches ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the attributes by which kernels of sm_90 begin before the kernels
// that they wait for are over (docs/decisions/013-overlapping-launches.md), and
// by which kernels of a GPU know that they have few rows.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTLAUNCHNAMES_H
#define GIST_DIALECT_GISTLAUNCHNAMES_H

#include "llvm/ADT/StringRef.h"

namespace gist {

/// On an argument of a kernel: a weight in every call. No kernel writes it, so
/// it can be read before earlier kernels are over.
inline constexpr llvm::StringLiteral kConstantArgAttr = "gist.constant";

/// On a kernel's code for a GPU: it waits itself for the kernels before it, so
/// a launch does not have to.
inline constexpr llvm::StringLiteral kWaitsAttr = "gist.waits";

/// On a kernel of a GPU: sequences cannot share a call of it, but may share a
/// launch. Its code is then there a second time, under a name with
/// kByTableSuffix, with one slot: the address of a table of slots, in which
/// workgroups with number z in the grid's third dimension have row z.
inline constexpr llvm::StringLiteral kByTableAttr = "gist.by_table";
inline constexpr llvm::StringLiteral kByTableSuffix = "_by_table";

/// On an entry, and on the kernels of its products: the largest number of
/// tokens of a call, and so of rows of a product.
inline constexpr llvm::StringLiteral kMaxTokensAttr = "gist.max_tokens";

} // namespace gist

#endif // GIST_DIALECT_GISTLAUNCHNAMES_H
