//===- GistCpuTileAttrs.h - More ways to cut for a CPU ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTCPUTILEATTRS_H
#define GIST_DIALECT_GISTCPUTILEATTRS_H

#include "dialect/GistTileAttrs.h"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistCpuTileAttrs.h.inc"

namespace gist {

/// On a kernel that multiplies one row with packed weights: how many blocks of
/// 32 it fetches them ahead of their use, an i64. Absent: the CPU has to guess.
/// -gist-select-tile-config writes it.
inline constexpr llvm::StringLiteral kPrefetchAttr = "gist.prefetch";

} // namespace gist

#endif // GIST_DIALECT_GISTCPUTILEATTRS_H
