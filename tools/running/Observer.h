//===- Observer.h - What happens inside a model -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the entry `observe`, which shows what linear layers read and give and
// what selections could look at. The module says which output shows what.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_OBSERVER_H
#define GIST_TOOLS_RUNNING_OBSERVER_H

#include "tools/running/Options.h"

#include <compare>
#include <map>
#include <span>

namespace gist::run {

/// A tensor inside a model, the same in every module of that model.
struct Observed {
  ObservationKind kind = ObservationKind::Input;
  int64_t layer = -1; ///< -1: the head
  std::string group = {};
  std::vector<std::string> weights = {};

  auto operator<=>(const Observed &) const = default;
};

class Observer {
public:
  /// What a call shows: rows of f32 numbers.
  using Shown = std::map<Observed, std::vector<uint8_t>>;

  /// The runner outlives this, and has the entry.
  explicit Observer(Runner &runner);

  /// What is shown, and the names of the buffers that hold it.
  const std::map<Observed, std::string> &shown() const { return buffers; }

  /// Whether the module takes a sequence in one call.
  bool seesWhole() const;

  /// The most tokens of a sequence of `total` that a call after `past` others
  /// may have.
  size_t callTokens(size_t past, size_t total) const;

  /// Shows the next tokens of a sequence, of which there were `past` before.
  Status call(std::span<const int32_t> tokens, size_t past, Shown &shown);

private:
  Runner &runner;
  std::map<Observed, std::string> buffers;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_OBSERVER_H
