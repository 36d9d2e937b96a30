//===- BitsMenu.h - Weights in fewer bits, and what they cost ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A written token reads every weight once. In many model files the head has
// more bits than all layers, and is the largest weight: here it is rounded to
// 4, as a whole or behind its first rows, which are the commonest tokens.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_BITSMENU_H
#define GIST_TOOLS_PLANNING_BITSMENU_H

#include "passes/Import/Files/ModelSource.h"
#include "runtime/session/Session.h"
#include "tools/planning/JobTime.h"
#include "tools/planning/LinearSolve.h"
#include "tools/planning/Solver.h"

namespace gist::plan {

class BitsMenu {
public:
  /// `session` is of a module of `model` in which plans are tried; both outlive
  /// this.
  BitsMenu(Session &session, const ModelSource &model)
      : session(session), model(model) {}

  /// Finds the weight that can be tried in fewer bits; false: there is none.
  bool find();
  /// Bytes of the weight, and of the fewest that it can have.
  uint64_t storedBytes() const;
  uint64_t fewestBytes() const;

  /// Rounds the weight by what it reads of `tokens`, into the file `bases`, and
  /// measures what that loses.
  Status measure(const std::vector<int32_t> &tokens, const std::string &bases);

  /// The first option is the model as it is.
  Place makePlace(size_t terms, const JobTime &time) const;
  LinearPlan makePlan(size_t option) const;

  /// Does as a plan says from now on.
  Status follow(const LinearPlan &plan);

private:
  Session &session;
  const ModelSource &model;
  std::string name;  ///< of the weight in the model
  size_t module = 0; ///< its number in the module
  std::string bases; ///< the file
  LinearMenu menu;   ///< empty before it is measured
  LinearChoice now;  ///< in the session
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_BITSMENU_H
