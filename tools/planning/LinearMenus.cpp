//===- LinearMenus.cpp - What linear layers may be asked to do ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Json.h"
#include "tools/planning/LinearSolve.h"
#include "tools/running/Options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <map>

using namespace gist;
using namespace gist::plan;
using SortedJson = nlohmann::json;

// Bounds that no model reaches; they keep sums of bytes in range.
static constexpr int64_t kMostLayers = 4096, kMostSize = int64_t{1} << 24,
                         kMostBytes = int64_t{1} << 46;
static constexpr size_t kMostWeights = 1024, kMostInputs = 5 * kMostLayers;
static constexpr double kMostError = 1e30;

/// Bytes of a subspace for rows of `size` numbers and `outputs` results.
static int64_t subspaceBytes(int64_t k, int64_t size, int64_t outputs) {
  const FormatInfo &info = formatInfo(WeightFormat::Q8_0);
  return k * (size + outputs) / info.blockLength * info.blockBytes;
}

/// The integer that is written in a name: bits, dimensions and rows have
/// members of their own.
static Status parseCount(std::string_view name, int64_t most, int64_t &count) {
  const char *end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data(), end, count);
  if (error != std::errc() || stop != end || count < 0 || count > most)
    return Status::error(Code::BadFile,
                         "the name of a member is not an integer from 0 to "
                         "%" PRId64,
                         most);
  return {};
}

static Status findObject(const SortedJson &object, const char *name,
                         const SortedJson *&found) {
  const SortedJson *member = nullptr;
  GIST_TRY(findMember(object, name, "an object", member));
  if (!member->is_object())
    return Status::error(Code::BadFile, "'%s' is %s; expected an object", name,
                         describeJson(*member).c_str());
  found = member;
  return {};
}

static Status readBytes(const SortedJson &object, int64_t &bytes) {
  return readInteger(object, "bytes", 0, kMostBytes / int64_t{kMostWeights},
                     bytes);
}

static Status readError(const SortedJson &object, const char *name,
                        double &error) {
  return readNumber(object, name, -kMostError, kMostError, error);
}

namespace {
/// One group of linear layers, which have one input.
class MenuReader {
public:
  MenuReader(const SortedJson &input, LinearMenu &menu)
      : input(input), menu(menu) {}

  Status read();

private:
  Status readName();
  Status readWeights();
  Status addBits(const std::string &name);
  Status addExactRows(const LinearOption &option);
  void setSensitivity();

  const SortedJson &input;
  LinearMenu &menu;
  const SortedJson *weights = nullptr;
  int64_t size = 0, rows = 0, outputs = 0, probedBits = 0;
  double energy = 0, divergence = 0;
};
} // namespace

/// "head", or the layer's number and the group: "3.qkv".
Status MenuReader::readName() {
  std::string name;
  GIST_TRY(readText(input, "name", name));
  if (name == "head")
    return {};
  size_t dot = std::min(name.find('.'), name.size());
  GIST_TRY(parseCount(name.substr(0, dot), kMostLayers - 1, menu.layer));
  for (size_t i = 0; i < kNumLinearGroups; ++i)
    if (name.substr(dot) ==
        "." + std::string(linearGroupName(static_cast<LinearGroup>(i)))) {
      menu.group = static_cast<LinearGroup>(i);
      return {};
    }
  return Status::error(Code::BadFile,
                       "'name' does not name a known group of linear layers");
}

/// Option 0 is dense: without an error, and with the stored bytes.
Status MenuReader::readWeights() {
  GIST_TRY(findList(input, "weights", weights));
  if (weights->empty() || weights->size() > kMostWeights)
    return Status::error(Code::BadFile,
                         "'weights' has %zu entries; expected 1 to %zu",
                         weights->size(), kMostWeights);
  menu.options.emplace_back();
  for (const SortedJson &weight : *weights) {
    int64_t bytes = 0;
    double part = 0;
    GIST_TRY(readInteger(weight, "rows", 1, kMostSize, rows));
    GIST_TRY(readBytes(weight, bytes));
    GIST_TRY(readNumber(weight, "energy", 0, kMostError, part));
    energy += part;
    outputs += rows;
    menu.options[0].bytes += bytes;
  }
  // A layer that reads only zeros loses nothing.
  if (energy == 0)
    energy = 1;
  return {};
}

/// The same head with the rows of common tokens as stored, or in 8 bits where
/// that is less: the error that is left follows from the measured predictions.
Status MenuReader::addExactRows(const LinearOption &option) {
  const SortedJson *counts = nullptr, *rounded = nullptr;
  GIST_TRY(findObject(input, "exact_rows", counts));
  GIST_TRY(findObject(weights->at(0), "rounded", rounded));
  int64_t stored = menu.options[0].bytes, exact = stored;
  if (auto eight = rounded->find("8"); eight != rounded->end()) {
    GIST_TRY(readBytes(*eight, exact));
    exact = std::min(stored, exact);
  }
  int64_t more = exact - option.bytes;
  for (const auto &[name, value] : counts->items()) {
    LinearOption better = option;
    double left = 0;
    GIST_TRY(parseCount(name, rows, better.choice.exactRows));
    GIST_TRY(readError(*counts, name.c_str(), left));
    better.choice.exactBits = exact < stored ? 8 : 0;
    // Bytes of a row are whole, so that nothing is lost by dividing first.
    better.bytes += more / rows * better.choice.exactRows;
    if (divergence > 0)
      // Measured as a divergence. The menu's error is in units of energy, so
      // only the share carries over.
      better.error *= left / divergence;
    menu.options.push_back(better);
  }
  return {};
}

