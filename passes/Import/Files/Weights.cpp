//===- Weights.cpp - What the weights of a graph hold ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents of weights: a view of a mapped file, or memory that belongs to the
// weight.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/Weights.h"

#include <cassert>

#include <cmath>

using namespace gist;

Weight gist::ownWeight(WeightFormat format, std::vector<int64_t> shape,
                       std::vector<uint8_t> bytes) {
  // Shared, because weights are copied into maps and producers.
  auto owned = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  Weight weight;
  weight.format = format;
  weight.shape = std::move(shape);
  weight.content = {owned->data(), owned->size()};
  weight.owned = std::move(owned);
  return weight;
}

/// Numbers of the size that trained models have, so that activations neither
/// vanish nor overflow.
Weight gist::randomWeight(std::vector<int64_t> shape, bool isBias,
                          WeightFormat format) {
  constexpr float kNorm = 0.1F, kBias = 0.02F;
  Weight weight;
  if (shape.size() == 1)
    weight.random = isBias ? RandomNumbers{0, kBias} : RandomNumbers{1, kNorm};
  else // A variance of one over the terms of a sum.
    weight.random = {0, std::sqrt(3.0F / static_cast<float>(shape.back()))};
  weight.format = shape.size() == 1 ? WeightFormat::F32 : format;
  weight.shape = std::move(shape);
  return weight;
}

Weight gist::storedWeight(const StoredTensor &tensor) {
  return {tensor.format,     tensor.shape, tensor.content, tensor.file,
          tensor.fileOffset, {},           nullptr};
}

Weight gist::madeWeight(std::vector<int64_t> shape,
                        const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return ownWeight(WeightFormat::F32, std::move(shape), std::move(bytes));
}

/// The whole tensor in f32 in memory.
static std::vector<float> numbersOf(const StoredTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numElements()));
  dequantize(tensor.format, tensor.content, values.data());
  return values;
}

Weight gist::expandedWeight(const StoredTensor &tensor) {
  return madeWeight(tensor.shape, numbersOf(tensor));
}

Weight gist::plusOne(const StoredTensor &tensor) {
  std::vector<float> values = numbersOf(tensor);
  for (float &value : values)
    value += 1;
  return madeWeight(tensor.shape, values);
}

Weight gist::transposedWeight(const Weight &matrix) {
  assert(matrix.shape.size() == 2 && !formatInfo(matrix.format).isQuantized());
  auto rows = static_cast<size_t>(matrix.shape[0]);
  auto columns = static_cast<size_t>(matrix.shape[1]);
  size_t size = formatInfo(matrix.format).blockBytes;
  std::vector<uint8_t> bytes(matrix.content.size);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      std::memcpy(&bytes[(j * rows + i) * size],
                  matrix.content.data + (i * columns + j) * size, size);
  return ownWeight(matrix.format, {matrix.shape[1], matrix.shape[0]},
                   std::move(bytes));
}
