//===- GistPlanAttrs.h - What a module says of its plan ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTPLANATTRS_H
#define GIST_DIALECT_GISTPLANATTRS_H

#include "llvm/ADT/StringRef.h"

namespace gist {

/// On a module: gates of its plan may be left out where its target is faster
/// without them. Programs for several targets, which must give the same, do not
/// have it.
inline constexpr llvm::StringLiteral kFastPlanAttr = "gist.fast_plan";

} // namespace gist

#endif // GIST_DIALECT_GISTPLANATTRS_H
