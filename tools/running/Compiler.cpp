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
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace gist;
using namespace gist::run;

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

Status run::findProgram(const char *name, const char *option,
                        std::string &path) {
  std::vector<std::string> places = getPlaces();
  for (const std::string &place : places) {
    path = place + "/" + name;
    // An empty entry of PATH would mean the working folder.
    if (!place.empty() && access(path.c_str(), X_OK) == 0)
      return {};
  }
  return Status::error(Code::NotFound, "%s was not found in %s or in PATH%s%s",
                       name, places.front().c_str(),
                       *option ? "; name it with " : "", option);
}

Status run::runProgram(const std::vector<std::string> &words,
                       const std::string &output) {
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!output.empty())
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  // gist-serve blocks the signals that end it; what it starts must not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  // No shell is between: names of files may have any characters.
  int error = posix_spawn(&child, arguments[0], &actions, &attributes,
                          arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Status::error(Code::NotFound, "%s: %s", arguments[0],
                         std::strerror(error));
  int result = 0;
  // A signal may interrupt the wait.
  while (waitpid(child, &result, 0) < 0)
    if (errno != EINTR)
      return Status::error(Code::Io, "%s: %s", arguments[0],
                           std::strerror(errno));
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
    return {};
  if (!output.empty())
    // Half of an output must not be taken for a whole one.
    ::unlink(output.c_str());
  return Status::error(Code::BadArgument, "%s failed", arguments[0]);
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
  if (program.empty())
    GIST_TRY(findProgram("gist-compile", "--compiler", program));
  GIST_TRY(folder.make());
  path = folder.file("model.gist");
  std::vector<std::string> words = {
      program,         input, "-o", path, std::string("--target=") + target,
      "--progress=off"};
  words.insert(words.end(), options.begin(), options.end());
  Status status = runProgram(words);
  return status.ok() || status.code == Code::NotFound
             ? status
             : Status::error(status.code, "%s did not write a module",
                             program.c_str());
}
