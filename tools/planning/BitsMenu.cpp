//===- BitsMenu.cpp - Weights in fewer bits, and what they cost -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/BitsMenu.h"

#include "passes/Plan/File/LinearWeights.h"
#include "tools/planning/LinearProbe.h"
#include "tools/planning/LinearRounding.h"

#include <algorithm>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

static constexpr int kFewestBits = 2, kFewestHeadBits = 4;

static uint64_t bytesOf(WeightFormat format, const StoredTensor &tensor) {
  const FormatInfo &info = formatInfo(format);
  return static_cast<uint64_t>(tensor.numElements()) / info.blockLength *
         info.blockBytes;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Bytes of a subspace for rows of `size` numbers and `outputs` results.
static int64_t subspaceBytes(int64_t k, int64_t size, int64_t outputs) {
  const FormatInfo &info = formatInfo(WeightFormat::Q8_0);
  return k * (size + outputs) / info.blockLength * info.blockBytes;
}

/// The same head with the rows of common tokens as stored, or in 8 bits where
/// that is less: the loss that is left was measured.
static void addExactRows(const InputResult &input, int64_t stored,
                         const LinearOption &option,
                         std::vector<LinearOption> &options) {
  const WeightResult &weight = input.weights.front();
  auto eight = weight.rounded.find(8);
  int64_t exact = eight == weight.rounded.end()
                      ? stored
                      : std::min(stored, eight->second.bytes);
  for (const auto &[rows, left] : input.exactRows) {
    LinearOption better = option;
    better.choice.exactRows = rows;
    better.choice.exactBits = exact < stored ? 8 : 0;
    better.bytes += (exact - option.bytes) / weight.rows * rows;
    if (input.divergence > 0)
      better.loss *= left / input.divergence;
    options.push_back(better);
  }
}

/// Adds the options with weights in so many bits; losses are errors relative to
/// what the layers compute.
static void addBits(const InputResult &input, int bits,
                    std::vector<LinearOption> &options) {
  double energy = 0;
  int64_t outputs = 0;
  LinearOption nearest{{.bits = bits}},
      compensated{{.bits = bits, .isCompensated = true}};
  std::map<int64_t, double> corrected;
  for (const WeightResult &weight : input.weights) {
    const RoundingResult &rounded = weight.rounded.at(bits);
    energy += weight.energy;
    outputs += weight.rows;
    nearest.bytes += rounded.bytes;
    nearest.loss += rounded.nearest;
    compensated.loss += rounded.compensated;
    for (const auto &[k, error] : rounded.corrected)
      corrected[k] += error;
  }
  // A layer that reads only zeros loses nothing.
  energy = energy == 0 ? 1 : energy;
  nearest.loss /= energy;
  compensated.loss /= energy;
  compensated.bytes = nearest.bytes;
  options.push_back(nearest);
  // The file of bases has no blocks of 8 bits: the nearest are good enough.
  if (bits >= 8)
    return;
  options.push_back(compensated);
  if (input.name == "head")
    addExactRows(input, options.front().bytes, compensated, options);
  for (const auto &[k, error] : corrected) {
    LinearOption better = compensated;
    better.choice.k = k;
    better.loss = error / energy;
    better.bytes += subspaceBytes(k, input.size, outputs);
    options.push_back(better);
  }
}

std::vector<LinearOption> plan::listOptions(const InputResult &input) {
  std::vector<LinearOption> options(1);
  for (const WeightResult &weight : input.weights)
    options.front().bytes += weight.bytes;
  // Layers of a group take the same bits: they are one product.
  for (const auto &[bits, unused] : input.weights.front().rounded)
    if (std::ranges::all_of(input.weights, [&](const WeightResult &weight) {
          return weight.rounded.contains(bits);
        }))
      addBits(input, bits, options);
  // What an error costs was measured with compensated weights, where there are
  // any.
  double cost = 1;
  for (const LinearOption &option : options) {
    LinearChoice probed{.bits = input.probedBits,
                        .isCompensated = input.probedBits < 8};
    if (option.choice == probed && option.loss > 0 && input.divergence > 0)
      cost = input.divergence / option.loss;
  }
  for (LinearOption &option : options)
    option.loss *= cost;
  return options;
}

//===----------------------------------------------------------------------===//
// The menu
//===----------------------------------------------------------------------===//

bool BitsMenu::find() {
  const ModuleSpec &spec = session.module().spec();
  auto isThere = [&](const std::string &part) {
    return std::ranges::any_of(spec.weights, [&](const WeightSpec &weight) {
      return std::ranges::count(getParts(weight), part) > 0 &&
             canEncode(weight.format);
    });
  };
  for (const EntrySpec &entry : spec.entries)
    for (const ObservationSpec &shown : entry.observations) {
      if (shown.kind != ObservationKind::Input ||
          (shown.layer >= 0 && !hasLayers))
        continue;
      Group found{.layer = shown.layer,
                  .weights = shown.weights,
                  .parts = shown.weights};
      // A head of its own, which is not the table of embeddings too.
      if (shown.layer < 0)
        for (std::string &part : found.parts)
          part = roundedName(part, WeightFormat::Q8_0);
      for (size_t i = 0; i < kNumLinearGroups; ++i)
        if (shown.group == linearGroupName(static_cast<LinearGroup>(i)))
          found.group = static_cast<LinearGroup>(i);
      bool isKnown = std::ranges::all_of(found.weights, [&](auto &name) {
        return model.tensors().contains(name);
      });
      if (isKnown && std::ranges::all_of(found.parts, isThere))
        groups.push_back(std::move(found));
    }
  return !groups.empty();
}

uint64_t BitsMenu::storedBytes() const {
  uint64_t bytes = 0;
  for (const Group &group : groups)
    for (const std::string &name : group.weights)
      bytes +=
          bytesOf(model.tensors().at(name).format, model.tensors().at(name));
  return bytes;
}

uint64_t BitsMenu::fewestBytes() const {
  uint64_t bytes = 0;
  for (const Group &group : groups)
    for (const std::string &name : group.weights)
      bytes += bytesOf(
          roundedFormat(group.layer < 0 ? kFewestHeadBits : kFewestBits),
          model.tensors().at(name));
  return bytes;
}

Status BitsMenu::measure(const std::vector<int32_t> &tokens,
                         CalibrationOptions options, const std::string &file,
                         LinearCalibration &result) {
  bases = file;
  options.isOfHeadAlone = !hasLayers;
  options.maxTokens = static_cast<int64_t>(tokens.size());
  GIST_TRY(calibrateLinears(session, model, tokens, options, file,
                            showLinearProgress(), result));
  for (Group &group : groups)
    for (const InputResult &input : result.inputs)
      if (!input.weights.empty() &&
          input.weights.front().name == group.weights.front())
        group.options = listOptions(input);
  if (hasLayers)
    return {};
  const std::vector<LinearOption> &list = groups.front().options;
  std::fprintf(stderr, "bits:");
  for (const LinearOption &option : list)
    std::fprintf(stderr, " %.2f of the head's bytes lose %.4f%s",
                 static_cast<double>(option.bytes) /
                     static_cast<double>(list.front().bytes),
                 option.loss, &option == &list.back() ? "\n" : ",");
  return {};
}

Places BitsMenu::makePlaces(size_t terms, const JobTime &time) const {
  Places places;
  for (const Group &group : groups) {
    places.emplace_back();
    for (const LinearOption &option : group.options)
      places.back().options.push_back(
          {.work = time.ofWeights(static_cast<double>(option.bytes)),
           // Predictions move as far in every part of the contract.
           .spends = std::vector<double>(terms, std::max(0.0, option.loss))});
  }
  return places;
}

LinearPlan BitsMenu::makePlan(std::span<const size_t> options) const {
  LinearPlan plan;
  plan.layers.resize(
      static_cast<size_t>(session.module().spec().model.layerCount));
  for (size_t i = 0; i < groups.size(); ++i) {
    const LinearChoice &choice = groups[i].options[options[i]].choice;
    if (groups[i].layer < 0)
      plan.head = choice;
    else
      plan.layers[static_cast<size_t>(groups[i].layer)]
                 [static_cast<size_t>(groups[i].group)] = choice;
  }
  if (!plan.isNeeded())
    return {};
  plan.bases = std::filesystem::path(bases).filename().string();
  return plan;
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

const LinearChoice &BitsMenu::choiceOf(const LinearPlan &plan,
                                       const Group &of) const {
  static const LinearChoice kDense;
  auto layer = static_cast<size_t>(of.layer);
  return of.layer < 0 ? plan.head
         : layer < plan.layers.size()
             ? plan.layers[layer][static_cast<size_t>(of.group)]
             : kDense;
}

/// The numbers that a weight has by a plan.
Status BitsMenu::makeNumbers(const std::string &weight, const Group &of,
                             const LinearChoice &wanted,
                             Matrix &numbers) const {
  const StoredTensor &tensor = model.tensors().at(weight);
  int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  numbers.resize(rows, columns);
  dequantize(tensor.format, tensor.content, numbers.data());
  WeightFormat format = wanted.format();
  std::vector<uint8_t> blocks(bytesOf(format, tensor));
  LinearBases file;
  if (wanted.isCompensated) {
    Bytes rounded;
    GIST_TRY(LinearBases::open(bases, file));
    GIST_TRY(file.rounded(weight, format, rows, columns, rounded));
    blocks.assign(rounded.data, rounded.data + rounded.size);
  } else {
    quantize(format, numbers.data(), static_cast<size_t>(numbers.size()),
             blocks.data());
  }
  Matrix result = expand(blocks, format, rows, columns);
  if (wanted.k > 0) {
    std::vector<float> basis;
    GIST_TRY(
        file.basis(basisName(of.layer, of.group), wanted.k, columns, basis));
    Eigen::Map<const Matrix> v(basis.data(), wanted.k, columns);
    Matrix image = (numbers - result) * v.transpose();
    result.noalias() += image * v;
  }
  // The first rows stay.
  int64_t left = rows - wanted.exactRows;
  numbers.bottomRows(left) = result.bottomRows(left);
  return {};
}

Status BitsMenu::follow(const LinearPlan &plan) {
  for (Group &group : groups) {
    const LinearChoice &wanted = choiceOf(plan, group);
    if (wanted == group.now)
      continue;
    std::vector<Matrix> numbers;
    for (const std::string &weight : group.weights)
      if (!wanted.isDense())
        GIST_TRY(makeNumbers(weight, group, wanted, numbers.emplace_back()));
    GIST_TRY(setNumbers(session, group.parts, numbers));
    group.now = wanted;
  }
  return {};
}
