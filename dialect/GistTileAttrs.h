//===- GistTileAttrs.h - Choices that passes obey ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTTILEATTRS_H
#define GIST_DIALECT_GISTTILEATTRS_H

#include "dialect/GistDialect.h"

#include "dialect/GistTileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistTileAttrs.h.inc"

#endif // GIST_DIALECT_GISTTILEATTRS_H
