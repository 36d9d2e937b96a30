//===- GistTargetAttrs.h - What a module is compiled for --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTTARGETATTRS_H
#define GIST_DIALECT_GISTTARGETATTRS_H

#include "dialect/GistDialect.h"

#include "dialect/GistTargetEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistTargetAttrs.h.inc"

#endif // GIST_DIALECT_GISTTARGETATTRS_H
