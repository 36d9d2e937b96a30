//===- RandomGraph.cpp - Valid graphs that nobody would write -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is a chain of rows, T x d in f32, on which layers of random kinds
// work, each with shapes of its own. What a layer gives besides rows is an
// output of the graph. Text and not ops are built, so that the parser is part
// of what is tested and a finding can be looked at.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/RandomGraph.h"
#include "runtime/format/BlockFormats.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdio>

using namespace gist;
using namespace gist::fuzz;

namespace {
struct Tensor {
  std::string name, element;
  std::vector<int64_t> shape;

  int64_t width() const { return shape.back(); }
};

struct Selection {
  std::string name, type;
  bool isCausal, hasOffsets;
};

class GraphWriter {
public:
  GraphWriter(uint64_t seed, int64_t largeOf, double nudge)
      : random(seed), largeOf(largeOf), nudge(nudge) {}

  RandomGraph write();

private:
  // Text.
  std::string fresh() { return "%" + std::to_string(values++); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string type(const std::string &element,
                   const std::vector<int64_t> &shape) const;
  std::string type(const Tensor &tensor) const {
    return type(tensor.element, tensor.shape);
  }
  static std::string number(double value);
  Tensor input(const std::string &element, std::vector<int64_t> shape,
               Content content, const std::string &format = "");
  void output(const Tensor &tensor);
  std::string empty(const std::string &element,
                    const std::vector<int64_t> &shape);
  std::string zeros(const std::vector<int64_t> &shape);

  // Building blocks.
  Tensor generic(const std::vector<std::pair<Tensor, std::string>> &operands,
                 const std::string &element, const std::vector<int64_t> &shape,
                 const std::vector<std::string> &lines);
  Tensor convert(const Tensor &x, const std::string &element);
  Tensor matmul(const Tensor &x, const Tensor &weight);
  Tensor toHeads(const Tensor &x, int64_t heads);
  Tensor toRows(const Tensor &x);
  /// Rows of this width: those that there are, or a product of them.
  Tensor rowsOf(int64_t width);
  std::string element() {
    return random.oneOf<const char *>({"f32", "f32", "f16", "bf16"});
  }
  int64_t width() {
    return random.oneOf<int64_t>(
        {1, 2, 3, 7, 8, 10, 16, 20, 24, 32, 33, 48, 64, 65, 96});
  }
  /// Most are of a size that every target has kernels for.
  int64_t headSize() {
    return random.oneIn(12)
               ? random.oneOf<int64_t>({1, 3, 4, 10, 12, 20, 24, 40, 48, 65})
               : random.oneOf<int64_t>({16, 32, 64});
  }
  double tau() {
    return random.oneOf({0.11, 0.29, 0.43, 0.61, 0.83, 0.97}) + nudge;
  }
  std::string offsets();

  // Layers.
  void linear();
  void blocks();
  void elementwise();
  void norm();
  void attention();
  void attend();
  void clusters();
  void gated();
  void guarded();
  void quantized();
  void experts();
  void sample();
  void selectAlone();
  Selection select(const Tensor &rows, bool causal);
  Selection cascade(const Tensor &rows, const Selection &inherited);
  void unpack(const Selection &selection, int64_t heads);

  Random random;
  int64_t largeOf;
  double nudge;
  RandomGraph graph;
  std::vector<Tensor> outputs; ///< the values of graph.outputs
  std::vector<Tensor> kept;    ///< the values of graph.state after the call
  std::string body;
  int64_t values = 0;
  int64_t tokens = -1; ///< -1 in shapes, or a number
  Tensor rows;         ///< what the next layer works on
  std::string offsetsName, offsetsType;
};
} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string GraphWriter::type(const std::string &element,
                              const std::vector<int64_t> &shape) const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

std::string GraphWriter::number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9e", value);
  return text;
}

Tensor GraphWriter::input(const std::string &element,
                          std::vector<int64_t> shape, Content content,
                          const std::string &format) {
  std::string name = "a" + std::to_string(graph.inputs.size());
  graph.inputs.push_back({name, element, shape, content, format, {}});
  return {"%" + name, element, std::move(shape)};
}

