//===- BitsMenu.h - Weights in fewer bits, and what they cost ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A written token reads every weight once. In many model files the head has
// more bits than all layers, and is the largest weight: it is rounded to fewer,
// as a whole or behind its first rows, which are the commonest tokens. Layers
// are rounded too where that is asked for: linear layers that read the same
// rows are one place.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_BITSMENU_H
#define GIST_TOOLS_PLANNING_BITSMENU_H

#include "passes/Import/Files/ModelSource.h"
#include "passes/Plan/File/LinearPlan.h"
#include "runtime/session/Session.h"
#include "tools/planning/JobTime.h"
#include "tools/planning/LinearCalibration.h"
#include "tools/planning/Solver.h"

namespace gist::plan {

/// One way to do the linear layers that read the same rows.
struct LinearOption {
  LinearChoice choice;
  int64_t bytes = 0; ///< read for a token
  double loss = 0;   ///< how far predictions move, in nats
};

/// The ways of linear layers, as stored first.
std::vector<LinearOption> listOptions(const InputResult &input);

class BitsMenu {
public:
  /// `session` is of a module of `model` in which plans are tried; both outlive
  /// this. `hasLayers`: layers are rounded too, and not the head alone.
  BitsMenu(Session &session, const ModelSource &model, bool hasLayers)
      : session(session), model(model), hasLayers(hasLayers) {}

  /// Finds the weights that can be tried in fewer bits; false: there are none.
  bool find();
  /// Bytes of these weights, and of the fewest that they can have.
  uint64_t storedBytes() const;
  uint64_t fewestBytes() const;

  /// Rounds the weights by what they read of `tokens`, into the file `bases`,
  /// and measures what that loses; `result` is all that was measured.
  Status measure(const std::vector<int32_t> &tokens, CalibrationOptions options,
                 const std::string &bases, LinearCalibration &result);

  /// In every place the first option is the model as it is.
  Places makePlaces(size_t terms, const JobTime &time) const;
  LinearPlan makePlan(std::span<const size_t> options) const;
  size_t countPlaces() const { return groups.size(); }

  /// Does as a plan says from now on.
  Status follow(const LinearPlan &plan);

private:
  /// Linear layers that read the same rows.
  struct Group {
    int64_t layer = -1; ///< -1 is the head
    LinearGroup group = LinearGroup::Qkv;
    std::vector<std::string> weights = {};  ///< in the model ...
    std::vector<std::string> parts = {};    ///< ... and in the module
    std::vector<LinearOption> options = {}; ///< empty before it is measured
    LinearChoice now = {};                  ///< in the session
  };
  const LinearChoice &choiceOf(const LinearPlan &plan, const Group &of) const;
  Status makeNumbers(const std::string &weight, const Group &of,
                     const LinearChoice &wanted, Matrix &numbers) const;

  Session &session;
  const ModelSource &model;
  bool hasLayers;
  std::string bases; ///< the file
  std::vector<Group> groups;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_BITSMENU_H
