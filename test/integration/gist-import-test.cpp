//===- gist-import-test.cpp - Prints what import makes of a model ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: the graph goes to stdout, the weights under the names of the graph
// into a safetensors file (raw blocks as I8).
//
//===----------------------------------------------------------------------===//

#include "passes/Import/ImportModel.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include "nlohmann/json.hpp"

#include <fstream>

using namespace gist;
namespace cl = llvm::cl;

static cl::opt<std::string> modelPath(cl::Positional, cl::Required,
                                      cl::desc("<GGUF file or folder>"));
static cl::opt<std::string> weightsPath("weights",
                                        cl::desc("Write the weights here"));
static cl::opt<bool> expandWeights("expand-weights",
                                   cl::desc("Expand weights to f32"));
static cl::opt<bool> everyToken("every-token",
                                cl::desc("Logits of every token"));
static cl::opt<bool> halfCache("half-cache", cl::desc("Cache in f16"));
static cl::opt<bool> int8Cache("int8-cache", cl::desc("Cache in int8"));
static cl::opt<int64_t> contextLength("context", cl::desc("Capacity, tokens"));
static cl::opt<std::string> lora("lora", cl::desc("Adapter to merge"));
static cl::opt<float> loraScale("lora-scale", cl::init(1),
                                cl::desc("How much of it"));
static cl::list<std::string> chosen("adapter",
                                    cl::desc("Adapter that tokens choose"));
static cl::opt<bool> info("info", cl::desc("Print the model's facts instead"));

static nlohmann::json describe(const Weight &weight, uint64_t offset) {
  const FormatInfo &format = formatInfo(weight.format);
  std::vector<int64_t> shape = weight.shape;
  if (format.isQuantized()) {
    shape.back() /= format.blockLength;
    shape.push_back(format.blockBytes);
  }
  return {{"dtype", format.isQuantized() ? "I8" : format.name},
          {"shape", shape},
          {"data_offsets", {offset, offset + weight.content.size}}};
}

static bool writeWeights(const WeightMap &weights, const std::string &path) {
  nlohmann::json header;
  uint64_t offset = 0;
  for (const auto &[name, weight] : weights.entries) {
    header[name] = describe(weight, offset);
    offset += weight.content.size;
  }
  std::string text = header.dump();
  uint64_t length = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(&length), sizeof(length)) << text;
  for (const auto &[name, weight] : weights.entries)
    out.write(reinterpret_cast<const char *>(weight.content.data),
              static_cast<std::streamsize>(weight.content.size));
  out.close();
  return out.good();
}

static void printInfo(const ImportedModel &model) {
  static const char *const outputs[] = {"logits", "hidden states",
                                        "sentence embedding"};
  llvm::outs() << "architecture: " << model.architecture << "\n"
               << "output: " << outputs[static_cast<int>(model.output)] << "\n"
               << "vocabulary: " << model.config.vocabSize << "\n"
               << "capacity: " << model.config.capacity << "\n";
  if (model.tokenizer)
    llvm::outs() << "tokenizer: " << model.tokenizer->vocab.size()
                 << " tokens\n";
  else
    llvm::outs() << "tokenizer: none, " << model.noTokenizerBecause << "\n";
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "imports a model, for tests\n");
  ImportOptions options;
  options.expandWeights = expandWeights;
  options.logitsOfEveryToken = everyToken;
  options.cacheType = int8Cache   ? CacheType::Int8
                      : halfCache ? CacheType::F16
                                  : CacheType::F32;
  options.contextLength = contextLength;
  options.adapter = lora;
  options.adapterScale = loraScale;
  options.chosenAdapters.assign(chosen.begin(), chosen.end());
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightMap weights;
  ImportedModel model;
  Status status =
      importModel(modelPath, options, context, module, weights, model);
  if (!status.ok()) {
    llvm::errs() << "gist-import-test: error: " << status.text << "\n";
    return 1;
  }
  if (!weightsPath.empty() && !writeWeights(weights, weightsPath)) {
    llvm::errs() << "gist-import-test: error: cannot write " << weightsPath
                 << "\n";
    return 1;
  }
  if (info)
    printInfo(model);
  else
    module->print(llvm::outs());
  return 0;
}
