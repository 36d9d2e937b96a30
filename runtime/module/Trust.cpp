//===- Trust.cpp - Which modules may run ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Trust.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gist;

/// The value of a variable that names an absolute path; empty otherwise.
/// Programs that run with another user's rights must not trust their callers.
static std::string pathVariable(const char *name) {
  const char *value = ::secure_getenv(name);
  return value && value[0] == '/' ? value : "";
}

Status gist::trustFolder(TrustScope scope, std::string &folder) {
  if (scope == TrustScope::System) {
    folder = pathVariable("GIST_SYSTEM_TRUST");
    if (folder.empty())
      folder = "/etc/gist/trusted";
    return {};
  }
  std::string state = pathVariable("XDG_STATE_HOME");
  if (state.empty()) {
    std::string home = pathVariable("HOME");
    if (home.empty())
      return Status::error(Code::NotFound,
                           "known modules have no place: neither "
                           "XDG_STATE_HOME nor HOME is an absolute path");
    state = home + "/.local/state";
  }
  folder = state + "/gist/trusted";
  return {};
}

static Status failure(const std::string &path, const char *what) {
  return Status::error(Code::Io, "%s: cannot %s: %s", path.c_str(), what,
                       std::strerror(errno));
}

/// Write access to the folder decides what runs. So it must belong to this user
/// or to root, and no other user may write there.
static Status checkFolder(const std::string &folder, bool &exists) {
  struct stat info;
  exists = ::stat(folder.c_str(), &info) == 0;
  if (!exists)
    return errno == ENOENT || errno == ENOTDIR ? Status()
                                               : failure(folder, "look into");
  bool isOurs = info.st_uid == ::geteuid() || info.st_uid == 0;
  if (!S_ISDIR(info.st_mode) || !isOurs || (info.st_mode & 022) != 0)
    return Status::error(Code::Untrusted,
                         "%s can be written by other users, so what it says is "
                         "not believed",
                         folder.c_str());
  return {};
}

/// Makes a folder and those above it.
static Status makeFolders(const std::string &folder, mode_t mode) {
  for (size_t slash = 1; slash != std::string::npos;) {
    slash = folder.find('/', slash + 1);
    std::string part = folder.substr(0, slash);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST)
      return failure(part, "make the folder");
  }
  return {};
}

/// 64 hexadecimal digits in lower case: a name that cannot leave its folder.
static bool isFingerprint(std::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status gist::trustFingerprint(std::string_view fingerprint, TrustScope scope) {
  if (!isFingerprint(fingerprint))
    return Status::error(Code::BadArgument,
                         "a fingerprint has 64 hexadecimal digits in lower "
                         "case, as 'gist-run trust' prints them");
  std::string folder;
  GIST_TRY(trustFolder(scope, folder));
  // All users must be able to look into the system's folder.
  bool isShared = scope == TrustScope::System;
  GIST_TRY(makeFolders(folder, isShared ? 0755 : 0700));
  bool exists = false;
  GIST_TRY(checkFolder(folder, exists));
  std::string path = folder + "/" + std::string(fingerprint);
  int descriptor = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC,
                          isShared ? 0644 : 0600);
  if (descriptor < 0)
    return failure(path, "write");
  ::close(descriptor);
  return {};
}

Status gist::trustModuleFile(const std::string &path) {
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(path, module));
  return trustFingerprint(module->fingerprint());
}

Status gist::trustList(std::string_view text, TrustScope scope, size_t &count) {
  std::vector<std::string_view> found;
  for (size_t line = 1; !text.empty(); ++line) {
    std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    std::string_view word = whole.substr(0, whole.find_first_of(" \t\r"));
    if (word.empty() || word.starts_with('#'))
      continue;
    if (!isFingerprint(word))
      return Status::error(Code::BadFile,
                           "line %zu does not begin with a fingerprint of 64 "
                           "hexadecimal digits in lower case",
                           line);
    found.push_back(word);
  }
  for (std::string_view fingerprint : found)
    GIST_TRY(trustFingerprint(fingerprint, scope));
  count = found.size();
  return {};
}

Status gist::distrustModule(const Module &module, TrustScope scope) {
  std::string folder;
  GIST_TRY(trustFolder(scope, folder));
  std::string path = folder + "/" + module.fingerprint();
  if (::unlink(path.c_str()) == 0)
    return {};
  if (errno == ENOENT)
    return Status::error(Code::NotFound, "the module was not known");
  return failure(path, "remove");
}

Status gist::checkTrusted(const Module &module) {
  for (TrustScope scope : {TrustScope::User, TrustScope::System}) {
    std::string folder;
    bool exists = false;
    // Without a folder of known modules no module is known.
    if (trustFolder(scope, folder).ok())
      GIST_TRY(checkFolder(folder, exists));
    if (exists &&
        ::access((folder + "/" + module.fingerprint()).c_str(), F_OK) == 0)
      return {};
  }
  std::string notes;
  Status found = trustFolder(TrustScope::User, notes);
  return Status::error(
      Code::Untrusted,
      "the module's code was not compiled by this user on this machine, so it "
      "is not run; if you trust it as you would trust a program, say so once "
      "with 'gist-run trust MODULE' (an administrator for all users with "
      "--system), or for one run with --trust (in C gist_module_trust, in "
      "Python trust=True); another HOME or container counts as another user: "
      "%s%s",
      found.ok() ? "what this one compiles is noted in " : found.text.c_str(),
      notes.c_str());
}