void GraphWriter::output(const Tensor &tensor) {
  std::string name = "y" + std::to_string(graph.outputs.size());
  graph.outputs.push_back({name, tensor.element, tensor.shape});
  outputs.push_back(tensor);
}

std::string GraphWriter::empty(const std::string &element,
                               const std::vector<int64_t> &shape) {
  std::string name = fresh();
  bool isDynamic = std::count(shape.begin(), shape.end(), -1) > 0;
  line(name + " = tensor.empty(" + (isDynamic ? "%t" : "") +
       ") : " + type(element, shape));
  return name;
}

std::string GraphWriter::zeros(const std::vector<int64_t> &shape) {
  std::string start = empty("f32", shape), name = fresh();
  line(name + " = linalg.fill ins(%zero : f32) outs(" + start + " : " +
       type("f32", shape) + ") -> " + type("f32", shape));
  return name;
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

/// One op on every element. An operand comes with its dimensions, "t, n" or
/// "n"; `lines` compute %r of %x0, %x1, … which are f32 by then.
Tensor GraphWriter::generic(
    const std::vector<std::pair<Tensor, std::string>> &operands,
    const std::string &element, const std::vector<int64_t> &shape,
    const std::vector<std::string> &lines) {
  bool isCube = shape.size() == 3;
  std::string dims = isCube ? "t, h, n" : "t, n";
  std::string maps, names, types, arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto &[tensor, own] = operands[i];
    std::string comma = i == 0 ? "" : ", ";
    maps += "affine_map<(" + dims + ") -> (" + own + ")>, ";
    names += comma + tensor.name;
    types += comma + type(tensor);
    arguments += "%i" + std::to_string(i) + ": " + tensor.element + ", ";
  }
  std::string start = empty(element, shape), name = fresh();
  std::string loops = isCube ? "\"parallel\", \"parallel\", \"parallel\""
                             : "\"parallel\", \"parallel\"";
  line(name + " = linalg.generic {indexing_maps = [" + maps + "affine_map<(" +
       dims + ") -> (" + dims + ")>], iterator_types = [" + loops + "]} ins(" +
       names + " : " + types + ") outs(" + start + " : " +
       type(element, shape) + ") {");
  line("^bb0(" + arguments + "%o: " + element + "):");
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string at = std::to_string(i), from = operands[i].first.element;
    if (from == "f32")
      line("  %x" + at + " = arith.addf %i" + at + ", %zero : f32");
    else
      line("  %x" + at + " = arith.extf %i" + at + " : " + from + " to f32");
  }
  for (const std::string &each : lines)
    line("  " + each);
  if (element == "f32") {
    line("  linalg.yield %r : f32");
  } else {
    line("  %n = arith.truncf %r : f32 to " + element);
    line("  linalg.yield %n : " + element);
  }
  line("} -> " + type(element, shape));
  return {name, element, shape};
}

Tensor GraphWriter::convert(const Tensor &x, const std::string &element) {
  if (x.element == element)
    return x;
  return generic({{x, x.shape.size() == 3 ? "t, h, n" : "t, n"}}, element,
                 x.shape, {"%r = arith.addf %x0, %zero : f32"});
}

Tensor GraphWriter::matmul(const Tensor &x, const Tensor &weight) {
  Tensor result{"", "f32", {x.shape[0], weight.shape[0]}};
  std::string start = zeros(result.shape);
  result.name = fresh();
  line(result.name +
       " = linalg.matmul indexing_maps = [affine_map<(t, n, k) -> (t, k)>, "
       "affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>] "
       "ins(" +
       x.name + ", " + weight.name + " : " + type(x) + ", " + type(weight) +
       ") outs(" + start + " : " + type(result) + ") -> " + type(result));
  return result;
}

