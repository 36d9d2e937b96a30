//===- ModuleWriter.h - Writes a module file --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ModuleWriter writer;
//   writer.spec.symbols = {...};
//   uint32_t w = writer.addWeight("tok_embd", "q8_0", {49152, 576}, bytes);
//   writer.spec.buffers.push_back({.kind = BufferKind::Weight, .base = w,
//   ...}); writer.addTarget({.name = "cpu", ...}, std::move(sharedObject));
//   ...
//   GIST_TRY(writer.write("model.gist"));
//
// The same content gives the same bytes. The file appears whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_MODULEWRITER_H
#define GIST_RUNTIME_MODULE_MODULEWRITER_H

#include "runtime/module/RankSpec.h"
#include "runtime/support/Bytes.h"

#include <functional>
#include <string>
#include <vector>

namespace gist {

/// Takes the next bytes of a weight; they may be reused after the call.
using ByteSink = std::function<Status(Bytes)>;
/// Hands a weight's bytes to the sink, front to back, in as many pieces as it
/// likes. Called by ModuleWriter::write once, and before by leaveIn().
using WeightProducer = std::function<Status(const ByteSink &)>;

class Module;

class ModuleWriter {
public:
  /// The metadata. The caller fills everything but `weights` and `targets`,
  /// which the functions below append to.
  ModuleSpec spec;
  RankSpec ranks;

  /// Adds an embedded weight and returns its index. `data` is not copied and
  /// must stay alive until write().
  uint32_t addWeight(std::string name, std::string format,
                     std::vector<int64_t> shape, Bytes data);

  /// The same for a weight that is made (packed) while it is written, so that
  /// only pieces of it are in memory. The producer must yield `size` bytes.
  uint32_t addWeight(std::string name, std::string format,
                     std::vector<int64_t> shape, uint64_t size,
                     WeightProducer producer);

  /// Says that the bytes of `part` are those of `whole` from `offset` on, which
  /// is a multiple of kWeightAlignment: they are in the file once. Both are
  /// embedded weights, and `whole` lies in no other.
  void placeInside(uint32_t part, uint32_t whole, uint64_t offset);

  /// A weight that stays in `file` (path relative to the module's folder).
  /// `data` is its content there, used for the hash.
  uint32_t addExternalWeight(std::string name, std::string format,
                             std::vector<int64_t> shape, std::string file,
                             uint64_t offset, Bytes data);

  /// Leaves embedded weights whose bytes `other` has too, under the same name,
  /// in the file of that module (path relative to this module's folder). A
  /// weight that others lie in stays. Producers may be called once more.
  Status leaveIn(const Module &other, const std::string &file);

  /// A weight of numbers that are made up when the module is loaded; `format`
  /// is one that randomWidth() knows.
  uint32_t addRandomWeight(std::string name, std::string format,
                           std::vector<int64_t> shape, uint64_t size,
                           RandomNumbers numbers);

  /// Adds a target with its code and returns its index.
  uint32_t addTarget(TargetSpec target, std::string code);

  /// The tokenizer's description, chat template included.
  void setTokenizer(std::string content) { tokenizer = std::move(content); }
  /// The plan that the module follows, as its file says it (JSON); kept for
  /// people and gist-run info.
  void setPlan(std::string json) { plan = std::move(json); }

  /// Verifies the spec and writes the module. On error nothing is left behind
  /// and an existing file at `path` is untouched.
  Status write(const std::string &path);

private:
  /// Where the bytes of a weight are if they are not its own.
  struct Inside {
    uint32_t whole = kNone; ///< index of the weight that has them
    uint64_t offset = 0;    ///< bytes from its beginning
  };

  bool isStored(size_t weight) const {
    return producers[weight] && places[weight].whole == kNone;
  }

  std::vector<WeightProducer> producers; ///< parallel to spec.weights
  std::vector<Inside> places;            ///< parallel to spec.weights
  std::vector<std::string> code;         ///< parallel to spec.targets
  std::string tokenizer, plan;
};

} // namespace gist

#endif // GIST_RUNTIME_MODULE_MODULEWRITER_H
