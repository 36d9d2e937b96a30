//===- Registration.h - Dialects and passes the tools know ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_REGISTRATION_H
#define GIST_PASSES_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace gist {

/// Registers the gist dialect, upstream's dialects and their extensions.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes and pipelines of Gist and of upstream, by name.
void registerPassesAndPipelines();

/// Registers those of Gist alone.
void registerGistPassesAndPipelines();

} // namespace gist

#endif // GIST_PASSES_DRIVER_REGISTRATION_H