Tensor GraphWriter::toHeads(const Tensor &x, int64_t heads) {
  Tensor result{fresh(), x.element, {x.shape[0], heads, x.width() / heads}};
  line(result.name + " = tensor.expand_shape " + x.name +
       " [[0], [1, 2]] output_shape [" +
       (tokens < 0 ? "%t" : std::to_string(tokens)) + ", " +
       std::to_string(heads) + ", " + std::to_string(result.width()) +
       "] : " + type(x) + " into " + type(result));
  return result;
}

Tensor GraphWriter::toRows(const Tensor &x) {
  Tensor result{fresh(), x.element, {x.shape[0], x.shape[1] * x.shape[2]}};
  line(result.name + " = tensor.collapse_shape " + x.name +
       " [[0], [1, 2]] : " + type(x) + " into " + type(result));
  return result;
}

Tensor GraphWriter::rowsOf(int64_t width) {
  if (rows.width() == width && random.oneIn(2))
    return rows;
  if (random.oneIn(3))
    return input("f32", {tokens, width}, Content::Rows);
  return matmul(rows, input(element(), {width, rows.width()}, Content::Weight));
}

/// Where sequences start: the same for all ops of a graph, as in a batch.
std::string GraphWriter::offsets() {
  if (offsetsName.empty()) {
    Tensor made = input("i32", {random.range(2, 5)}, Content::Offsets);
    offsetsName = made.name;
    offsetsType = type(made);
  }
  return offsetsName;
}

//===----------------------------------------------------------------------===//
// Layers of products and elements
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Attention and selections
//===----------------------------------------------------------------------===//

void GraphWriter::attention() {
  int64_t kvHeads = random.range(1, 3), group = random.range(1, 3);
  int64_t size = headSize(), valueSize = random.oneIn(3) ? headSize() : size;
  std::string of = element();
  auto make = [&](int64_t heads, int64_t width) {
    return convert(toHeads(rowsOf(heads * width), heads), of);
  };
  Tensor q = make(kvHeads * group, size), k = make(kvHeads, size),
         v = make(kvHeads, valueSize);
  bool isCausal = random.oneIn(2);
  std::string text;
  // Of an argument only the first size is the number of tokens.
  if (random.oneIn(5) && tokens > 0) {
    Tensor mask = input("f32", {tokens, tokens}, Content::Mask);
    text += " mask(" + mask.name + " : " + type(mask) + ")";
  }
  if (isCausal)
    text += " causal";
  if (random.oneIn(3))
    text += " scale " + number(random.oneOf({0.125, 0.3, 1.0}));
  if (isCausal && random.oneIn(2)) {
    text += " window " + std::to_string(random.range(1, 9));
    if (random.oneIn(2))
      text += " sinks " + std::to_string(random.range(0, 3));
  }
  if (random.oneIn(60)) { // No target has a kernel for it yet.
    std::string name = offsets();
    text += " offsets(" + name + ", " + name + " : " + offsetsType + ", " +
            offsetsType + ")";
  }
  Tensor result{fresh(), of, {tokens, kvHeads * group, valueSize}};
  line(result.name + " = gist.attention " + q.name + ", " + k.name + ", " +
       v.name + text + " : " + type(q) + ", " + type(k) + ", " + type(v));
  rows = convert(toRows(result), "f32");
}

Selection GraphWriter::select(const Tensor &on, bool causal) {
  bool hasHeads = on.shape.size() == 3;
  int64_t heads = hasHeads ? on.shape[1] : 1;
  std::string text = number(random.oneIn(40) ? 0.0 : tau());
  if (random.oneIn(5)) {
    Tensor taus = input("f32", {heads}, Content::Taus);
    text += " taus(" + taus.name + " : " + type(taus) + ")";
  }
  if (random.oneIn(4))
    text += " against all";
  if (random.oneIn(2))
    text += " similarity signed";
  if (causal)
    text += " causal";
  bool hasOffsets = random.oneIn(12);
  if (hasOffsets) {
    std::string name = offsets();
    text += " offsets(" + name + " : " + offsetsType + ")";
  }
  Selection result{fresh(),
                   std::string("!gist.selection<") +
                       (hasHeads ? std::to_string(heads) + "x" : "") +
                       (tokens < 0 ? "?" : std::to_string(tokens)) + ">",
                   causal, hasOffsets};
  line(result.name + " = gist.gram_select " + on.name + ", " + text + " : " +
       type(on));
  return result;
}

