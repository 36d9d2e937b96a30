//===- LinearProbe.h - What rounding a weight costs a model -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same error costs a hundred times as much in one layer as in another. What
// it costs is measured: the divergence of the model's predictions, with the
// weights of one group rounded, from its own predictions without.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARPROBE_H
#define GIST_TOOLS_PLANNING_LINEARPROBE_H

#include "runtime/session/Session.h"
#include "tools/planning/LinearMoments.h"

namespace gist::plan {

/// The mean over rows of KL(softmax(reference) || softmax(other)), in nats.
double meanDivergence(std::span<const float> reference,
                      std::span<const float> other, size_t columns);

/// Gives weights of a session's module these numbers, or where there are none
/// those that they had at first. The module may hold several joined.
Status setNumbers(Session &session, const std::vector<std::string> &weights,
                  const std::vector<Matrix> &numbers);

/// Changes weights of a session's module and compares its predictions.
class LinearProbe {
public:
  explicit LinearProbe(Session &session) : session(session) {}

  /// Predicts `tokens` as the module is.
  Status start(std::span<const int32_t> tokens);
  /// How predictions differ with these numbers for the weights, which are put
  /// back afterwards.
  Status measure(const std::vector<std::string> &weights,
                 const std::vector<Matrix> &numbers, double &divergence);

private:
  Status predict(std::vector<float> &logits);

  Session &session;
  std::vector<int32_t> tokens;
  std::vector<float> reference;
};

/// The weights that one of the module is made of: "a+b q4_1/8x8".
std::vector<std::string> getParts(const WeightSpec &weight);

/// Whether encodeWeight knows a storage.
bool canEncode(const std::string &storage);

/// The bytes of numbers in the storage of a module's weight, as printStorage
/// says it: "f32", "f16", or blocks in the order for a CPU, "q4_1/8x8" and
/// "q8_0/8x8". Numbers that lie on 16 levels a block stay as they are in
/// "q4_1".
Status encodeWeight(const Matrix &numbers, const std::string &storage,
                    std::vector<uint8_t> &bytes);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARPROBE_H
