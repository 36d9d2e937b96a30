//===- RandomGraph.cpp - Valid graphs at random ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/GraphWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace gist;
using namespace gist::fuzz;

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
  // A result that is an argument is state, not an output.
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
