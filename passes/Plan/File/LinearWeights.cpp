//===- LinearWeights.cpp - Weights that a plan makes ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/LinearWeights.h"
#include "passes/Plan/File/DepthPlan.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

using namespace gist;

/// How far from orthonormal the rows of a basis may be: an intact file in f32
/// is far below this, a damaged one is above.
static constexpr double kTolerance = 1e-3;

std::string gist::basisName(int64_t layer, LinearGroup group) {
  return std::to_string(layer) + "." + linearGroupName(group) + ".basis";
}

/// The planner that writes the file and the compiler that reads it both take
/// the name from here.
std::string gist::roundedName(const std::string &weight, WeightFormat format) {
  return weight + "." + formatInfo(format).attribute;
}

WeightFormat gist::subspaceFormat(int64_t length) {
  return length % formatInfo(WeightFormat::Q8_0).blockLength == 0
             ? WeightFormat::Q8_0
             : WeightFormat::F16;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Status LinearBases::open(const std::string &path, LinearBases &bases) {
  if (path.empty()) {
    bases = {};
    return {};
  }
  LinearBases result;
  result.path = path;
  GIST_TRY(MappedFile::open(path, result.file).in(path));
  GIST_TRY(readSafetensors(result.file->bytes(), result.tensors).in(path));
  bases = std::move(result);
  return {};
}

/// Refuses rows whose products are not those of an orthonormal basis.
static Status checkOrthonormal(const std::vector<float> &rows, int64_t k,
                               int64_t d) {
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double product = 0;
      for (int64_t c = 0; c < d; ++c)
        product += static_cast<double>(rows[i * d + c]) * rows[j * d + c];
      double wanted = i == j ? 1 : 0;
      // Written so that a NaN is refused, too.
      if (!(std::abs(product - wanted) <= kTolerance))
        return Status::error(
            Code::BadFile,
            "rows %" PRId64 " and %" PRId64
            " have the product %g, expected %g: the basis is not orthonormal",
            j, i, product, wanted);
    }
  return {};
}

Status LinearBases::basis(const std::string &name, int64_t k, int64_t d,
                          std::vector<float> &rows) const {
  if (k > d)
    return Status::error(
        Code::BadFile,
        "k is %" PRId64 ", but the rows have %" PRId64 " numbers", k, d);
  auto found = tensors.tensors.find(name);
  if (found == tensors.tensors.end())
    return Status::error(Code::NotFound, "%s: there is no %s", path.c_str(),
                         name.c_str());
  const StoredTensor &tensor = found->second;
  if (tensor.shape.size() != 2 || tensor.shape[1] != d || tensor.shape[0] < k)
    return Status::error(
        Code::BadFile,
        "%s: %s is %s, expected at least %" PRId64 " rows of %" PRId64,
        path.c_str(), name.c_str(), shapeText(tensor.shape).c_str(), k, d);
  std::vector<float> all(static_cast<size_t>(tensor.numElements()));
  dequantize(tensor.format, tensor.content, all.data());
  // The most important rows are first, so a file made for a large k serves
  // every smaller one.
  all.resize(static_cast<size_t>(k * d));
  GIST_TRY(checkOrthonormal(all, k, d).in(path + ": " + name));
  rows = std::move(all);
  return {};
}

