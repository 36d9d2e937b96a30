//===- LayerComparison.cpp - Two models, layer by layer -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/LayerComparison.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace gist;
using namespace gist::run;

static constexpr const char *kEntryObserve = "observe";
/// Everything that a call shows is in memory at once.
static constexpr size_t kMaxTokens = 256;

using Outputs = std::map<std::string, std::vector<uint8_t>>;

/// What the entry shows: its buffers by the names that both modules share.
static Status findShown(const Runner &runner, const std::string &path,
                        std::map<std::string, std::string> &names) {
  const ModuleSpec &spec = runner.module->spec();
  if (!runner.session->hasEntry(kEntryObserve))
    return Status::error(Code::BadArgument,
                         "%s: the module has no entry '%s', which compares "
                         "layers; gist-compile --observe makes one",
                         path.c_str(), kEntryObserve);
  for (const EntrySpec &entry : spec.entries) {
    if (entry.name != kEntryObserve)
      continue;
    for (uint32_t number : entry.outputs) {
      const std::string &buffer = spec.buffers[number].name;
      std::string prefix = entry.name + ".";
      bool isPrefixed = buffer.compare(0, prefix.size(), prefix) == 0;
      names[buffer.substr(isPrefixed ? prefix.size() : 0)] = buffer;
    }
  }
  return {};
}

Status LayerComparison::open() {
  GIST_TRY(findShown(model, model.path(), names));
  GIST_TRY(findShown(reference, reference.path(), referenceNames));
  bool isSame = names.size() == referenceNames.size();
  for (const auto &[name, buffer] : names)
    isSame &= referenceNames.count(name) != 0;
  if (!isSame)
    return Status::error(Code::BadArgument,
                         "the two modules have different linear layers");
  return {};
}

size_t LayerComparison::callTokens(const Runner &runner, size_t past,
                                   size_t total) const {
  if (runner.module->findSymbol(kSymbolPast) == kNone)
    return total; // It sees a sequence at once.
  auto most = static_cast<size_t>(runner.session->maxTokens(kEntryObserve));
  most = std::min(most, kMaxTokens);
  auto block = static_cast<size_t>(runner.module->spec().model.prefillChunk);
  return block == 0 ? most : std::min(most, block - past % block);
}

static Status callObserve(Runner &runner, std::span<const int32_t> tokens,
                          size_t past, Outputs &outputs) {
  std::map<std::string, int64_t> symbols = {
      {kSymbolTokens, static_cast<int64_t>(tokens.size())}};
  if (runner.module->findSymbol(kSymbolPast) != kNone)
    symbols[kSymbolPast] = static_cast<int64_t>(past);
  return runner.session->call(
      kEntryObserve, symbols,
      {{kTensorTokens,
        {reinterpret_cast<const uint8_t *>(tokens.data()),
         tokens.size_bytes()}}},
      outputs);
}

Status LayerComparison::add(std::span<const int32_t> tokens) {
  GIST_TRY(model.session->reset());
  GIST_TRY(reference.session->reset());
  // A module without a past takes all tokens at once, and so must the other.
  bool isWhole = model.module->findSymbol(kSymbolPast) == kNone ||
                 reference.module->findSymbol(kSymbolPast) == kNone;
  for (size_t past = 0; past < tokens.size();) {
    size_t count = std::min({callTokens(model, past, tokens.size()),
                             callTokens(reference, past, tokens.size()),
                             tokens.size() - past});
    if (isWhole) {
      count = tokens.size();
      for (const Runner *each : {&model, &reference})
        if (each->session->maxTokens(kEntryObserve) <
            static_cast<int64_t>(count))
          return Status::error(Code::Unsupported,
                               "%s: takes fewer than %zu tokens at once, and "
                               "the other module sees whole windows: layers "
                               "are compared with a smaller --window",
                               each->path().c_str(), count);
    }
    std::span<const int32_t> piece = tokens.subspan(past, count);
    Outputs ours, theirs;
    GIST_TRY(callObserve(model, piece, past, ours));
    GIST_TRY(callObserve(reference, piece, past, theirs));
    for (const auto &[name, buffer] : names) {
      const std::vector<uint8_t> &a = ours[buffer],
                                 &b = theirs[referenceNames[name]];
      if (a.size() != b.size() || a.size() % sizeof(float) != 0)
        return Status::error(Code::BadArgument,
                             "the modules show %zu and %zu bytes as '%s'",
                             a.size(), b.size(), name.c_str());
      compare(
          name,
          {reinterpret_cast<const float *>(a.data()), a.size() / sizeof(float)},
          {reinterpret_cast<const float *>(b.data()),
           b.size() / sizeof(float)});
    }
    past += count;
  }
  return {};
}

/// "3.qkv:..." or "3.qkv=...": the layer and the group, or false.
static bool parseName(const std::string &name, int64_t &layer,
                      std::string &group, bool &isGiven) {
  size_t end = name.find_first_of(":=");
  auto [rest, error] =
      std::from_chars(name.data(), name.data() + name.size(), layer);
  if (error != std::errc() || end == std::string::npos || *rest != '.')
    return false;
  group = name.substr(rest + 1 - name.data(), end - (rest + 1 - name.data()));
  isGiven = name[end] == '=';
  return true;
}

void LayerComparison::compare(const std::string &name,
                              std::span<const float> rows,
                              std::span<const float> other) {
  int64_t layer = 0;
  std::string group;
  bool isGiven = false;
  if (!parseName(name, layer, group, isGiven) || (!isGiven && group != "o"))
    return;
  Layer &found = layers[layer];
  Sums &sums = isGiven ? found.linears[group] : found.attention;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto a = static_cast<double>(rows[i]), b = static_cast<double>(other[i]);
    sums.difference += (a - b) * (a - b);
    sums.reference += b * b;
  }
}

double LayerComparison::Sums::error() const {
  return reference > 0 ? std::sqrt(difference / reference) : 0;
}

double LayerComparison::largest(const Layer &layer) {
  double error = 0;
  for (const auto &[group, sums] : layer.linears)
    error = std::max(error, sums.error());
  return error;
}

void LayerComparison::addTo(nlohmann::json &list) const {
  for (const auto &[number, layer] : layers) {
    nlohmann::json &entry = list[static_cast<size_t>(number)];
    entry["attention_error"] = layer.attention.error();
    entry["linear_error"] = largest(layer);
    for (const auto &[group, sums] : layer.linears)
      entry["linear_errors"][group] = sums.error();
  }
}

void LayerComparison::print() const {
  std::printf("errors against the other module, layer by layer\n");
  bool hasTitle = false;
  for (const auto &[number, layer] : layers) {
    if (!hasTitle) {
      std::printf("  %5s %10s", "layer", "attention");
      for (const auto &[group, sums] : layer.linears)
        std::printf(" %10s", group.c_str());
      std::printf("\n");
      hasTitle = true;
    }
    std::printf("  %5lld %10.2e", static_cast<long long>(number),
                layer.attention.error());
    for (const auto &[group, sums] : layer.linears)
      std::printf(" %10.2e", sums.error());
    std::printf("\n");
  }
}
