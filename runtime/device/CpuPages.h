//===- CpuPages.h - Pages of a file in memory -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_CPUPAGES_H
#define GIST_RUNTIME_DEVICE_CPUPAGES_H

#include "runtime/device/PageStore.h"

namespace gist {

/// A store of this process: a file without a name, which is mapped copy on
/// write. Null: the system has no such files.
std::unique_ptr<PageStore> openCpuPages();

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_CPUPAGES_H
