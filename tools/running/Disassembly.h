//===- Disassembly.h - A module as text -------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For people and for FileCheck: one thing per line, names instead of numbers.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_DISASSEMBLY_H
#define GIST_TOOLS_RUNNING_DISASSEMBLY_H

#include "runtime/module/Module.h"

#include <string>

namespace gist::run {

void printHeader(const Module &module);
void printTargets(const Module &module);

/// Everything but the bytes of weights and code.
void disassemble(const Module &module);

/// Sixteen hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_DISASSEMBLY_H
