//===- Npy.h - Arrays in NumPy's file format --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_NPY_H
#define GIST_TOOLS_RUNNING_NPY_H

#include "runtime/module/ModuleSpec.h"
#include "runtime/support/Bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist::run {

struct Array {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  std::vector<uint8_t> bytes = {};
};

/// Reads the bytes of a .npy file. On error `array` is left as it was.
Status parseNpy(Bytes file, Array &array);

/// Reads a .npy file: little-endian, C order, one of the module's types.
Status readNpy(const std::string &path, Array &array);

/// Writes one. NumPy has no bf16: its bits are written as u16.
Status writeNpy(const std::string &path, const Array &array);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_NPY_H
