//===- Trust.h - Which modules may run --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module contains native code, which can do whatever its user can. It runs
// where the user says so for this run, or where the module is known: compiled
// by this user, or named once by the user or by an administrator.
// docs/security.md has the reasons.
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
#include <string_view>

namespace gist {

enum class TrustScope {
  User,   ///< this user
  System, ///< all users of this machine: an administrator's choice
};

/// The folder of known modules. Of a user: $XDG_STATE_HOME/gist/trusted, or
/// ~/.local/state/gist/trusted. Of the system: $GIST_SYSTEM_TRUST, or
/// /etc/gist/trusted. It need not exist.
Status trustFolder(TrustScope scope, std::string &folder);

/// Notes the module with this fingerprint (Module::fingerprint) as known; a
/// user does that, or a compiler for what it wrote.
Status trustFingerprint(std::string_view fingerprint,
                        TrustScope scope = TrustScope::User);
/// The same for a file.
Status trustModuleFile(const std::string &path);
/// Notes the modules of a list: a line begins with a fingerprint, as 'gist-run
/// trust' and sha256sum print it. Sets `count`. A bad line is an error, and
/// then nothing is noted.
Status trustList(std::string_view text, TrustScope scope, size_t &count);
/// Forgets a module. One that was not known is an error.
Status distrustModule(const Module &module,
                      TrustScope scope = TrustScope::User);

/// Ok where the module is known; otherwise the error says what a user can do.
Status checkTrusted(const Module &module);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_TRUST_H
