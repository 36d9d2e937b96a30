//===- RandomGraph.h - Valid graphs at random -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_FUZZ_RANDOMGRAPH_H
#define GIST_TEST_FUZZ_RANDOMGRAPH_H

#include "test/fuzz/Random.h"

#include <string>
#include <vector>

namespace gist::fuzz {

/// What an input of a graph holds. The formats ask for some of it: block scales
/// are finite, offsets ascend.
enum class Content {
  Rows,     ///< activations, perhaps with equal rows, zeros and large numbers
  AnyRows,  ///< the same with NaN and infinities, for selections alone
  Weight,   ///< small numbers
  Basis,    ///< orthonormal columns
  Mask,     ///< zeros and -infinity
  Taus,     ///< thresholds, in range or not
  Offsets,  ///< where sequences start
  Guard,    ///< 0 or not
  Settings, ///< of gist.sample
  Bytes,    ///< 8-bit numbers
  Positive, ///< scales
  Blocks,   ///< of the block format `format`
  Experts,  ///< whole numbers below the first of `numbers`
  Given,    ///< `numbers`
  State,    ///< zeros at first, then what the call before has left
};

/// -1 in a shape is the number of tokens.
struct GraphInput {
  std::string name, element;
  std::vector<int64_t> shape;
  Content content;
  std::string format;
  std::vector<double> numbers;
};

struct GraphOutput {
  std::string name, element;
  std::vector<int64_t> shape;
};

/// A graph and everything that is needed to run it.
struct RandomGraph {
  std::string text; ///< one function, @forward
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  int64_t tokens = 1;
  /// How often it is called; with state each call has `tokens` more before it.
  int64_t calls = 1;
  /// Its last results are these inputs after the call. The number of tokens
  /// before it comes after all inputs.
  std::vector<size_t> state;
  /// It has ops that only CPUs have kernels for.
  bool isForCpus = false;
  /// Products of rows that are rounded to 8 bits, which graphs ask for.
  bool isRounded = false;
};

/// The graph of this seed, the same on every machine. One layer of `largeOf`
/// is one that becomes much code. `nudge` is added to the thresholds: an
/// outcome that changes with it hangs on a rounding.
RandomGraph writeRandomGraph(uint64_t seed, uint64_t largeOf, double nudge = 0);

/// The bytes of an input of a graph of `tokens` tokens.
std::vector<uint8_t> makeInput(const GraphInput &input, int64_t tokens,
                               Random &random);

/// Elements of a tensor of this shape.
int64_t countElements(const std::vector<int64_t> &shape, int64_t tokens);

/// Bytes of one element.
int64_t getElementBytes(const std::string &element);

/// The numbers that `bytes` of f32, f16, bf16, i8, i32 or i64 stand for.
std::vector<double> readNumbers(const std::string &element,
                                const std::vector<uint8_t> &bytes);

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_RANDOMGRAPH_H
