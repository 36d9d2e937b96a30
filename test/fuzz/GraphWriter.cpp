//===- GraphWriter.cpp - What all layers of a random graph need -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/GraphWriter.h"

#include <algorithm>
#include <cstdio>

using namespace gist;
using namespace gist::fuzz;

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
