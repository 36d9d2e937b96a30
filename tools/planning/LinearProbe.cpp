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

bool plan::canEncode(const std::string &storage) {
  WeightStorage as;
  // Only the formats that calibration supports. GPUs have blocks as stored.
  return parseStorage(storage, as) &&
         (as.format == WeightFormat::Q8_0 ||
          (as.packing ? as.format == WeightFormat::Q4_1
                      : as.format == WeightFormat::F32 ||
                            as.format == WeightFormat::F16));
}

Status plan::encodeWeight(const Matrix &numbers, const std::string &storage,
                          std::vector<uint8_t> &bytes) {
  WeightStorage as;
  if (!canEncode(storage) || !parseStorage(storage, as) ||
      numbers.cols() % formatInfo(as.format).blockLength != 0)
    return Status::error(Code::Unsupported,
                         "weights that are stored as %s cannot be measured",
                         storage.c_str());
  const FormatInfo &info = formatInfo(as.format);
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

Status plan::setNumbers(Session &session,
                        const std::vector<std::string> &weights,
                        const std::vector<Matrix> &numbers) {
  const ModuleSpec &spec = session.module().spec();
  size_t found = 0;
  for (uint32_t i = 0; i < spec.weights.size(); ++i) {
    Matrix joined;
    bool isThere = false;
    for (const std::string &part : getParts(spec.weights[i])) {
      auto at = std::ranges::find(weights, part);
      if (at == weights.end())
        break;
      ++found;
      isThere = true;
      if (numbers.empty())
        continue;
      const Matrix &more = numbers[static_cast<size_t>(at - weights.begin())];
      Matrix both(joined.rows() + more.rows(), more.cols());
      if (joined.size() > 0)
        both.topRows(joined.rows()) = joined;
      both.bottomRows(more.rows()) = more;
      joined = std::move(both);
    }
    if (!isThere)
      continue;
    std::vector<uint8_t> encoded;
    Bytes bytes = session.module().weight(i);
    if (!numbers.empty()) {
      GIST_TRY(encodeWeight(joined, spec.weights[i].format, encoded)
                   .in(spec.weights[i].name));
      bytes = {encoded.data(), encoded.size()};
    }
    GIST_TRY(session.setWeight(spec.weights[i].name, bytes));
  }
  return found == weights.size()
             ? Status()
             : Status::error(Code::NotFound,
                             "the module has other weights than the model: %s",
                             weights.front().c_str());
}

Status LinearProbe::measure(const std::vector<std::string> &weights,
                            const std::vector<Matrix> &numbers,
                            double &divergence) {
  GIST_TRY(setNumbers(session, weights, numbers));
  std::vector<float> logits;
  GIST_TRY(predict(logits));
  divergence = meanDivergence(
      reference, logits,
      static_cast<size_t>(session.module().spec().model.vocabSize));
  // The next measurement starts from the model as it is.
  return setNumbers(session, weights, {});
}
