//===- LinearContract.h - What plans of linear layers lose ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan of linear layers changes a model's weights, so its modules are made by
// the compiler: what is measured is what a user of the plan would run.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARCONTRACT_H
#define GIST_TOOLS_PLANNING_LINEARCONTRACT_H

#include "runtime/support/Status.h"
#include "tools/running/TemporaryFolder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist::plan {

struct LinearContractOptions {
  std::string compiler; ///< the program gist-compile; empty: one is found
  std::string model;
  std::vector<std::string> texts;
  int64_t tokens = 2048; ///< of each text, at most
  int64_t window = 512;  ///< tokens that are predicted together
  unsigned threads = 0;
  std::string compute; ///< gist-compile --compute, of all modules; may be empty
};

class LinearContract {
public:
  explicit LinearContract(LinearContractOptions options)
      : options(std::move(options)) {}

  /// Measures the model as it is stored, which plans are compared with.
  Status open();

  /// What the model loses with the plan in the file `plan`, in nats, on the
  /// text where it is most.
  Status measure(const std::string &plan, double &loss);

  /// Ratios of perplexities in the last measurement, as the texts come.
  const std::vector<double> &ratios() const { return lastRatios; }
  /// Where a plan to be measured may be written.
  std::string planPath() const { return folder.file("plan.json"); }

private:
  /// Compiles the model, with a plan if there is one, and predicts the texts.
  Status predict(const std::string &plan, std::vector<double> &losses);

  LinearContractOptions options;
  run::TemporaryFolder folder; ///< for plans
  std::vector<double> dense, lastRatios;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARCONTRACT_H
