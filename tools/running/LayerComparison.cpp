//===- LayerComparison.cpp - Two models, layer by layer -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/LayerComparison.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::run;

/// What linear layers read and give; what selections look at is not compared.
static std::set<Observed> findCompared(const Observer &observer) {
  std::set<Observed> compared;
  for (const auto &[what, buffer] : observer.shown())
    if (what.kind == ObservationKind::Input ||
        what.kind == ObservationKind::Product)
      compared.insert(what);
  return compared;
}

Status LayerComparison::open() {
  for (const Runner *each : {&model, &reference})
    if (!each->session->hasEntry(kEntryObserve))
      return Status::error(
          Code::BadArgument,
          "%s: the module has no entry '%s', which comparing layers needs; "
          "compile it with gist-compile --observe",
          each->path().c_str(), kEntryObserve);
  observer.emplace(model);
  referenceObserver.emplace(reference);
  compared = findCompared(*observer);
  // Plans may change the precision or the bits of a layer, but not which layers
  // there are.
  if (compared != findCompared(*referenceObserver))
    return Status::error(Code::BadArgument,
                         "the two modules have different linear layers");
  return {};
}

Status LayerComparison::add(std::span<const int32_t> tokens) {
  GIST_TRY(model.session->reset());
  GIST_TRY(reference.session->reset());
  // A module without a past takes all tokens at once, and so must the other.
  bool isWhole = observer->seesWhole() || referenceObserver->seesWhole();
  for (size_t past = 0; past < tokens.size();) {
    // Both must see the same tokens in a call, so the smaller limit holds.
    size_t count = std::min({observer->callTokens(past, tokens.size()),
                             referenceObserver->callTokens(past, tokens.size()),
                             tokens.size() - past});
    if (isWhole) {
      count = tokens.size();
      for (const Runner *each : {&model, &reference})
        if (each->session->maxTokens(kEntryObserve) <
            static_cast<int64_t>(count))
          return Status::error(Code::Unsupported,
                               "%s: the module takes fewer than %zu tokens at "
                               "once, but the other module sees whole windows; "
                               "choose a smaller --window to compare layers",
                               each->path().c_str(), count);
    }
    std::span<const int32_t> piece = tokens.subspan(past, count);
    Observer::Shown ours, theirs;
    GIST_TRY(observer->call(piece, past, ours));
    GIST_TRY(referenceObserver->call(piece, past, theirs));
    for (const Observed &what : compared) {
      const std::vector<uint8_t> &a = ours[what], &b = theirs[what];
      if (a.size() != b.size() || a.size() % sizeof(float) != 0)
        return Status::error(Code::BadArgument,
                             "the modules return %zu and %zu bytes of group "
                             "'%s' of layer %lld; expected the same size",
                             a.size(), b.size(), what.group.c_str(),
                             static_cast<long long>(what.layer));
      compare(
          what,
          {reinterpret_cast<const float *>(a.data()), a.size() / sizeof(float)},
          {reinterpret_cast<const float *>(b.data()),
           b.size() / sizeof(float)});
    }
    past += count;
  }
  return {};
}

void LayerComparison::compare(const Observed &what, std::span<const float> rows,
                              std::span<const float> other) {
  // What the output projection reads is what attention gives.
  bool isGiven = what.kind == ObservationKind::Product;
  // Layer -1 is the head. Of what layers read, only the output projection's is
  // of interest: the other inputs follow from it.
  if (what.layer < 0 || (!isGiven && what.group != "o"))
    return;
  Layer &found = layers[what.layer];
  Sums &sums = isGiven ? found.linears[what.group] : found.attention;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto a = static_cast<double>(rows[i]), b = static_cast<double>(other[i]);
    sums.difference += (a - b) * (a - b);
    sums.reference += b * b;
  }
}

/// All rows together, so that rows near zero do not dominate.
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
