//===- JsonNesting.h - How deep JSON from strangers may nest ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON library parses and frees values of any depth, but copies and writes
// them by recursion. So the depth is looked at before anything is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_JSONNESTING_H
#define GIST_RUNTIME_SUPPORT_JSONNESTING_H

#include "runtime/support/Status.h"

#include <string_view>

namespace gist {

/// Lists and objects inside one another; no request and no file of a plan
/// needs as many.
constexpr size_t kMaxJsonDepth = 32;

/// Whether a text, which need not be JSON, nests deeper than that.
bool nestsTooDeep(std::string_view text);

/// The same as an error of a file.
Status checkJsonNesting(std::string_view text);

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_JSONNESTING_H
