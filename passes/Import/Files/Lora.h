//===- Lora.h - Adapters that are added to a model's weights ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder as PEFT writes it: adapter_config.json, and the matrices A (rank x
// inputs) and B (outputs x rank) of linear layers in adapter_model.safetensors.
// A layer's weight W becomes W + scale * B A.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_LORA_H
#define GIST_PASSES_IMPORT_FILES_LORA_H

#include "passes/Import/Files/Weights.h"
#include "runtime/support/MappedFile.h"

#include <map>
#include <memory>
#include <string>

namespace gist {

/// An adapter, opened. Matrices point into the file that it keeps mapped.
struct LoraAdapter {
  struct Update {
    StoredTensor a, b;
    float scale = 1;
    bool isUsed = false; ///< by a weight of the model
  };
  /// By the name that a folder has for the layer, without `.weight`.
  std::map<std::string, Update, std::less<>> updates;
  std::unique_ptr<MappedFile> file;
};

/// Opens the folder at `path`. What A and B alone do not say is refused:
/// magnitudes (DoRA), biases, and weights that the adapter replaces. On error
/// `out` is left as it was.
Status openLora(const std::string &path, LoraAdapter &out);

/// B times what the file says of its size, outputs x rank, and A, rank x
/// inputs.
struct LoraFactors {
  std::vector<float> a, b;
};

/// Reads the factors of an update. Where `heads` is not 0 the rows of B become
/// those of that many heads, whose halves alternate row by row. Fails where the
/// model's layer is not outputs x inputs. On error `factors` is left as it was.
Status readFactors(const LoraAdapter::Update &update, int64_t heads,
                   int64_t outputs, int64_t inputs, LoraFactors &factors);

/// Adds `update` times `scale` to a matrix of outputs x inputs. Sums are f32;
/// the result is f32 or bf16 where the matrix is, and f16 otherwise: what an
/// adapter changes is often less than the steps of blocks. `heads` as for
/// readFactors(). On error `matrix` is left as it was.
Status mergeLora(const LoraAdapter::Update &update, float scale, int64_t heads,
                 Weight &matrix);

/// A weight of these numbers in f32, f16 or bf16. On error `result` is left as
/// it was.
Status storeNumbers(WeightFormat format, std::vector<int64_t> shape,
                    const std::vector<float> &values, Weight &result);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_LORA_H
