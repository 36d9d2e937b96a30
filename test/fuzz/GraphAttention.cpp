//===- GraphAttention.cpp - Attention, selections and caches --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/GraphWriter.h"

#include <algorithm>

using namespace gist;
using namespace gist::fuzz;

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
    text = "taus(" + taus.name + " : " + type(taus) + ")";
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
