//===- Nesting.h - How deep the text of a module may nest -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_NESTING_H
#define GIST_PASSES_DRIVER_NESTING_H

#include "runtime/support/Status.h"

#include "llvm/ADT/StringRef.h"

namespace gist::compile {

/// Brackets in brackets, and signs in a row. What compilers write nests less
/// than 30 deep.
inline constexpr int kMaxIrNesting = 256;

/// Whether `text` of MLIR, from the file `name`, nests no deeper than that.
/// MLIR's parser recurses, and would overflow the stack.
Status checkNesting(const std::string &name, llvm::StringRef text);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_NESTING_H
