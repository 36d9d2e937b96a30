//===- IreeCompile.cpp - Calls IREE's compiler ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/IreeCompile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"

using namespace gist;
using namespace gist::compile;

/// The versions that tests run with. IREE does not keep the dialects in our
/// text stable between releases.
static constexpr llvm::StringLiteral kVersions[] = {"3.13.", "3.12."};

/// Runs a program and gives what it prints on either stream.
static Status runProgram(const std::vector<std::string> &words,
                         std::string &output, int &exitStatus) {
  llvm::SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("gist-iree", "log", file))
    return Status::error(Code::Io, "cannot make a temporary file: %s",
                         error.message().c_str());
  llvm::FileRemover remove(file);
  std::vector<llvm::StringRef> arguments(words.begin(), words.end());
  std::string message;
  std::optional<llvm::StringRef> streams[] = {llvm::StringRef(""), file.str(),
                                              file.str()};
  exitStatus = llvm::sys::ExecuteAndWait(words.front(), arguments, std::nullopt,
                                         streams, 0, 0, &message);
  if (exitStatus < 0)
    return Status::error(Code::NotFound, "%s: cannot be run: %s",
                         words.front().c_str(), message.c_str());
  if (auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true))
    output = (*buffer)->getBuffer().str();
  return {};
}

/// The first line of `text` that says error, or its first line.
static std::string getFirstError(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (line.contains("error:"))
      return line.substr(line.find("error:") + 6).trim().str();
  return lines.empty() ? "it says nothing" : lines.front().str();
}

Status IreeCompiler::find(const std::string &path) {
  auto found =
      llvm::sys::findProgramByName(path.empty() ? "iree-compile" : path);
  if (!found || !llvm::sys::fs::can_execute(*found))
    return Status::error(
        Code::NotFound,
        path.empty()
            ? "--via=iree needs iree-compile, which is not in PATH: install "
              "it with 'pip install iree-base-compiler==3.13.0', or name it "
              "with --iree-compile%s"
            : "%s: there is no such program; --iree-compile names the "
              "compiler of IREE",
        path.c_str());
  program = *found;
  std::string text;
  int exitStatus = 0;
  GIST_TRY(runProgram({program, "--version"}, text, exitStatus));
  constexpr llvm::StringLiteral kSays = "IREE compiler version ";
  llvm::StringRef version = llvm::StringRef(text).split(kSays).second;
  version = version.take_until([](char c) { return isspace(c); });
  if (exitStatus != 0 || version.empty())
    return Status::error(Code::Unsupported,
                         "%s: it does not say which version of IREE it is; "
                         "expected 3.13 or 3.12",
                         program.c_str());
  for (llvm::StringRef known : kVersions)
    if (version.starts_with(known))
      return {};
  return Status::error(Code::Unsupported,
                       "%s: is version %s of IREE; expected 3.13 or 3.12: "
                       "other versions read other text",
                       program.c_str(), version.str().c_str());
}

/// The flags that name the same machine to IREE.
static std::vector<std::string> getTargetFlags(const Target &target) {
  if (!target.gpu) {
    llvm::Triple triple(target.cpu.triple);
    std::vector<std::string> flags = {
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-triple=" + target.cpu.triple};
    // With vectors of unknown length IREE needs over 20 GB for a model of
    // dynamic sizes, so it gets the best CPU without them.
    if (triple.isAArch64())
      flags.push_back("--iree-llvmcpu-target-cpu=neoverse-n1");
    else {
      flags.push_back("--iree-llvmcpu-target-cpu=" + target.cpu.cpu);
      if (!target.cpu.features.empty())
        flags.push_back("--iree-llvmcpu-target-cpu-features=" +
                        target.cpu.features);
    }
    return flags;
  }
  if (target.gpu->kind == GpuKind::Amd)
    return {"--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"};
  return {"--iree-hal-target-device=cuda", "--iree-cuda-target=sm_90"};
}

Status IreeCompiler::run(const std::string &input, const std::string &folder,
                         const Target &target,
                         const std::string &output) const {
  std::vector<std::string> words = {program, input, "-o", output};
  words.push_back("--iree-hal-executable-object-search-path=" + folder);
  for (std::string &flag : getTargetFlags(target))
    words.push_back(std::move(flag));
  std::string text;
  int exitStatus = 0;
  GIST_TRY(runProgram(words, text, exitStatus));
  if (exitStatus != 0)
    return Status::error(Code::Unsupported, "iree-compile failed: %s",
                         getFirstError(text).c_str());
  return {};
}
