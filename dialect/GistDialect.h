//===- GistDialect.h - Dialect, types and attributes -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTDIALECT_H
#define GIST_DIALECT_GISTDIALECT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/GistDialect.h.inc"
#include "dialect/GistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/GistTypes.h.inc"

#endif // GIST_DIALECT_GISTDIALECT_H
