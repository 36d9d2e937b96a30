//===- BitsMenu.cpp - Weights in fewer bits, and what they cost -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/BitsMenu.h"

#include "passes/Plan/File/LinearWeights.h"
#include "tools/planning/LinearCalibration.h"
#include "tools/planning/LinearProbe.h"
#include "tools/planning/LinearRounding.h"
#include "tools/running/Progress.h"

#include <algorithm>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

static constexpr int kFewestBits = 4;

static uint64_t bytesOf(WeightFormat format, const StoredTensor &tensor) {
  const FormatInfo &info = formatInfo(format);
  return static_cast<uint64_t>(tensor.numElements()) / info.blockLength *
         info.blockBytes;
}

bool BitsMenu::find() {
  const ModuleSpec &spec = session.module().spec();
  for (const EntrySpec &entry : spec.entries)
    for (const ObservationSpec &shown : entry.observations)
      if (shown.kind == ObservationKind::Input && shown.layer < 0 &&
          shown.weights.size() == 1 &&
          model.tensors().contains(shown.weights.front()))
        name = shown.weights.front();
  std::string rounded = roundedName(name, WeightFormat::Q8_0);
  for (module = 0; module < spec.weights.size(); ++module)
    if (getParts(spec.weights[module]) == std::vector{rounded})
      return true;
  return false;
}

uint64_t BitsMenu::storedBytes() const {
  const StoredTensor &tensor = model.tensors().at(name);
  return bytesOf(tensor.format, tensor);
}

uint64_t BitsMenu::fewestBytes() const {
  return bytesOf(roundedFormat(kFewestBits), model.tensors().at(name));
}

Status BitsMenu::measure(const std::vector<int32_t> &tokens,
                         const std::string &file) {
  bases = file;
  CalibrationOptions options;
  options.isOfHeadAlone = true;
  options.refitsRanges = false;
  options.headBits = {kFewestBits};
  options.maxK = 0;
  options.maxTokens = static_cast<int64_t>(tokens.size());
  LinearCalibration found;
  GIST_TRY(calibrateLinears(session, model, tokens, options, file,
                            showLinearProgress(), found));
  std::vector<LinearMenu> menus;
  GIST_TRY(parseMenus(found.print(), menus));
  menu = std::move(menus.front());
  std::fprintf(stderr, "bits:");
  for (const LinearOption &option : menu.options)
    std::fprintf(stderr, " %.2f of the head's bytes lose %.4f%s",
                 static_cast<double>(option.bytes) /
                     static_cast<double>(menu.options.front().bytes),
                 menu.sensitivity * option.error,
                 &option == &menu.options.back() ? "\n" : ",");
  return {};
}

Place BitsMenu::makePlace(size_t terms, const JobTime &time) const {
  Place place;
  for (const LinearOption &option : menu.options)
    place.options.push_back(
        {.work = time.ofWeights(static_cast<double>(option.bytes)),
         // Predictions move as far in every part of the contract.
         .spends = std::vector<double>(
             terms, std::max(0.0, menu.sensitivity * option.error))});
  return place;
}

LinearPlan BitsMenu::makePlan(size_t option) const {
  LinearPlan plan;
  plan.head = menu.options[option].choice;
  if (plan.head.isDense())
    return plan;
  plan.layers.resize(
      static_cast<size_t>(session.module().spec().model.layerCount));
  plan.bases = std::filesystem::path(bases).filename().string();
  return plan;
}

Status BitsMenu::follow(const LinearPlan &plan) {
  const LinearChoice &wanted = plan.head;
  if (wanted == now)
    return {};
  const WeightSpec &weight = session.module().spec().weights[module];
  if (wanted.isDense()) {
    GIST_TRY(session.setWeight(weight.name, session.module().weight(module)));
    now = wanted;
    return {};
  }
  const StoredTensor &tensor = model.tensors().at(name);
  int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  Matrix numbers(rows, columns);
  dequantize(tensor.format, tensor.content, numbers.data());
  WeightFormat format = wanted.format();
  std::vector<uint8_t> blocks(bytesOf(format, tensor));
  if (wanted.isCompensated) {
    LinearBases file;
    Bytes rounded;
    GIST_TRY(LinearBases::open(bases, file));
    GIST_TRY(file.rounded(name, format, rows, columns, rounded));
    blocks.assign(rounded.data, rounded.data + rounded.size);
  } else {
    quantize(format, numbers.data(), static_cast<size_t>(numbers.size()),
             blocks.data());
  }
  // The first rows stay.
  int64_t left = rows - wanted.exactRows;
  numbers.bottomRows(left) =
      expand(blocks, format, rows, columns).bottomRows(left);
  std::vector<uint8_t> bytes;
  GIST_TRY(encodeWeight(numbers, weight.format, bytes).in(weight.name));
  GIST_TRY(session.setWeight(weight.name, {bytes.data(), bytes.size()}));
  now = wanted;
  return {};
}
