//===- Gguf.h - Reads GGUF files --------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GGUF versions 2 and 3, little-endian. Every length is verified when the file
// is read; after that the views may be trusted. Nothing is copied but names, so
// a lying file cannot make the reader allocate more than it is large.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_GGUF_H
#define GIST_PASSES_IMPORT_FILES_GGUF_H

#include "passes/Import/Files/BlockFormats.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

enum class GgufType : uint32_t {
  UInt8,
  Int8,
  UInt16,
  Int16,
  UInt32,
  Int32,
  Float32,
  Bool,
  String,
  Array,
  UInt64,
  Int64,
  Float64,
};

/// A value of the metadata; `content` are its verified bytes. The getters give
/// nothing when the value is of another type or does not fit.
struct GgufValue {
  GgufType type = GgufType::UInt8;
  GgufType elementType = GgufType::UInt8; ///< Of an array.
  uint64_t count = 1;                     ///< Elements of an array.
  Bytes content;

  std::optional<int64_t> integer() const; ///< Any integer type, or a Bool.
  std::optional<double> number() const;   ///< Any integer or float type.
  std::optional<std::string_view> string() const;
  std::optional<std::vector<std::string_view>> strings() const;
  /// An array of any integer type.
  std::optional<std::vector<int64_t>> integers() const;
  /// An array of any integer or float type.
  std::optional<std::vector<double>> numbers() const;
};

/// What a GGUF file holds. Views point into the bytes it was read from.
struct GgufFile {
  uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, StoredTensor, std::less<>> tensors;
};

/// Reads a whole file. `accept` sees the metadata before any tensor is looked
/// at, and may refuse the file: what a model is should be told before what its
/// weights are stored in. On error `out` is left as it was.
Status readGguf(Bytes file, GgufFile &out,
                const std::function<Status(const GgufFile &)> &accept = {});

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_GGUF_H