/// Adds the options with weights in so many bits. Layers of a group take the
/// same: they are one product.
Status MenuReader::addBits(const std::string &name) {
  LinearOption nearest;
  GIST_TRY(parseCount(name, 8, nearest.choice.bits));
  LinearOption compensated = nearest;
  compensated.choice.isCompensated = true;
  std::map<int64_t, double> corrected;
  for (const SortedJson &weight : *weights) {
    const SortedJson *rounded = nullptr, *found = nullptr, *byK = nullptr;
    GIST_TRY(findObject(weight, "rounded", rounded));
    GIST_TRY(findObject(*rounded, name.c_str(), found));
    GIST_TRY(findObject(*found, "corrected", byK));
    int64_t bytes = 0;
    double error = 0;
    GIST_TRY(readBytes(*found, bytes));
    nearest.bytes += bytes;
    GIST_TRY(readError(*found, "nearest", error));
    nearest.error += error / energy;
    GIST_TRY(readError(*found, "compensated", error));
    compensated.error += error / energy;
    for (const auto &[dimensions, value] : byK->items()) {
      int64_t k = 0;
      GIST_TRY(parseCount(dimensions, kMostSize, k));
      GIST_TRY(readError(*byK, dimensions.c_str(), error));
      corrected[k] += error / energy;
    }
  }
  compensated.bytes = nearest.bytes;
  // Weights that have so few levels already stay as they are.
  menu.options.push_back(nearest);
  // The file of bases has no blocks of 8 bits: the nearest are good enough.
  if (nearest.choice.bits < 8)
    menu.options.push_back(compensated);
  if (menu.layer < 0 && nearest.choice.bits < 8)
    GIST_TRY(addExactRows(compensated));
  for (const auto &[k, error] : corrected) {
    LinearOption better = compensated;
    better.choice.k = k;
    better.error = error;
    better.bytes += subspaceBytes(k, size, outputs);
    menu.options.push_back(better);
  }
  return {};
}

/// How far predictions move for an error; 1 where that was not measured.
void MenuReader::setSensitivity() {
  for (const LinearOption &option : menu.options)
    // Compensated weights are probed where there are any.
    if (option.choice.bits == probedBits && option.choice.k == 0 &&
        option.choice.isCompensated == (option.choice.bits < 8) &&
        option.choice.exactRows == 0 && option.error > 0 && divergence > 0) {
      menu.sensitivity = divergence / option.error;
      return;
    }
}

Status MenuReader::read() {
  GIST_TRY(readName());
  GIST_TRY(readInteger(input, "size", 1, kMostSize, size));
  GIST_TRY(readInteger(input, "probed_bits", 0, 8, probedBits));
  GIST_TRY(readError(input, "divergence", divergence));
  GIST_TRY(readWeights());
  const SortedJson *rounded = nullptr;
  GIST_TRY(findObject(weights->at(0), "rounded", rounded));
  for (const auto &[bits, unused] : rounded->items())
    GIST_TRY(addBits(bits));
  for (const LinearOption &option : menu.options)
    if (option.bytes < 0 || option.bytes > kMostBytes)
      return Status::error(Code::BadFile,
                           "a choice of %" PRId64
                           " bytes is in it; expected 0 to %" PRId64,
                           option.bytes, kMostBytes);
  setSensitivity();
  return {};
}

Status gist::plan::parseMenus(std::string_view text,
                              std::vector<LinearMenu> &menus) {
  SortedJson json;
  GIST_TRY(parseJson(text, json));
  if (!json.is_object() || !json.contains("gist_linears"))
    return Status::error(Code::BadFile,
                         "the file was not written by 'gist-plan linears'");
  int64_t version = 0;
  const SortedJson *inputs = nullptr;
  GIST_TRY(readInteger(json, "gist_linears", 1, 1, version));
  GIST_TRY(findList(json, "inputs", inputs));
  if (inputs->size() > kMostInputs)
    return Status::error(Code::BadFile,
                         "'inputs' has %zu entries; expected at most %zu",
                         inputs->size(), kMostInputs);
  std::vector<LinearMenu> result(inputs->size());
  for (size_t i = 0; i < result.size(); ++i)
    GIST_TRY(MenuReader((*inputs)[i], result[i])
                 .read()
                 .in("'inputs', entry " + std::to_string(i)));
  menus = std::move(result);
  return {};
}

Status gist::plan::readMenus(const std::string &path,
                             std::vector<LinearMenu> &menus) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  return parseMenus(text, menus).in(path);
}
