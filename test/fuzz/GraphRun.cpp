//===- GraphRun.cpp - Two ways to run a graph -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/GraphRun.h"
#include "passes/Driver/Compile.h"
#include "passes/Driver/Diagnostics.h"
#include "passes/Pipelines.h"
#include "passes/Target/Info/TargetInfo.h"
#include "runtime/session/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"

#include <cstring>
#include <map>

using namespace mlir;
using namespace gist;
using namespace gist::fuzz;

//===----------------------------------------------------------------------===//
// By definition
//===----------------------------------------------------------------------===//

/// Adds `void run(ptr *arguments)`, which calls the entry with them: the number
/// of its arguments differs from graph to graph. All are pointers, but for the
/// number of tokens before the call.
static void addEntry(llvm::Module &module) {
  llvm::Function *callee = module.getFunction("_mlir_ciface_forward");
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy();
  auto *run = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), pointer, false),
      llvm::Function::ExternalLinkage, "run", module);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", run));
  llvm::SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i < callee->arg_size(); ++i)
    arguments.push_back(builder.CreateLoad(
        callee->getArg(i)->getType(),
        builder.CreateConstInBoundsGEP1_64(pointer, run->getArg(0), i)));
  builder.CreateCall(callee, arguments);
  builder.CreateRetVoid();
}

/// What copies of strided memrefs are lowered to: `size` bytes for each
/// element, between descriptors of any rank.
static void copyStrided(int64_t size, const int64_t *from, const int64_t *to) {
  int64_t rank = from[0];
  const auto *source = reinterpret_cast<const int64_t *>(from[1]);
  const auto *target = reinterpret_cast<const int64_t *>(to[1]);
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i)
    count *= source[3 + i];
  for (int64_t n = 0; n < count; ++n) {
    int64_t read = source[2], written = target[2], rest = n;
    for (int64_t i = rank; i-- > 0; rest /= source[3 + i]) {
      read += rest % source[3 + i] * source[3 + rank + i];
      written += rest % source[3 + i] * target[3 + rank + i];
    }
    std::memcpy(reinterpret_cast<char *>(target[1]) + written * size,
                reinterpret_cast<const char *>(source[1]) + read * size,
                static_cast<size_t>(size));
  }
}

/// A memref descriptor in words: two pointers, an offset, sizes and strides.
static std::vector<int64_t> describe(const std::vector<int64_t> &shape,
                                     int64_t tokens, const void *data) {
  auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(data));
  std::vector<int64_t> words{address, address, 0};
  for (int64_t size : shape)
    words.push_back(size < 0 ? tokens : size);
  size_t rank = shape.size();
  words.resize(3 + 2 * rank);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    words[3 + rank + i] = stride;
    stride *= words[3 + i];
  }
  return words;
}

static Status failedJit(llvm::Error error) {
  return Status::error(Code::Unsupported, "reference: %s",
                       llvm::toString(std::move(error)).c_str());
}

/// Registers the code generator of this machine, as the compiler does it.
/// LLVM's own InitializeNativeTarget means the machine that its headers are of,
/// which in a program built for another machine is not this one.
static Status registerHost() {
  std::string text;
  if (failed(resolveTarget(
          {}, [&](const llvm::Twine &error) { text = error.str(); })))
    return Status::error(Code::Unsupported, "reference: %s", text.c_str());
  return {};
}

