//===- TinyModel.h - A model small enough to check by hand ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_UNIT_TINYMODEL_H
#define GIST_TEST_UNIT_TINYMODEL_H

#include "runtime/module/ModuleWriter.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gist::test {

/// A module with a cache, made of TinyKernels.c, and what it must compute.
class TinyModel {
public:
  /// Not a multiple of the 16 logits of a workgroup, so that the last one is
  /// cut.
  static constexpr int64_t kVocab = 261; ///< bytes, then special tokens
  static constexpr int64_t kWidth = 9;
  static constexpr int64_t kMaxTokens = 24; ///< of one call
  static constexpr int64_t kContext = 40;   ///< unless a session says more
  static constexpr int64_t kMaxContext = 4096;
  static constexpr int32_t kEnd = 256; ///< token that ends a text

  /// Fills `writer` with the module; tests may change it before writing. The
  /// seed makes the weights. With `scaled`, the code is another library with
  /// the same symbols that gives twice the logits.
  explicit TinyModel(uint32_t seed = 7, bool scaled = false);

  /// Lets entries "draw" a token on the device: the random number of their
  /// settings itself, modulo the vocabulary.
  /// Its kernel has code for the CPU alone.
  void addSampling();

  /// Adds code for a GPU: the same kernels under the same symbols.
  void addGpu(const std::string &name, const std::string &device,
              CodeFormat format, std::string code);

  /// Makes the module one for two ranks, each with CPU code and entries of its
  /// own. Before the logits they add up their rows and put what each has beside
  /// the other's. What a rank has is not changed for that: such a module is
  /// right to read and to bind, not to run.
  void addRanks();

  /// Logits after the last of these tokens.
  std::vector<float> logitsAfter(std::span<const int32_t> tokens) const;
  /// The mean of the tokens' embeddings.
  std::vector<float> embedding(std::span<const int32_t> tokens) const;

  /// Writes the module and returns the path it was given.
  std::string write(const std::string &path);

  ModuleWriter writer;

private:
  void addBuffers();
  void addKernels();
  void addEntries();

  /// Row-major, kVocab rows of kWidth. The writer has a view of it, so a copy
  /// of a model must not outlive the model that it was made from.
  std::vector<float> embeddings;
  /// Expressions that buffers and commands share.
  ExprId symbolT = 0, symbolP = 0, width = 0, vocab = 0;
};

/// A folder that is removed with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Names of what is in it.
  std::vector<std::string> list() const;

  std::string path;
};

/// The whole content of a file; fails the test when it cannot be read.
std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &content);

} // namespace gist::test

#endif // GIST_TEST_UNIT_TINYMODEL_H