Selection GraphWriter::cascade(const Tensor &on, const Selection &inherited) {
  std::string text = number(random.oneIn(40) ? 0.0 : tau());
  const char *rule =
      random.oneOf<const char *>({"covering", "covering", "paper", "inherit"});
  text += std::string(" rule ") + rule;
  if (random.oneIn(2))
    text += " similarity signed";
  bool isCausal = inherited.isCausal && std::string(rule) != "paper";
  if (isCausal)
    text += " causal";
  // Sequences of a selection stay what they are.
  if (inherited.hasOffsets)
    text += " offsets(" + offsetsName + " : " + offsetsType + ")";
  std::string name = fresh(), removed = fresh(), added = fresh();
  line(name + ", " + removed + ", " + added + " = gist.cascade_update " +
       on.name + ", " + inherited.name + ", " + text + " : " + type(on) + ", " +
       inherited.type);
  std::vector<int64_t> shape;
  if (on.shape.size() == 3)
    shape.push_back(on.shape[1]);
  // Nothing changes by inheriting: both are constants, which no graph returns.
  if (std::string(rule) != "inherit") {
    output({removed, "i32", shape});
    output({added, "i32", shape});
  }
  return {name, inherited.type, isCausal, inherited.hasOffsets};
}

void GraphWriter::unpack(const Selection &selection, int64_t heads) {
  std::string name = fresh();
  line(name + ":4 = gist.unpack_selection " + selection.name + " : " +
       selection.type);
  std::vector<int64_t> shape{tokens}, count;
  if (heads > 0) {
    shape = {heads, tokens};
    count = {heads};
  }
  output({name + "#0", "i32", shape});
  output({name + "#1", "i32", count});
  output({name + "#2", "i32", shape});
  output({name + "#3", "i32", shape});
}

/// On rows that nothing else reads, which may have no direction at all.
void GraphWriter::selectAlone() {
  bool hasHeads = random.oneIn(2);
  std::vector<int64_t> shape{tokens, headSize()};
  if (hasHeads)
    shape = {tokens, random.range(1, 3), headSize()};
  std::string of = element();
  Tensor on = input(of, shape, Content::AnyRows);
  Selection selection = select(on, random.oneIn(2));
  int64_t heads = hasHeads ? shape[1] : 0;
  if (random.oneIn(2)) {
    Tensor next = random.oneIn(2) ? on : input(of, shape, Content::AnyRows);
    selection = cascade(next, selection);
  }
  unpack(selection, heads);
}

void GraphWriter::attend() {
  int64_t kvHeads = random.range(1, 3), group = random.range(1, 3);
  int64_t size = headSize(), valueSize = random.oneIn(3) ? headSize() : size;
  std::string of = element();
  // Rows of the graph's inputs: cosines of computed rows are rounded, and what
  // they decide would hang on that.
  auto make = [&](int64_t heads, int64_t width) {
    return input(of, {tokens, heads, width}, Content::Rows);
  };
  Tensor q = make(kvHeads * group, size), k = make(kvHeads, size),
         v = make(kvHeads, valueSize);
  bool isCausal = random.oneIn(2), perHead = random.oneIn(2);
  Tensor on =
      perHead ? k : input(element(), {tokens, headSize()}, Content::Rows);
  Selection selection = select(on, isCausal);
  if (random.oneIn(3))
    selection = cascade(on, selection);
  std::string text;
  if (random.oneIn(2)) {
    text = std::string(" mode copy") + (random.oneIn(2) ? " log_count" : "");
    if (isCausal)
      text += " causal";
  } else {
    text = " mode keys";
    if (isCausal)
      text += " causal window " + std::to_string(random.range(0, 9)) +
              " block " + std::to_string(random.range(1, 9));
    if (random.oneIn(2))
      text += " merge representative";
  }
  // Sequences of the selection and of attention are the same.
  if (selection.hasOffsets)
    text += " offsets(" + offsetsName + " : " + offsetsType + ")";
  Tensor result{fresh(), of, {tokens, kvHeads * group, valueSize}};
  line(result.name + " = gist.attend " + q.name + ", " + k.name + ", " +
       v.name + " on " + selection.name + text + " : " + type(q) + ", " +
       type(k) + ", " + type(v) + ", " + selection.type);
  if (random.oneIn(3))
    unpack(selection, perHead ? kvHeads : 0);
  rows = convert(toRows(result), "f32");
}

