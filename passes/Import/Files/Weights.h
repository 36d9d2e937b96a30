//===- Weights.h - What the weights of a graph hold -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_WEIGHTS_H
#define GIST_PASSES_IMPORT_FILES_WEIGHTS_H

#include "passes/Import/Files/BlockFormats.h"
#include "runtime/module/ModuleSpec.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gist {

/// The content of one `gist.weight`, laid out as its type says.
struct Weight {
  WeightFormat format = WeightFormat::F32;
  std::vector<int64_t> shape; ///< In elements, outermost dimension first.
  Bytes content;

  /// Where the same bytes lie in the model; `file` is empty for a weight that
  /// import made: a table, a transposed or an expanded weight.
  std::string file;
  uint64_t fileOffset = 0;

  /// Instead of content: only how its numbers are spread is known.
  std::optional<RandomNumbers> random;

  /// What `content` points into when import made it.
  std::shared_ptr<const std::vector<uint8_t>> owned;
};

/// The weights of a graph by name. Keeps alive what they point into.
struct WeightMap {
  std::map<std::string, Weight, std::less<>> entries;
  std::shared_ptr<const void> source;
};

/// A weight of random numbers, such that what a layer gives is as large as what
/// it takes: matrices in `format`, vectors in f32, around one for the scale of
/// a norm and around zero for the rest.
Weight randomWeight(std::vector<int64_t> shape, bool isBias,
                    WeightFormat format);

/// The stored tensor as it is.
Weight storedWeight(const StoredTensor &tensor);

/// A copy in f32.
Weight expandedWeight(const StoredTensor &tensor);

/// A copy in f32, with one added to every number.
Weight plusOne(const StoredTensor &tensor);

/// A copy of a matrix with rows and columns exchanged; not for blocks.
Weight transposedWeight(const Weight &matrix);

/// A weight of its own, from bytes.
Weight ownWeight(WeightFormat format, std::vector<int64_t> shape,
                 std::vector<uint8_t> bytes);

/// A weight of its own, from f32 numbers.
Weight madeWeight(std::vector<int64_t> shape, const std::vector<float> &values);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_WEIGHTS_H
