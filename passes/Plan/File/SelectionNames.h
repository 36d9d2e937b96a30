//===- SelectionNames.h - What a module says of selections ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_SELECTIONNAMES_H
#define GIST_PASSES_PLAN_FILE_SELECTIONNAMES_H

namespace gist {

/// The property of a module that says how each layer selects representatives:
/// "fresh", "covering", "paper" or "inherit", or "-" where it does not.
inline constexpr const char *kSelectionsProperty = "selections";

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_SELECTIONNAMES_H
