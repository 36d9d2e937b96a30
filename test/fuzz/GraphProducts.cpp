//===- GraphProducts.cpp - Layers of products, rows and elements ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/BlockFormats.h"
#include "test/fuzz/GraphWriter.h"

#include <algorithm>

using namespace gist;
using namespace gist::fuzz;

void GraphWriter::linear() {
  Tensor weight = input(element(), {width(), rows.width()}, Content::Weight);
  Tensor product = matmul(rows, weight);
  if (random.oneIn(2)) {
    Tensor bias = input(element(), {product.width()}, Content::Weight);
    product = generic({{product, "t, n"}, {bias, "n"}}, "f32", product.shape,
                      {"%r = arith.addf %x0, %x1 : f32"});
  }
  rows = product;
}

void GraphWriter::blocks() {
  auto format =
      random.oneOf({WeightFormat::Q8_0, WeightFormat::Q4_0, WeightFormat::Q4_1,
                    WeightFormat::Q4_K, WeightFormat::Q6_K, WeightFormat::Q3_1,
                    WeightFormat::Q2_1});
  const FormatInfo &info = formatInfo(format);
  int64_t length = info.blockLength;
  int64_t blocks = length > 32 ? 1 : random.range(1, 3);
  Tensor x = rowsOf(length * blocks);
  Tensor stored = input("i8", {width(), blocks, info.blockBytes},
                        Content::Blocks, info.attribute);
  Tensor weight{fresh(), "f32", {stored.shape[0], length * blocks}};
  line(weight.name + " = gist.dequantize " + stored.name + " format " +
       info.attribute + " : " + type(stored));
  rows = matmul(x, weight);
  graph.isRounded = true; // The compiler may multiply in 8 bits.
}

void GraphWriter::elementwise() {
  auto apply = [&](const std::vector<std::string> &lines) {
    rows = generic({{rows, "t, n"}}, "f32", rows.shape, lines);
  };
  switch (random.range(0, 5)) {
  case 0:
    return apply({"%r = arith.maximumf %x0, %zero : f32"});
  case 1: // x * sigmoid(x)
    return apply({"%m = arith.negf %x0 : f32", "%e = math.exp %m : f32",
                  "%d = arith.addf %e, %one : f32",
                  "%r = arith.divf %x0, %d : f32"});
  case 2:
    return apply({"%r = math.tanh %x0 : f32"});
  case 3: { // a residual
    Tensor other = input("f32", rows.shape, Content::Rows);
    rows = generic({{rows, "t, n"}, {other, "t, n"}}, "f32", rows.shape,
                   {"%r = arith.addf %x0, %x1 : f32"});
    return;
  }
  case 4: { // a scale of columns
    Tensor other = input(element(), {rows.width()}, Content::Weight);
    rows = generic({{rows, "t, n"}, {other, "n"}}, "f32", rows.shape,
                   {"%r = arith.mulf %x0, %x1 : f32"});
    return;
  }
  default: // rounded and widened again
    rows = convert(convert(rows, random.oneOf<const char *>({"f16", "bf16"})),
                   "f32");
  }
}

/// x / sqrt(mean(x^2) + epsilon) * scale
void GraphWriter::norm() {
  Tensor sums{"", "f32", {rows.shape[0]}};
  std::string start = zeros(sums.shape);
  sums.name = fresh();
  line(sums.name +
       " = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, "
       "affine_map<(t, n) -> (t)>], iterator_types = [\"parallel\", "
       "\"reduction\"]} ins(" +
       rows.name + " : " + type(rows) + ") outs(" + start + " : " + type(sums) +
       ") {");
  line("^bb0(%i: f32, %o: f32):");
  line("  %q = arith.mulf %i, %i : f32");
  line("  %s = arith.addf %q, %o : f32");
  line("  linalg.yield %s : f32");
  line("} -> " + type(sums));
  std::string scale = number(1.0 / static_cast<double>(rows.width()));
  rows = generic({{rows, "t, n"}, {sums, "t"}}, "f32", rows.shape,
                 {"%c = arith.constant " + scale + " : f32",
                  "%m = arith.mulf %x1, %c : f32",
                  "%e = arith.addf %m, %small : f32",
                  "%q = math.rsqrt %e : f32", "%r = arith.mulf %x0, %q : f32"});
}

void GraphWriter::guarded() {
  int64_t width = this->width();
  Tensor x = rowsOf(width);
  Tensor weight = input(element(), {this->width(), width}, Content::Weight);
  Tensor guard = input("i8", {tokens}, Content::Guard);
  Tensor result{fresh(), "f32", {tokens, weight.shape[0]}};
  line(result.name + " = gist.guarded_matmul " + x.name + ", " + weight.name +
       " where " + guard.name + " : " + type(x) + ", " + type(weight) + ", " +
       type(guard));
  rows = result;
  graph.isForCpus = true;
}

