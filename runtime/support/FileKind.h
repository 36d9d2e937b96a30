//===- FileKind.h - Files that people take for others -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_FILEKIND_H
#define GIST_RUNTIME_SUPPORT_FILEKIND_H

#include "runtime/support/Bytes.h"

namespace gist {

/// What a file that was expected to be something else is, and what to do: the
/// end of a sentence that begins with its name. Null where it could be
/// anything.
const char *explainKind(Bytes file);

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_FILEKIND_H