//===----------------------------------------------------------------------===//
// A cache of clusters
//===----------------------------------------------------------------------===//

/// Tokens of each kind of head that a cache has: dense, in clusters with room
/// or without, drawn at random, and after sinks.
void GraphWriter::clusters() {
  // One cache for a graph, which is called twice: the second call begins with
  // tokens that leave the windows.
  if (!graph.state.empty())
    return;
  int64_t layers = random.range(1, 2), kvHeads = random.range(1, 3),
          group = random.range(1, 3), size = headSize();
  int64_t block = graph.tokens, context = 2 * block;
  std::string of = random.oneOf<const char *>({"f32", "f16"});
  std::vector<double> table;
  int64_t numRows = 0, numUnits = 0;
  for (int64_t head = 0; head < layers * kvHeads; ++head) {
    bool isDense = random.oneIn(4), hasSinks = !isDense && random.oneIn(4);
    int64_t window = isDense ? -1 : random.range(0, block);
    int64_t room = isDense ? 0 : random.range(1, block);
    int64_t ring = isDense ? context : window + block;
    double theta = random.oneOf({0.47, 0.83, 2.3}) + nudge;
    for (int64_t field : {numRows, ring, numRows + ring, numUnits, room, window,
                          hasSinks ? room : -1})
      table.push_back(static_cast<double>(field));
    table.push_back(theta);
    numRows += ring + room;
    numUnits += room;
  }
  numUnits = std::max<int64_t>(numUnits, 1);
  Tensor heads = input("f32", {layers, kvHeads, 8}, Content::Given);
  graph.inputs.back().numbers = std::move(table);
  std::vector<Tensor> state;
  auto keep = [&](const std::string &element, std::vector<int64_t> shape) {
    graph.state.push_back(graph.inputs.size());
    state.push_back(input(element, std::move(shape), Content::State));
  };
  keep(of, {numRows, size});
  keep(of, {numRows, size});
  keep(of, {numUnits, size});
  keep("f32", {numUnits});
  keep("i32", {layers, kvHeads});
  graph.calls = 2;
  for (int64_t layer = 0; layer < layers; ++layer) {
    // What leaves hangs on cosines, so keys are not computed.
    Tensor q = convert(toHeads(rowsOf(kvHeads * group * size), kvHeads * group),
                       of),
           k = input(of, {tokens, kvHeads, size}, Content::Rows),
           v = input(of, {tokens, kvHeads, size}, Content::Rows);
    std::string where = "%layer" + std::to_string(layer), name = fresh();
    line(where + " = arith.constant " + std::to_string(layer) + " : index");
    auto list = [&](std::initializer_list<size_t> which, bool types) {
      std::string text;
      for (size_t i : which)
        text += (text.empty() ? "" : ", ") +
                (types ? type(state[i]) : state[i].name);
      return text;
    };
    std::string at = heads.name + ", %past, " + where;
    std::string blocks = " block " + std::to_string(block);
    line(name + ":5 = gist.cluster_update " + k.name + ", " + v.name + ", " +
         at + " into(" + list({0, 1, 2, 3, 4}, false) + ")" + blocks + " : " +
         type(k) + ", " + type(v) + ", " + type(heads) + ", " +
         list({0, 1, 2, 3, 4}, true));
    for (size_t i = 0; i < state.size(); ++i)
      state[i].name = name + "#" + std::to_string(i);
    Tensor result{fresh(), of, q.shape};
    line(result.name + " = gist.cluster_attention " + q.name + ", " + at +
         " on(" + list({0, 1, 3, 4}, false) + ")" + blocks +
         (random.oneIn(3) ? " scale " + number(0.3) : "") + " : " + type(q) +
         ", " + type(heads) + ", " + list({0, 1, 3, 4}, true));
    rows = convert(toRows(result), "f32");
  }
  kept = std::move(state);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

RandomGraph GraphWriter::write() {
  graph.tokens = random.oneOf<int64_t>(
      {1, 1, 2, 3, 5, 8, 9, 16, 17, 31, random.range(1, 40)});
  // What a single token selects is a constant.
  tokens = random.oneIn(3) && graph.tokens > 1 ? graph.tokens : -1;
  rows = input("f32", {tokens, width()}, Content::Rows);
  // Ops that the graph stage writes for CPUs, and that GPUs have no kernels
  // for.
  bool isForCpus = random.oneIn(largeOf + 2);
  // Small graphs are the cheapest to have many of, and so are small layers:
  // attention and selections become a hundred times as much code as the others.
  using Layer = void (GraphWriter::*)();
  int64_t layers = random.oneOf<int64_t>({1, 1, 1, 1, 1, 2, 3});
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer = random.oneOf<Layer>(
        {&GraphWriter::linear, &GraphWriter::blocks, &GraphWriter::elementwise,
         &GraphWriter::norm, &GraphWriter::sample});
    if (random.oneIn(largeOf))
      layer =
          random.oneOf<Layer>({&GraphWriter::attention, &GraphWriter::attend,
                               &GraphWriter::gated, &GraphWriter::selectAlone,
                               &GraphWriter::clusters, &GraphWriter::experts});
    if (isForCpus && random.oneIn(2))
      layer =
          random.oneOf<Layer>({&GraphWriter::guarded, &GraphWriter::quantized});
    (this->*layer)();
  }
  // A result that is an argument is state, which is no output.
  bool isInput = llvm::any_of(graph.inputs, [&](const GraphInput &each) {
    return rows.name == "%" + each.name;
  });
  output(isInput ? generic({{rows, "t, n"}}, "f32", rows.shape,
                           {"%r = arith.maximumf %x0, %zero : f32"})
                 : rows);

  std::string arguments, results, types, names;
  for (const GraphInput &each : graph.inputs)
    arguments += (arguments.empty() ? "%" : ", %") + each.name + ": " +
                 type(each.element, each.shape) + " {gist.name = \"" +
                 each.name + "\"}";
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string comma = i == 0 ? "" : ", ";
    results += comma + type(outputs[i]) + " {gist.name = \"" +
               graph.outputs[i].name + "\"}";
    names += comma + outputs[i].name;
    types += comma + type(outputs[i]);
  }
  if (!kept.empty())
    arguments += ", %past: index";
  for (const Tensor &each : kept) {
    results += ", " + type(each);
    names += ", " + each.name;
    types += ", " + type(each);
  }
  graph.text = "func.func @forward(" + arguments + ") -> (" + results +
               ") {\n  %zero = arith.constant 0.0 : f32\n"
               "  %one = arith.constant 1.0 : f32\n"
               "  %small = arith.constant 1.0e-5 : f32\n"
               "  %c0 = arith.constant 0 : index\n"
               "  %t = tensor.dim %a0, %c0 : " +
               type(graph.inputs[0].element, graph.inputs[0].shape) + "\n" +
               body + "  return " + names + " : " + types + "\n}\n";
  return std::move(graph);
}

RandomGraph fuzz::writeRandomGraph(uint64_t seed, uint64_t largeOf,
                                   double nudge) {
  return GraphWriter(seed, static_cast<int64_t>(largeOf), nudge).write();
}