void GraphWriter::quantized() {
  auto format =
      random.oneOf({WeightFormat::Q8_0, WeightFormat::Q4_0, WeightFormat::Q4_1,
                    WeightFormat::Q3_1, WeightFormat::Q2_1});
  const FormatInfo &info = formatInfo(format);
  int64_t blocks = random.range(1, 3), width = 32 * blocks;
  Tensor bytes{"", "i8", {tokens, width}};
  Tensor scales{"", "f32", {tokens, blocks}};
  if (random.oneIn(2)) {
    Tensor x = rowsOf(width);
    std::string name = fresh();
    line(name + ":2 = gist.quantize_rows " + x.name + " : " + type(x));
    bytes.name = name + "#0";
    scales.name = name + "#1";
  } else {
    bytes = input("i8", bytes.shape, Content::Bytes);
    scales = input("f32", scales.shape, Content::Positive);
  }
  Tensor weight = input("i8", {this->width(), blocks, info.blockBytes},
                        Content::Blocks, info.attribute);
  Tensor result{fresh(), "f32", {tokens, weight.shape[0]}};
  std::string where;
  if (random.oneIn(3)) {
    Tensor guard = input("i8", {tokens}, Content::Guard);
    where = " where " + guard.name + " : " + type(guard);
  }
  line(result.name + " = gist.quantized_matmul " + bytes.name + ", " +
       scales.name + ", " + weight.name + " format " + info.attribute + where +
       " : " + type(bytes) + ", " + type(scales) + ", " + type(weight) +
       " -> " + type(result));
  rows = result;
  graph.isRounded = graph.isForCpus = true;
}

void GraphWriter::experts() {
  int64_t experts = random.range(1, 5), named = random.range(1, 3);
  int64_t outputs = width(), depth = width();
  Tensor weight;
  if (random.oneIn(3)) {
    const FormatInfo &info = formatInfo(random.oneOf(
        {WeightFormat::Q8_0, WeightFormat::Q4_0, WeightFormat::Q4_1}));
    int64_t blocks = random.range(1, 2);
    depth = info.blockLength * blocks;
    Tensor stored = input("i8", {experts * outputs, blocks, info.blockBytes},
                          Content::Blocks, info.attribute);
    weight = {fresh(), "f32", {experts * outputs, depth}};
    line(weight.name + " = gist.dequantize " + stored.name + " format " +
         info.attribute + " : " + type(stored));
    graph.isRounded = true; // The compiler may multiply in 8 bits.
  } else {
    weight = input(element(), {experts * outputs, depth}, Content::Weight);
  }
  // One row for all that a token names, or a row for each.
  Tensor x = rowsOf(depth * (random.oneIn(2) ? named : 1));
  Tensor names = input("i32", {tokens, named}, Content::Experts);
  graph.inputs.back().numbers = {static_cast<double>(experts)};
  Tensor result{fresh(), "f32", {tokens, named * outputs}};
  line(result.name + " = gist.expert_matmul " + x.name + ", " + weight.name +
       " by " + names.name + " : " + type(x) + ", " + type(weight) + ", " +
       type(names) + " -> " + type(result));
  rows = result;
}

void GraphWriter::gated() {
  int64_t width = std::max<int64_t>(2, this->width());
  int64_t k = random.range(1, std::min<int64_t>(width, 24));
  Tensor x = input("f32", {tokens, width}, Content::Rows);
  std::string of = element();
  Tensor basis = input(of, {width, k}, Content::Basis);
  int64_t count = random.range(1, 2);
  bool hasBias = random.oneIn(3), hasLow = random.oneIn(3);
  std::string lists[4], types[4];
  std::vector<Tensor> results;
  for (int64_t i = 0; i < count; ++i) {
    int64_t outputs = this->width();
    Tensor parts[4] = {input(of, {outputs, width}, Content::Weight),
                       input(of, {outputs, k}, Content::Weight)};
    if (hasBias)
      parts[2] = input("f32", {outputs}, Content::Weight);
    if (hasLow)
      parts[3] = input(of, {outputs, width}, Content::Weight);
    for (int64_t p = 0; p < 4; ++p) {
      if (parts[p].name.empty())
        continue;
      lists[p] += (i == 0 ? "" : ", ") + parts[p].name;
      types[p] += (i == 0 ? "" : ", ") + type(parts[p]);
    }
    results.push_back({"", "f32", {tokens, outputs}});
  }
  double epsilon = random.oneOf({0.0, 0.31, 0.77, 0.93, 5.0});
  if (epsilon != 0)
    epsilon += nudge;
  bool isGraded = hasLow && epsilon > 0.2;
  std::string name = fresh(), level = fresh();
  line(name + ":" + std::to_string(count) + ", " + level +
       " = gist.gated_projection " + x.name + ", " + basis.name + ", " +
       number(epsilon) + " weights(" + lists[0] + " : " + types[0] +
       ") images(" + lists[1] + " : " + types[1] + ")" +
       (hasBias ? " biases(" + lists[2] + " : " + types[2] + ")" : "") +
       (isGraded ? " low " + number(0.17 + nudge) + " (" + lists[3] + " : " +
                       types[3] + ")"
                 : "") +
       " : " + type(x) + ", " + type(basis));
  output({level, "i8", {tokens}});
  for (int64_t i = 0; i < count; ++i)
    results[i].name = name + "#" + std::to_string(i);
  for (int64_t i = 1; i < count; ++i)
    output(results[i]);
  rows = results[0];
}

void GraphWriter::sample() {
  // An input: what is drawn hangs on the last bit of a logit.
  Tensor logits = input("f32", {tokens, random.range(1, 70)}, Content::Rows);
  Tensor settings = input("i64", {tokens, 5}, Content::Settings);
  std::string name = fresh();
  line(name + " = gist.sample " + logits.name + " by " + settings.name + " : " +
       type(logits) + ", " + type(settings));
  output({name, "i32", {tokens}});
}
