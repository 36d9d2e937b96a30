//===- Profile.h - Where the time of a session goes -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_PROFILE_H
#define GIST_RUNTIME_SESSION_PROFILE_H

#include "runtime/device/Device.h"
#include "runtime/module/ModuleSpec.h"

#include <string>
#include <vector>

namespace gist {

/// The total of all commands with one label in one entry and layer.
struct CommandTotal {
  std::string entry, label, kernel;
  std::string role;   ///< CommandPlace::role
  int32_t layer = -1; ///< CommandPlace::layer
  uint64_t calls = 0;
  int64_t nanoseconds = 0;
  double flops = 0, bytes = 0; ///< by the module's cost expressions
};

/// What a command's time can be explained by.
enum class Bound {
  Unknown,
  Bytes,  ///< memory, at the speed of a copy
  Matrix, ///< matrix instructions
  Launch, ///< being launched at all
};
const char *toString(Bound bound);

/// The limit that explains most of a total's time, and how much of it: a share
/// of 0.8 says that nothing could be done in less than 0.8 of the time.
struct BoundShare {
  Bound bound = Bound::Unknown;
  double share = 0;
};
BoundShare findBound(const CommandTotal &total, const DeviceLimits &limits);

/// What the weights that a command reads are for, by the ends of their names:
/// "k_proj+q_proj+v_proj". Tables of angles and of plans do not count.
std::string roleOf(const ModuleSpec &spec, const CommandSpec &command);

/// Which part of a model a command works for.
struct CommandPlace {
  /// roleOf(). A command without weights has the role of what it reads: "of
  /// q_proj". Empty where that is not known either.
  std::string role;
  int32_t layer = -1; ///< likewise; -1: none
};

/// The places of all commands of an entry.
std::vector<CommandPlace> placesOf(const ModuleSpec &spec,
                                   const EntrySpec &entry);

/// Collects when commands ran; sums them up, and writes a trace that
/// chrome://tracing and Perfetto open.
class Profile {
public:
  /// One command of a call, by its number in the entry; all of a call come in
  /// order. `flops` and `bytes` are 0 when not known.
  /// Number 0 begins a call, and with it perhaps another entry.
  void add(const ModuleSpec &spec, const EntrySpec &entry, size_t number,
           CommandTime time, double flops, double bytes);
  /// Something the host did: "tokenize", "sample", a whole call.
  void addSpan(const std::string &name, CommandTime time);

  /// Keeps single events for the trace, not just totals.
  void keepEvents(bool keep) { keeps = keep; }

  const std::vector<CommandTotal> &totals() const { return sums; }
  void clear();

  /// Writes the kept events as Chrome trace JSON.
  Status writeTrace(const std::string &path) const;

  /// Nanoseconds of the clock that CommandTime uses.
  static int64_t now();

private:
  struct Event {
    size_t total; ///< index in sums, or SIZE_MAX for a span of the host
    std::string name;
    CommandTime time;
  };

  bool keeps = false;
  std::vector<CommandPlace> places; ///< of the entry that is being added
  std::vector<CommandTotal> sums;
  std::vector<Event> events;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PROFILE_H
