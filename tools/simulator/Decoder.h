//===- Decoder.h - Machine code to decoded instructions ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_DECODER_H
#define GIST_TOOLS_SIMULATOR_DECODER_H

#include "tools/simulator/CodeObject.h"

#include <string>

namespace gist::sim {

/// Decodes all of `code`. What cannot be decoded, or is not implemented, is an
/// instruction that fails by name when it is executed.
bool decode(const uint8_t *code, uint64_t size, Program &program,
            std::string &error);

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_DECODER_H
