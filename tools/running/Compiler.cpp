//===- Compiler.cpp - Modules made for one run ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds gist-compile and runs it. gist-run and gist-plan need no LLVM, so they
// cannot compile by themselves.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Compiler.h"

#include "runtime/format/Devices.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace gist;
using namespace gist::run;

static constexpr const char *kName = "gist-compile";

/// Directories in which the compiler may be, in order.
static std::vector<std::string> getPlaces() {
  std::error_code error;
  std::vector<std::string> places = {
      // Where this program is, whatever it was called as.
      std::filesystem::read_symlink("/proc/self/exe", error)
          .parent_path()
          .string()};
  const char *variable = std::getenv("PATH");
  std::string all = variable ? variable : "";
  for (size_t begin = 0; begin < all.size();) {
    size_t end = std::min(all.find(':', begin), all.size());
    places.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return places;
}

static Status find(std::string &compiler) {
  if (!compiler.empty())
    return {};
  std::vector<std::string> places = getPlaces();
  for (const std::string &place : places) {
    compiler = place + "/" + kName;
    // An empty entry of PATH would mean the working folder.
    if (!place.empty() && access(compiler.c_str(), X_OK) == 0)
      return {};
  }
  return Status::error(
      Code::NotFound,
      "%s was not found in %s or in PATH; name it with --compiler", kName,
      places.front().c_str());
}

/// Runs a program and waits for it. What it prints is printed.
static Status execute(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  // No shell is between: names of files may have any characters.
  int error = posix_spawn(&child, arguments[0], nullptr, nullptr,
                          arguments.data(), environ);
  if (error != 0)
    return Status::error(Code::NotFound, "%s: %s", arguments[0],
                         std::strerror(error));
  int result = 0;
  // A signal may interrupt the wait.
  while (waitpid(child, &result, 0) < 0)
    if (errno != EINTR)
      return Status::error(Code::Io, "%s: %s", arguments[0],
                           std::strerror(errno));
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
    return Status::error(Code::BadArgument, "%s did not write a module",
                         arguments[0]);
  return {};
}

Status TemporaryModule::make(const std::string &compiler,
                             const std::string &input,
                             const std::string &device,
                             const std::vector<std::string> &options) {
  const char *target = targetOfDevice(device);
  if (!target)
    return Status::error(Code::BadArgument,
                         "there is no device '%s'; expected cpu, hip or cuda",
                         device.c_str());
  std::string program = compiler;
  GIST_TRY(find(program));
  GIST_TRY(folder.make());
  path = folder.file("model.gist");
  std::vector<std::string> words = {
      program,         input, "-o", path, std::string("--target=") + target,
      "--progress=off"};
  words.insert(words.end(), options.begin(), options.end());
  return execute(words);
}
