//===- GistKernelAttrs.h - What a kernel function is ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTKERNELATTRS_H
#define GIST_DIALECT_GISTKERNELATTRS_H

#include "dialect/GistDialect.h"
#include "dialect/GistNames.h"

#include "dialect/GistKernelEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistKernelAttrs.h.inc"

namespace gist {

/// What `op` says of itself as a kernel, or null.
inline KernelAttr getKernelAttr(mlir::Operation *op) {
  return op->getAttrOfType<KernelAttr>(kKernelAttr);
}

/// Verifies the `gist.kernel` of `op`.
mlir::LogicalResult verifyKernelAttr(mlir::Operation *op,
                                     mlir::Attribute attribute);

} // namespace gist

#endif // GIST_DIALECT_GISTKERNELATTRS_H
