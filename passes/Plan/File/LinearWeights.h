//===- LinearWeights.h - Weights that a plan makes --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file of bases, beside a plan, is safetensors with
//
//   3.qkv.basis                  f32, K x d: orthonormal rows, the most
//                                important first
//   blk.3.attn_q.weight.q3_1     u8, rows x blocks x bytes: the weight rounded
//                                with compensation
//
// From it and the model's own weights come those that gated layers read.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_LINEARWEIGHTS_H
#define GIST_PASSES_PLAN_FILE_LINEARWEIGHTS_H

#include "passes/Import/Files/Safetensors.h"
#include "passes/Import/Files/Weights.h"
#include "passes/Plan/File/LinearPlan.h"
#include "runtime/support/MappedFile.h"

namespace gist {

class LinearBases {
public:
  /// An empty path gives a file with nothing in it.
  static Status open(const std::string &path, LinearBases &bases);

  /// The first `k` rows of the basis called `name`, each of `d` numbers.
  /// Refuses one that is not there, of another size, or not orthonormal.
  Status basis(const std::string &name, int64_t k, int64_t d,
               std::vector<float> &rows) const;
  /// The blocks of a weight of `rows` x `columns` that was rounded beforehand.
  Status rounded(const std::string &weight, WeightFormat format, int64_t rows,
                 int64_t columns, Bytes &blocks) const;

private:
  std::string path;
  std::unique_ptr<MappedFile> file;
  SafetensorsFile tensors;
};

/// The tensor of the file that holds a basis, and that of a rounded weight.
std::string basisName(int64_t layer, LinearGroup group);
std::string roundedName(const std::string &weight, WeightFormat format);

enum class MadeKind {
  Rounded,    ///< a weight in fewer bits, from its row exactRows on
  Exact,      ///< its rows before that, as stored
  Basis,      ///< d x k, for x - V g
  Transposed, ///< the same as k x d, for g
  Image,      ///< rows x k: W V
  Correction, ///< rows x k: (W - rounded W) V
};

/// A weight to be made from `from`, a weight of the model.
struct MadeWeight {
  MadeKind kind = MadeKind::Rounded;
  std::string from;
  int64_t layer = -1; ///< that it belongs to; -1 for the head
  WeightFormat format = WeightFormat::F16;
  int64_t bits = 0;           ///< of the rounded weight
  bool isCompensated = false; ///< rounded beforehand, in the file of bases
  int64_t exactRows = 0;      ///< where the rounded rows start
  int64_t exactBits = 0;      ///< of the rows before; 0 is as stored
  std::string basis;          ///< its name in the file of bases
  int64_t k = 0;
  int64_t d = 0; ///< of a basis: numbers in a row
};

/// What it is called in the module.
std::string madeName(const MadeWeight &what);

/// Whether its numbers come from `from`, and not from the file of bases alone.
inline bool needsSource(MadeKind kind) {
  return kind != MadeKind::Basis && kind != MadeKind::Transposed;
}

/// Makes the weight. `source` is the weight `from`, where that is needed.
Status makeWeight(const MadeWeight &what, const LinearBases &bases,
                  const Weight *source, Weight &made);

/// The format of rows of `length` numbers in a basis or an image: 8 bits if
/// they consist of whole blocks.
WeightFormat subspaceFormat(int64_t length);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_LINEARWEIGHTS_H
