//===- LinearProbe.cpp - What rounding a weight costs a model -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearProbe.h"

#include "passes/Import/Files/BlockFormats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace gist;
using namespace gist::plan;

static constexpr Eigen::Index kBlock = 32;

double plan::meanDivergence(std::span<const float> reference,
                            std::span<const float> other, size_t columns) {
  double total = 0;
  size_t rows = reference.size() / columns;
  auto logSum = [&](std::span<const float> logits, double &largest) {
    largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(logit - largest);
    return std::log(sum) + largest;
  };
  for (size_t row = 0; row < rows; ++row) {
    std::span<const float> a = reference.subspan(row * columns, columns);
    std::span<const float> b = other.subspan(row * columns, columns);
    double unused = 0;
    double sumA = logSum(a, unused), sumB = logSum(b, unused);
    for (size_t i = 0; i < columns; ++i) {
      double p = std::exp(a[i] - sumA);
      total += p * ((a[i] - sumA) - (b[i] - sumB));
    }
  }
  return total / static_cast<double>(rows);
}

//===----------------------------------------------------------------------===//
// Weights as a module has them
//===----------------------------------------------------------------------===//

/// Stored blocks of Q4_1 or Q8_0 in tiles of `columns` rows and steps of
/// `depth`, as #gist.packing says.
static std::vector<uint8_t> packBlocks(const std::vector<uint8_t> &stored,
                                       WeightFormat format, size_t rows,
                                       size_t blocks, size_t columns,
                                       size_t depth, bool isUnsigned) {
  bool isNibbles = format == WeightFormat::Q4_1;
  size_t stride = formatInfo(format).blockBytes;
  size_t head = isNibbles ? 4 : 2;
  size_t bytes = columns * (head + (isNibbles ? 16 : 32));
  size_t tiles = (rows + columns - 1) / columns;
  std::vector<uint8_t> packed(tiles * blocks * bytes);
  for (size_t row = 0; row < rows; ++row)
    for (size_t block = 0; block < blocks; ++block) {
      const uint8_t *in = stored.data() + (row * blocks + block) * stride;
      uint8_t *out = packed.data() + (row / columns * blocks + block) * bytes;
      size_t column = row % columns;
      std::memcpy(out + 2 * column, in, 2);
      if (isNibbles)
        std::memcpy(out + 2 * (columns + column), in + 2, 2);
      uint8_t *values = out + head * columns;
      for (size_t i = 0; i < 32; ++i) {
        size_t step = i / depth, lane = column * depth + i % depth;
        if (!isNibbles) {
          values[step * columns * depth + lane] =
              in[2 + i] ^ (isUnsigned ? 0x80 : 0);
          continue;
        }
        uint8_t level = i < 16 ? in[4 + i] & 15 : in[4 + i - 16] >> 4;
        values[step / 2 * columns * depth + lane] |= level << (4 * (step % 2));
      }
    }
  return packed;
}

Status plan::encodeWeight(const Matrix &numbers, const std::string &format,
                          bool isUnsigned, std::vector<uint8_t> &bytes) {
  auto count = static_cast<size_t>(numbers.size());
  auto encode = [&](WeightFormat as) {
    const FormatInfo &info = formatInfo(as);
    std::vector<uint8_t> result(count / info.blockLength * info.blockBytes);
    quantize(as, numbers.data(), count, result.data());
    return result;
  };
  if (format == "f32" || format == "f16") {
    bytes = encode(format == "f32" ? WeightFormat::F32 : WeightFormat::F16);
    return {};
  }
  size_t columns = 0, depth = 0;
  bool isNibbles = format.compare(0, 5, "q4_1/") == 0;
  if (numbers.cols() % kBlock != 0 ||
      (!isNibbles && format.compare(0, 5, "q8_0/") != 0) ||
      std::sscanf(format.c_str() + 5, "%zux%zu", &columns, &depth) != 2 ||
      columns == 0 || (depth != 4 && depth != 8 && depth != 16))
    return Status::error(Code::Unsupported,
                         "weights stored as %s cannot be tried",
                         format.c_str());
  WeightFormat as = isNibbles ? WeightFormat::Q4_1 : WeightFormat::Q8_0;
  bytes = packBlocks(encode(as), as, static_cast<size_t>(numbers.rows()),
                     static_cast<size_t>(numbers.cols() / kBlock), columns,
                     depth, isUnsigned);
  return {};
}

/// The weights that one of the module is made of: "a+b q4_1/8x8".
static std::vector<std::string> getParts(const WeightSpec &weight) {
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
  bool isUnsigned = session.target().triple.compare(0, 6, "x86_64") == 0;
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
    GIST_TRY(encodeWeight(joined, spec.weights[i].format, isUnsigned, bytes)
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
        session.setWeight(spec.weights[i].name, session.module().weight(i)));
  return {};
}
