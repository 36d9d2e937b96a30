//===- LinkObject.cpp - Shared objects out of object files ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links with lld as a library: compiling a model needs no tools on the machine.
// The output must not depend on the time or on paths, so that equal models give
// equal modules.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/LinkObject.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace gist;
using Report = llvm::function_ref<void(const llvm::Twine &)>;

/// The first undefined symbol of `object` that kernels must not use, or
/// nothing. The runtime's loader resolves these three functions, which LLVM may
/// call by itself. Any other would be found missing only when a model runs.
static std::string findForeignSymbol(ArrayRef<char> object) {
  llvm::MemoryBufferRef buffer(StringRef(object.data(), object.size()),
                               "kernels");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "(not an object file)";
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return "(unreadable)";
    }
    bool isUndefined = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (isUndefined && !name->empty() && *name != "memcpy" &&
        *name != "memmove" && *name != "memset")
      return name->str();
  }
  return {};
}

/// Runs the linker with `flags` on top of what every shared object needs.
static FailureOr<std::vector<char>>
link(ArrayRef<char> object, ArrayRef<const char *> flags, Report reportError) {
  // The linker works on files; they are gone when this function returns.
  llvm::SmallString<128> in, out;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("gist", "o", in)) {
    reportError("cannot make a temporary file: " + error.message());
    return failure();
  }
  llvm::FileRemover removeIn(in);
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("gist", "so", out)) {
    reportError("cannot make a temporary file: " + error.message());
    return failure();
  }
  llvm::FileRemover removeOut(out);
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(in, error);
    stream.write(object.data(), object.size());
    stream.close();
    if (error || stream.has_error()) {
      reportError("cannot write a temporary file: " +
                  (error ? error : stream.error()).message());
      stream.clear_error();
      return failure();
    }
  }
  std::string messages;
  llvm::raw_string_ostream log(messages);
  SmallVector<const char *> arguments = {"ld.lld", "-shared",
                                         "--build-id=none"};
  llvm::append_range(arguments, flags);
  arguments.append({in.c_str(), "-o", out.c_str()});
  lld::Result result =
      lld::lldMain(arguments, log, log, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    reportError("cannot link the kernels: " + messages);
    return failure();
  }
  auto linked = llvm::MemoryBuffer::getFile(out, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!linked) {
    reportError("cannot read the linked kernels: " +
                linked.getError().message());
    return failure();
  }
  return std::vector<char>((*linked)->getBufferStart(),
                           (*linked)->getBufferEnd());
}

/// Symbols that the runtime does not provide are found here, not when a model
/// runs.
FailureOr<std::vector<char>> gist::linkSharedObject(ArrayRef<char> object,
                                                    Report reportError) {
  if (std::string symbol = findForeignSymbol(object); !symbol.empty()) {
    reportError("kernels call '" + llvm::Twine(symbol) +
                "', which the runtime does not provide");
    return failure();
  }
  // All symbols are resolved when the object is opened, not in the middle of a
  // call.
  return link(object, {"--strip-all", "--hash-style=gnu", "-z", "now"},
              reportError);
}

FailureOr<std::vector<char>> gist::linkCodeObject(ArrayRef<char> object,
                                                  Report reportError) {
  return link(object, {"--no-undefined"}, reportError);
}
