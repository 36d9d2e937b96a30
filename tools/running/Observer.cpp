//===- Observer.cpp - What happens inside a model -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Observer.h"

#include <algorithm>

using namespace gist;
using namespace gist::run;

/// Everything that a call shows is in memory at once.
static constexpr size_t kMaxTokens = 256;

Observer::Observer(Runner &runner) : runner(runner) {
  const ModuleSpec &spec = runner.module->spec();
  // Several targets may have the entry; what it shows is the same.
  for (const EntrySpec &entry : spec.entries) {
    if (entry.name != kEntryObserve)
      continue;
    for (const ObservationSpec &each : entry.observations) {
      const BufferSpec &buffer = spec.buffers[entry.outputs[each.output]];
      if (buffer.type == ElementType::F32) // Others were rounded.
        buffers[{each.kind, each.layer, each.group, each.weights}] =
            buffer.name;
    }
  }
}

bool Observer::seesWhole() const {
  return runner.module->findSymbol(kSymbolPast) == kNone;
}

/// A plan closes its clusters at the end of a block, so a call must not go
/// beyond one.
size_t Observer::callTokens(size_t past, size_t total) const {
  if (seesWhole())
    return total;
  auto most = static_cast<size_t>(runner.session->maxTokens(kEntryObserve));
  most = std::min(most, kMaxTokens);
  auto block = static_cast<size_t>(runner.module->spec().model.prefillChunk);
  return block == 0 ? most : std::min(most, block - past % block);
}

Status Observer::call(std::span<const int32_t> tokens, size_t past,
                      Shown &shown) {
  std::map<std::string, int64_t> symbols = {
      {kSymbolTokens, static_cast<int64_t>(tokens.size())}};
  if (!seesWhole())
    symbols[kSymbolPast] = static_cast<int64_t>(past);
  std::map<std::string, std::vector<uint8_t>> outputs;
  GIST_TRY(
      runner.session->call(kEntryObserve, symbols,
                           {{kTensorTokens,
                             {reinterpret_cast<const uint8_t *>(tokens.data()),
                              tokens.size_bytes()}}},
                           outputs));
  for (const auto &[what, buffer] : buffers)
    shown[what] = std::move(outputs[buffer]);
  return {};
}
