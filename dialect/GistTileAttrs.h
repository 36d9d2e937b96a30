//===- GistTileAttrs.h - Choices that passes obey ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTTILEATTRS_H
#define GIST_DIALECT_GISTTILEATTRS_H

#include "dialect/GistDialect.h"

#include <array>

#include "dialect/GistTileEnums.h.inc"

#include "dialect/GistTileInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistTileAttrs.h.inc"

namespace gist {

/// What one wave multiplies at once by an instruction: rows x depth of one
/// operand with columns x depth of the other. wgmma is of four waves, and its
/// depth that of a tile in workgroup memory.
struct MatrixShape {
  int64_t rows, columns, depth;
};

/// The shape of `instruction` for numbers of type `element`; nothing for
/// instructions that are not a GPU's.
std::optional<MatrixShape> getMatrixShape(Instruction instruction,
                                          mlir::Type element);

/// Waves that execute a wgmma together.
/// NVIDIA calls them a warpgroup.
inline constexpr int64_t kWgmmaWaves = 4;

} // namespace gist

#endif // GIST_DIALECT_GISTTILEATTRS_H