Status LinearBases::rounded(const std::string &weight, WeightFormat format,
                            int64_t rows, int64_t columns,
                            Bytes &blocks) const {
  std::string name = roundedName(weight, format);
  auto found = tensors.bytes.find(name);
  if (found == tensors.bytes.end())
    return Status::error(Code::NotFound, "%s: there is no %s", path.c_str(),
                         inQuotes(name).c_str());
  const FormatInfo &info = formatInfo(format);
  std::vector<int64_t> shape = {rows, columns / info.blockLength,
                                info.blockBytes};
  if (found->second.shape != shape)
    return Status::error(Code::BadFile, "%s: %s is %s, expected %s",
                         path.c_str(), inQuotes(name).c_str(),
                         shapeText(found->second.shape).c_str(),
                         shapeText(shape).c_str());
  // A view of the mapped file, valid as long as this object.
  blocks = found->second.content;
  return {};
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

std::string gist::madeName(const MadeWeight &what) {
  std::string k = std::to_string(what.k);
  switch (what.kind) {
  case MadeKind::Rounded: {
    std::string name = roundedName(what.from, roundedFormat(what.bits));
    int64_t exact = what.exactRows;
    return exact == 0 ? name : name + ".from" + std::to_string(exact);
  }
  case MadeKind::Exact:
    return what.from + ".first" + std::to_string(what.exactRows) +
           (what.exactBits ? ".q8_0" : "");
  case MadeKind::Basis:
    return what.from + ".basis" + k;
  case MadeKind::Transposed:
    return what.from + ".basis" + k + "t";
  case MadeKind::Image:
    return what.from + ".image" + k;
  case MadeKind::Correction:
    return what.from + ".correction" + k;
  }
  return {};
}

static std::vector<float> numbersOf(const Weight &weight) {
  size_t count = 1;
  for (int64_t dim : weight.shape)
    count *= static_cast<size_t>(dim);
  std::vector<float> values(count);
  dequantize(weight.format, weight.content, values.data());
  return values;
}

/// Rows [first, last) of a weight.
static Weight takeRows(const Weight &weight, int64_t first, int64_t last) {
  Weight part = weight;
  uint64_t row = weight.content.size / static_cast<uint64_t>(weight.shape[0]);
  part.shape[0] = last - first;
  part.content = {weight.content.data + static_cast<uint64_t>(first) * row,
                  static_cast<uint64_t>(last - first) * row};
  // Rows are whole blocks in every format, so each begins at a byte.
  part.fileOffset += static_cast<uint64_t>(first) * row;
  return part;
}

static Status makeRounded(const MadeWeight &what, const Weight &source,
                          const LinearBases &bases, Weight &result) {
  WeightFormat format = roundedFormat(what.bits);
  if (!what.isCompensated) {
    result = fittedWeight(format, source.shape, numbersOf(source));
    return {};
  }
  Bytes blocks;
  GIST_TRY(bases.rounded(what.from, format, source.shape[0], source.shape[1],
                         blocks));
  auto bytes = std::make_shared<std::vector<uint8_t>>(
      blocks.data, blocks.data + blocks.size);
  result.format = format;
  result.shape = source.shape;
  result.content = {bytes->data(), bytes->size()};
  result.owned = std::move(bytes);
  return {};
}

/// `values`, rows x columns, as columns x rows.
static std::vector<float> transpose(const std::vector<float> &values,
                                    int64_t rows, int64_t columns) {
  std::vector<float> turned(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      turned[j * rows + i] = values[i * columns + j];
  return turned;
}

/// rows x k: the products of the rows of `weight` with those of `basis`.
static std::vector<float> project(const std::vector<float> &weight,
                                  const std::vector<float> &basis, int64_t d,
                                  int64_t k) {
  int64_t rows = static_cast<int64_t>(weight.size()) / d;
  std::vector<float> image(static_cast<size_t>(rows * k));
  // Computes all sums of a row side by side: they are independent of each
  // other, and each adds in the order of columns.
  std::vector<float> turned = transpose(basis, k, d);
  std::vector<double> sums(static_cast<size_t>(k));
  for (int64_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int64_t c = 0; c < d; ++c) {
      double factor = weight[row * d + c];
      const float *column = turned.data() + c * k;
      for (int64_t i = 0; i < k; ++i)
        sums[i] += factor * static_cast<double>(column[i]);
    }
    std::transform(sums.begin(), sums.end(), image.begin() + row * k,
                   [](double sum) { return static_cast<float>(sum); });
  }
  return image;
}

/// The basis, transposed or not.
static Status makeBasis(const MadeWeight &what, const LinearBases &bases,
                        Weight &made) {
  int64_t k = what.k, d = what.d;
  std::vector<float> basis;
  GIST_TRY(bases.basis(what.basis, k, d, basis));
  if (what.kind == MadeKind::Basis)
    made = fittedWeight(what.format, {d, k}, transpose(basis, k, d));
  else
    made = fittedWeight(what.format, {k, d}, basis);
  return {};
}

/// rows x k: W V, or the rounding error of that product.
static Status makeImage(const MadeWeight &what, const LinearBases &bases,
                        const Weight &source, Weight &made) {
  int64_t k = what.k, d = source.shape[1];
  std::vector<float> basis;
  GIST_TRY(bases.basis(what.basis, k, d, basis));
  std::vector<float> numbers = numbersOf(source);
  // The rounding error inside the subspace: added to the product with the
  // rounded weight, it makes rows in the subspace exact again.
  if (what.kind == MadeKind::Correction) {
    Weight rounded;
    GIST_TRY(makeRounded(what, source, bases, rounded));
    std::vector<float> less = numbersOf(rounded);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] -= less[i];
  } else {
    // W V of the V that residuals are taken with: then the rounding of V
    // does not matter where the weight is read.
    basis = transpose(numbersOf(fittedWeight(subspaceFormat(k), {d, k},
                                             transpose(basis, k, d))),
                      d, k);
  }
  made = fittedWeight(what.format, {source.shape[0], k},
                      project(numbers, basis, d, k));
  return {};
}

Status gist::makeWeight(const MadeWeight &what, const LinearBases &bases,
                        const Weight *source, Weight &made) {
  if (!needsSource(what.kind))
    return makeBasis(what, bases, made);
  std::string name = inQuotes(what.from);
  if (!source)
    return Status::error(Code::NotFound, "there is no weight %s in the model",
                         name.c_str());
  if (source->random)
    return Status::error(Code::Unsupported,
                         "the weight %s consists of random numbers; a plan "
                         "needs the model's own weights",
                         name.c_str());
  // The IR may be for another model.
  int64_t block =
      what.bits == 0 ? 1 : formatInfo(roundedFormat(what.bits)).blockLength;
  if (source->shape.size() != 2 || source->shape[1] % block != 0)
    return Status::error(Code::BadFile,
                         "the weight %s is %s; expected a matrix whose rows "
                         "consist of whole blocks of %" PRId64 " numbers",
                         name.c_str(), shapeText(source->shape).c_str(), block);
  int64_t rows = source->shape[0], exact = what.exactRows;
  if (exact > rows)
    return Status::error(
        Code::BadFile, "exact_rows is %" PRId64 ", but %s has %" PRId64 " rows",
        exact, name.c_str(), rows);
  switch (what.kind) {
  case MadeKind::Exact:
    made = takeRows(*source, 0, exact);
    if (what.exactBits)
      made = fittedWeight(WeightFormat::Q8_0, made.shape, numbersOf(made));
    return {};
  case MadeKind::Rounded: {
    Weight rounded;
    GIST_TRY(makeRounded(what, *source, bases, rounded));
    made = takeRows(rounded, exact, rows);
    return {};
  }
  default:
    return makeImage(what, bases, *source, made);
  }
}