Status fuzz::runReference(MLIRContext &context, const RandomGraph &graph,
                          Contents inputs, Contents &outputs) {
  compile::Progress progress(compile::ShowProgress::Off);
  // LLVM does not know the attributes of arguments.
  progress.tellWarnings([](const std::string &) {});
  compile::Diagnostics diagnostics(context, progress);
  auto module = parseSourceString<ModuleOp>(graph.text, &context);
  if (!module)
    return diagnostics.takeError("reference");
  auto function = module->lookupSymbol<func::FuncOp>("forward");
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(&context));
  PassManager pm(&context);
  buildReferencePipeline(pm);
  if (failed(pm.run(*module)))
    return diagnostics.takeError("reference");

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*module, *llvmContext);
  if (!code)
    return diagnostics.takeError("reference");
  addEntry(*code);
  GIST_TRY(registerHost());
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return failedJit(machine.takeError());
  // The graphs are small, and most of them run once.
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*machine))
                 .create();
  if (!jit)
    return failedJit(jit.takeError());
  llvm::orc::SymbolMap symbols;
  symbols[(*jit)->mangleAndIntern("memrefCopy")] = {
      llvm::orc::ExecutorAddr::fromPtr(&copyStrided),
      llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = (*jit)->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return failedJit(std::move(error));
  if (llvm::Error error =
          (*jit)->addIRModule({std::move(code), std::move(llvmContext)}))
    return failedJit(std::move(error));
  auto entry = (*jit)->lookup("run");
  if (!entry)
    return failedJit(entry.takeError());

  std::vector<std::vector<int64_t>> descriptors;
  for (size_t i = 0; i < inputs.size(); ++i)
    descriptors.push_back(
        describe(graph.inputs[i].shape, graph.tokens, inputs[i].data()));
  size_t words = 0;
  for (const GraphOutput &output : graph.outputs)
    words += 3 + 2 * output.shape.size();
  for (size_t i : graph.state)
    words += 3 + 2 * graph.inputs[i].shape.size();
  for (int64_t call = 0; call < graph.calls; ++call) {
    std::vector<int64_t> results(words);
    std::vector<void *> arguments{results.data()};
    for (std::vector<int64_t> &each : descriptors)
      arguments.push_back(each.data());
    arguments.push_back(
        reinterpret_cast<void *>(static_cast<intptr_t>(call * graph.tokens)));
    entry->toPtr<void (*)(void **)>()(arguments.data());

    outputs.clear();
    // What the function allocated is not freed: two results can be one memory,
    // and the process ends soon.
    const int64_t *next = results.data();
    auto take = [&](const std::string &element,
                    const std::vector<int64_t> &shape) {
      int64_t size = getElementBytes(element);
      const auto *data =
          reinterpret_cast<const uint8_t *>(next[1]) + next[2] * size;
      next += 3 + 2 * shape.size();
      return std::vector<uint8_t>(
          data, data + countElements(shape, graph.tokens) * size);
    };
    for (const GraphOutput &output : graph.outputs)
      outputs.push_back(take(output.element, output.shape));
    for (size_t i : graph.state) {
      std::vector<uint8_t> left =
          take(graph.inputs[i].element, graph.inputs[i].shape);
      std::memcpy(inputs[i].data(), left.data(), left.size());
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// By the compiler
//===----------------------------------------------------------------------===//

Status fuzz::compileGraph(const compile::Options &options) {
  compile::Progress progress(compile::ShowProgress::Off);
  progress.tellWarnings([](const std::string &) {});
  return compile::compileModel(options, progress);
}

Status fuzz::runModule(const std::string &path, const std::string &kind,
                       const std::string &library, const RandomGraph &graph,
                       const Contents &inputs, Contents &outputs) {
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(path, module));
  std::unique_ptr<Device> device;
  DeviceOptions options;
  options.threads = 2; // Workgroups run beside one another.
  options.library = library;
  GIST_TRY(openDevice(kind, options, device));
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(module, *device, {}, session));
  std::map<std::string, Bytes> given;
  for (size_t i = 0; i < inputs.size(); ++i)
    given[graph.inputs[i].name] = {inputs[i].data(), inputs[i].size()};
  // An input that no result depends on is not one of the module.
  std::map<std::string, Bytes> taken;
  for (const BufferSpec &buffer : module->spec().buffers)
    if (auto found = given.find(buffer.name); found != given.end())
      taken.insert(*found);
  std::map<std::string, std::vector<uint8_t>> made;
  std::map<std::string, int64_t> symbols{{kSymbolTokens, graph.tokens}};
  for (int64_t call = 0; call < graph.calls; ++call) {
    if (!graph.state.empty())
      symbols[kSymbolPast] = call * graph.tokens;
    GIST_TRY(session->call("forward", symbols, taken, made));
  }
  outputs.clear();
  for (const GraphOutput &output : graph.outputs) {
    auto found = made.find(output.name);
    if (found == made.end())
      found = made.find("forward." + output.name);
    if (found == made.end())
      return Status::error(Code::Unsupported, "the module has no output %s",
                           output.name.c_str());
    outputs.push_back(found->second);
  }
  return {};
}
