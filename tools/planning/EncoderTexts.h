//===- EncoderTexts.h - Texts whose embeddings a plan keeps -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces of texts as an encoder takes them, the cosine of their embeddings to
// those of the model as it is, and the choice of what keeps it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ENCODERTEXTS_H
#define GIST_TOOLS_PLANNING_ENCODERTEXTS_H

#include "tools/planning/Solver.h"
#include "tools/running/Options.h"

#include <functional>

namespace gist::plan {

/// A piece of a text, as the model takes it.
struct EncoderText {
  std::string path;
  std::vector<int32_t> tokens;
  std::vector<float> dense; ///< its embedding by the model as it is
};

/// The result of a plan on a text.
struct EncoderRun {
  double loss = 0; ///< 1 - cosine to the dense embedding
  double work = 0; ///< of dense
};

/// Cuts a text into at most `pieces` of `tokens` tokens, 0: as many as the
/// model takes, with what stands around a text. What is left of a text after
/// whole pieces is not used, unless it is all there is.
Status cutText(run::Runner &model, const std::string &path,
               std::string_view content, int64_t tokens, size_t pieces,
               std::vector<EncoderText> &texts);

/// 1 - the cosine between two embeddings.
double cosineLoss(const std::vector<float> &a, const std::vector<float> &b);

/// The results of a plan on several texts.
struct EncoderMeasurement {
  std::vector<EncoderRun> runs;

  double worstCosine() const;
  double meanCosine() const;
  double worstWork() const;
};

/// Chooses an option for each place, so that the work is least and every text
/// keeps the quality. Options spend 1 - cosine of each text. Displacements of
/// an embedding are taken to be orthogonal, so that this adds up; what choices
/// lose together is measured by `measure`, in so many steps. `best` are those
/// that held with the least work, all of them first options where none did.
Status chooseByCosine(
    const Places &places, size_t texts, double allowed, int steps,
    const std::function<Status(const std::vector<size_t> &choices,
                               EncoderMeasurement &measured)> &measure,
    std::vector<size_t> &best, EncoderMeasurement &measured);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_ENCODERTEXTS_H
