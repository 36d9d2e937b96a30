//===- CacheType.h - What keys and values are kept in -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_CACHETYPE_H
#define GIST_PASSES_IMPORT_CACHETYPE_H

namespace gist {

/// The numbers that a KV cache holds.
enum class CacheType {
  F32,
  F16,
  Int8, ///< 8-bit integers with an f32 scale for each row of a head
};

/// As users write it.
constexpr const char *getName(CacheType type) {
  switch (type) {
  case CacheType::F32:
    return "f32";
  case CacheType::F16:
    return "f16";
  case CacheType::Int8:
    break;
  }
  return "int8";
}

} // namespace gist

#endif // GIST_PASSES_IMPORT_CACHETYPE_H
