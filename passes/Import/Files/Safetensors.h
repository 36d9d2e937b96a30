//===- Safetensors.h - Reads safetensors files ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_SAFETENSORS_H
#define GIST_PASSES_IMPORT_FILES_SAFETENSORS_H

#include "passes/Import/Files/BlockFormats.h"

#include <map>
#include <string>

namespace gist {

struct ByteTensor {
  std::vector<int64_t> shape;
  Bytes content;
};

/// What one safetensors file holds. Views point into the bytes it was read
/// from.
struct SafetensorsFile {
  std::map<std::string, StoredTensor, std::less<>> tensors;
  /// Tensors that are skipped because no weight has their element type (masks,
  /// position ids), each with the reason.
  std::map<std::string, std::string, std::less<>> skipped;
  /// Tensors of bytes (U8): blocks of a plan's file.
  std::map<std::string, ByteTensor, std::less<>> bytes;
};

/// Reads a whole file. Offsets are verified, names that appear twice and
/// tensors that share bytes are refused. On error `out` is left as it was.
Status readSafetensors(Bytes file, SafetensorsFile &out);

/// Reads the `model.safetensors.index.json` of a model in several files: which
/// tensor is in which file. A file name with a folder in it is refused.
Status readSafetensorsIndex(Bytes text,
                            std::map<std::string, std::string> &fileOfTensor);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_SAFETENSORS_H
