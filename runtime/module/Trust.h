//===- Trust.h - Which modules may run --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module contains native code, which can do whatever its user can. It runs
// where the user says so for this run, or where the module is known: compiled
// on this machine, or named once by the user. docs/security.md has the reasons.
//
// Known modules are a folder of empty files, each with a fingerprint as its
// name: looking one up is one system call, two programs may note modules at the
// same time, and a user can see and remove what is there.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_TRUST_H
#define GIST_RUNTIME_MODULE_TRUST_H

#include "runtime/module/Module.h"

#include <string>

namespace gist {

/// The folder of this user's known modules: $XDG_STATE_HOME/gist/trusted, or
/// ~/.local/state/gist/trusted. It need not exist.
Status trustFolder(std::string &folder);

/// Notes a module as known; a user does that, or a compiler for what it wrote.
Status trustModule(const Module &module);
/// The same for a file.
Status trustModuleFile(const std::string &path);
/// Forgets a module. One that was not known is an error.
Status distrustModule(const Module &module);

/// Ok where the module is known; otherwise the error says what a user can do.
Status checkTrusted(const Module &module);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_TRUST_H
