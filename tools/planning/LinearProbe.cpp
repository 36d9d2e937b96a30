//===- LinearProbe.cpp - What rounding a weight costs a model -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearProbe.h"

#include "passes/Import/Files/BlockFormats.h"
#include "runtime/format/PackedLayout.h"
#include "tools/planning/AllCores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace gist;
using namespace gist::plan;

double plan::meanDivergence(std::span<const float> reference,
                            std::span<const float> other, size_t columns) {
  size_t rows = reference.size() / columns;
  std::vector<double> lost(rows);
  auto logSum = [&](std::span<const float> logits, double &largest) {
    largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(logit - largest);
    return std::log(sum) + largest;
  };
  forEachOnAllCores(rows, [&](size_t row) {
    std::span<const float> a = reference.subspan(row * columns, columns);
    std::span<const float> b = other.subspan(row * columns, columns);
    double unused = 0;
    double sumA = logSum(a, unused), sumB = logSum(b, unused);
    for (size_t i = 0; i < columns; ++i) {
      double p = std::exp(a[i] - sumA);
      lost[row] += p * ((a[i] - sumA) - (b[i] - sumB));
    }
  });
  return std::accumulate(lost.begin(), lost.end(), 0.0) /
         static_cast<double>(rows);
}

//===----------------------------------------------------------------------===//
// Weights as a module has them
//===----------------------------------------------------------------------===//

Status plan::encodeWeight(const Matrix &numbers, const std::string &storage,
                          std::vector<uint8_t> &bytes) {
  auto refuse = [&] {
    return Status::error(Code::Unsupported,
                         "weights that are stored as %s cannot be measured",
                         storage.c_str());
  };
  WeightStorage as;
  if (!parseStorage(storage, as))
    return refuse();
  // Only the formats that calibration supports. GPUs have blocks as stored.
  bool isKnown = as.format == WeightFormat::Q8_0 ||
                 (as.packing ? as.format == WeightFormat::Q4_1
                             : as.format == WeightFormat::F32 ||
                                   as.format == WeightFormat::F16);
  const FormatInfo &info = formatInfo(as.format);
  if (!isKnown || numbers.cols() % info.blockLength != 0)
    return refuse();
  auto count = static_cast<size_t>(numbers.size());
  bytes.resize(count / info.blockLength * info.blockBytes);
  quantize(as.format, numbers.data(), count, bytes.data());
  if (as.packing)
    bytes = packWeight(as.format, *as.packing, bytes, numbers.rows(),
                       numbers.cols());
  return {};
}

std::vector<std::string> plan::getParts(const WeightSpec &weight) {
  std::string name = weight.name.substr(0, weight.name.find(' '));
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('+', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Status LinearProbe::predict(std::vector<float> &logits) {
  logits.clear();
  GIST_TRY(session.reset());
  return session.score(tokens, [&](size_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    return Status();
  });
}

Status LinearProbe::start(std::span<const int32_t> text) {
  tokens.assign(text.begin(), text.end());
  return predict(reference);
}

Status LinearProbe::measure(const std::vector<std::string> &weights,
                            const std::vector<Matrix> &numbers,
                            double &divergence) {
  const ModuleSpec &spec = session.module().spec();
  std::vector<uint32_t> changed;
  size_t found = 0;
  for (uint32_t i = 0; i < spec.weights.size(); ++i) {
    std::vector<uint8_t> bytes;
    std::vector<std::string> parts = getParts(spec.weights[i]);
    Matrix joined;
    for (const std::string &part : parts) {
      auto at = std::find(weights.begin(), weights.end(), part);
      if (at == weights.end())
        break;
      const Matrix &more = numbers[static_cast<size_t>(at - weights.begin())];
      Matrix both(joined.rows() + more.rows(), more.cols());
      if (joined.size() > 0)
        both.topRows(joined.rows()) = joined;
      both.bottomRows(more.rows()) = more;
      joined = std::move(both);
      ++found;
    }
    if (joined.size() == 0)
      continue;
    GIST_TRY(encodeWeight(joined, spec.weights[i].format, bytes)
                 .in(spec.weights[i].name));
    GIST_TRY(
        session.setWeight(spec.weights[i].name, {bytes.data(), bytes.size()}));
    changed.push_back(i);
  }
  if (found != weights.size())
    return Status::error(Code::NotFound,
                         "the module has other weights than the model: %s",
                         weights.front().c_str());
  std::vector<float> logits;
  GIST_TRY(predict(logits));
  divergence = meanDivergence(reference, logits,
                              static_cast<size_t>(spec.model.vocabSize));
  for (uint32_t i : changed)
    GIST_TRY(
        // The next measurement starts from the model as it is.
        session.setWeight(spec.weights[i].name, session.module().weight(i)));
  return {};
}
