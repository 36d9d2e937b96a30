//===- CpuElf.h - A shared object, checked before it is mapped --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dynamic linker believes what a shared object says: a wrong offset, count
// or hash table makes it read, write or divide where it must not, and code may
// ask to be run while it is loaded. Modules need only a small part of the
// format, so everything else is refused here, before the linker sees the file.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_CPUELF_H
#define GIST_RUNTIME_DEVICE_CPUELF_H

#include "runtime/support/Bytes.h"

#include <set>
#include <string>

namespace gist {

/// Checks a shared object for this machine and sets `functions` to the names
/// that it defines in executable memory. What passes has no code that runs on
/// loading, needs no other library, and takes from this process only what
/// isProvided() names.
Status checkCpuElf(Bytes code, std::set<std::string> &functions);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_CPUELF_H
