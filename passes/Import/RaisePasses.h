//===- RaisePasses.h - Passes on other people's graphs ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_RAISEPASSES_H
#define GIST_PASSES_IMPORT_RAISEPASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace gist {

#define GEN_PASS_DECL
#include "passes/Import/RaisePasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Import/RaisePasses.h.inc"

} // namespace gist

#endif // GIST_PASSES_IMPORT_RAISEPASSES_H
