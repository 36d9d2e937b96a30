//===- Observer.h - What happens inside a model -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the entry `observe`, which shows what linear layers read
// ("3.o:blk.3.attn_output.weight") and give ("3.o=blk.3.attn_output.weight")
// and what selections could look at ("3@residual", "3@keys").
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_OBSERVER_H
#define GIST_TOOLS_RUNNING_OBSERVER_H

#include "tools/running/Options.h"

#include <map>
#include <span>

namespace gist::run {

inline constexpr const char *kEntryObserve = "observe";

class Observer {
public:
  /// What a call shows, by name: rows of f32 numbers.
  using Shown = std::map<std::string, std::vector<uint8_t>>;

  /// The runner outlives this, and has the entry.
  explicit Observer(Runner &runner);

  /// The names of what is shown, and the buffers that hold it.
  const std::map<std::string, std::string> &names() const { return buffers; }

  /// Whether the module takes a sequence in one call.
  bool seesWhole() const;

  /// The most tokens of a sequence of `total` that a call after `past` others
  /// may have.
  size_t callTokens(size_t past, size_t total) const;

  /// Shows the next tokens of a sequence, of which there were `past` before.
  Status call(std::span<const int32_t> tokens, size_t past, Shown &shown);

private:
  Runner &runner;
  std::map<std::string, std::string> buffers;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_OBSERVER_H
