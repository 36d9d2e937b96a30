//===- GraphWriter.h - Writes the text of a random graph --------*- C++ -*-===//
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

#ifndef GIST_TEST_FUZZ_GRAPHWRITER_H
#define GIST_TEST_FUZZ_GRAPHWRITER_H

#include "test/fuzz/RandomGraph.h"

namespace gist::fuzz {

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
  /// Rows of this width: existing ones, or a product of them.
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

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_GRAPHWRITER_H
