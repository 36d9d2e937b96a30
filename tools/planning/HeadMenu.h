//===- HeadMenu.h - What heads may do, and what it costs --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A place for every KV head, with the candidates that a calibration measured:
// what each saves of a job, and what it spends of every term of a contract.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_HEADMENU_H
#define GIST_TOOLS_PLANNING_HEADMENU_H

#include "tools/planning/Calibration.h"
#include "tools/planning/Contract.h"
#include "tools/planning/JobTime.h"
#include "tools/planning/Solver.h"

namespace gist::plan {

enum class HeadKinds { All, Windows, Representatives };

struct HeadMenuOptions {
  HeadKinds kinds = HeadKinds::All;
  /// The loss of a head is taken to be at least this share of its divergence:
  /// on few tokens, chance would be taken for a gain.
  double caution = 0;
  /// Plans are measured on other texts than those of the calibration.
  bool hasOtherTexts = false;
};

class HeadMenu {
public:
  /// The calibration outlives this.
  HeadMenu(const Calibration &calibration, const PlannedModule &module,
           HeadMenuOptions options)
      : calibration(calibration), module(module), options(options) {}

  /// Fails if the calibration is not of this module, whose model has a name.
  Status check(const std::string &model) const;

  /// A place for each head, by layer and number; the first option is dense. Its
  /// work is by the state of its layer, in which any other option needs a plan.
  Places makePlaces(const Contract &terms, const JobTime &time);

  /// The plan in which each head does what it was chosen to do.
  Plan makePlan(std::span<const size_t> choices) const;
  /// The options that make up a plan.
  Status findChoices(const Plan &plan, std::vector<size_t> &choices) const;

  size_t countLayers() const { return calibration.layers; }
  size_t layerOf(size_t head) const { return head / calibration.kvHeads; }

private:
  bool isAllowed(const HeadChoice &choice) const;
  HeadPart workAt(const std::vector<HeadRun> &runs, HeadKind kind,
                  int64_t tokens) const;
  double spend(const std::vector<HeadRun> &runs, const Term &term) const;

  const Calibration &calibration;
  const PlannedModule &module;
  HeadMenuOptions options;
  std::vector<std::vector<HeadChoice>> choicesOf; ///< as the places
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_HEADMENU_H
