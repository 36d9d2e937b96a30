//===- GistPlanOps.h - A plan, and the weights it makes ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTPLANOPS_H
#define GIST_DIALECT_GISTPLANOPS_H

#include "dialect/GistDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#include "dialect/GistPlanEnums.h.inc"

#define GET_OP_CLASSES
#include "dialect/GistPlanOps.h.inc"

#endif // GIST_DIALECT_GISTPLANOPS_H
