//===- Version.h - What --version prints ------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_VERSION_H
#define GIST_PASSES_DRIVER_VERSION_H

namespace gist {

/// Makes --version of a tool that LLVM reads the command line of print the
/// tool's name, the version of Gist and that of LLVM.
void setVersion(const char *tool);

} // namespace gist

#endif // GIST_PASSES_DRIVER_VERSION_H
