//===- Profile.cpp - Where the time of a session goes ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Profile.h"

#include "runtime/support/AtomicFile.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

using namespace gist;

int64_t Profile::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char *gist::toString(Bound bound) {
  switch (bound) {
  case Bound::Unknown:
    return "-";
  case Bound::Bytes:
    return "bytes";
  case Bound::Matrix:
    return "matrix";
  case Bound::Launch:
    return "launch";
  }
  return "-";
}

BoundShare gist::findBound(const CommandTotal &total,
                           const DeviceLimits &limits) {
  BoundShare found;
  if (total.nanoseconds <= 0)
    return found;
  auto consider = [&](Bound bound, double least) {
    // `least` is in seconds. The largest lower bound is the one that binds.
    double share = least * 1e9 / static_cast<double>(total.nanoseconds);
    if (share > found.share)
      found = {bound, share};
  };
  if (limits.bytesPerSecond > 0)
    consider(Bound::Bytes, total.bytes / limits.bytesPerSecond);
  if (limits.flopsPerSecond > 0)
    consider(Bound::Matrix, total.flops / limits.flopsPerSecond);
  consider(Bound::Launch,
           static_cast<double>(total.calls) * limits.launchSeconds);
  return found;
}

/// "layers.0.self_attn.q_proj.weight": "q_proj".
static std::string_view endOfName(std::string_view name) {
  name = name.substr(0, name.find('[')); // Rows of a part may follow.
  for (std::string_view end : {".weight", ".bias"})
    if (name.ends_with(end))
      name.remove_suffix(end.size());
  size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::string gist::roleOf(const ModuleSpec &spec, const CommandSpec &command) {
  std::string role;
  for (const ArgSpec &arg : command.args) {
    if (arg.buffer == kNone ||
        spec.buffers[arg.buffer].kind != BufferKind::Weight)
      continue;
    std::string_view name = spec.weights[spec.buffers[arg.buffer].base].name;
    // Tables that import and plans make. They do not tell what a command
    // computes.
    if (name.starts_with("rotary.") || name.starts_with("plan."))
      continue;
    // Weights that were joined have their names joined.
    while (!name.empty()) {
      std::string_view part = name.substr(0, name.find('+'));
      name.remove_prefix(std::min(name.size(), part.size() + 1));
      std::string end(endOfName(part));
      if (("+" + role + "+").find("+" + end + "+") == std::string::npos)
        role += (role.empty() ? "" : "+") + end;
    }
  }
  return role;
}

/// "attention_0": "attention".
static std::string_view kindOf(std::string_view label) {
  size_t end = label.find_last_not_of("0123456789");
  if (end != std::string_view::npos && end + 1 < label.size() &&
      label[end] == '_')
    label = label.substr(0, end);
  return label;
}

std::vector<CommandPlace> gist::placesOf(const ModuleSpec &spec,
                                         const EntrySpec &entry) {
  // Tensors in the arena have a buffer each, and its writer comes first.
  std::vector<size_t> writers(spec.buffers.size(), SIZE_MAX);
  std::vector<CommandPlace> places(entry.commands.size());
  // The names that readers of a command's result are called after.
  std::vector<std::string> names(entry.commands.size());
  for (size_t i = 0; i < entry.commands.size(); ++i) {
    const CommandSpec &command = entry.commands[i];
    CommandPlace &place = places[i];
    place = {roleOf(spec, command), command.layer};
    names[i] = place.role;
    std::string sources;
    for (const ArgSpec &arg : command.args) {
      if (arg.buffer == kNone ||
          spec.buffers[arg.buffer].kind != BufferKind::Arena)
        continue;
      size_t &writer = writers[arg.buffer];
      if (writer == SIZE_MAX)
        writer = i;
      // A command with weights is named after them and not after what it reads.
      if (writer == i || !place.role.empty())
        continue;
      place.layer = std::max(place.layer, places[writer].layer);
      const std::string &name = names[writer];
      if (("+" + sources + "+").find("+" + name + "+") == std::string::npos)
        sources += (sources.empty() ? "" : "+") + name;
    }
    if (!place.role.empty())
      continue;
    if (!sources.empty())
      place.role = "of " + sources;
    // Work on rows is called after its source, other work after itself. This
    // also keeps names from growing.
    const std::string &kernel = spec.kernels[command.kernel].name;
    std::string_view kind =
        kindOf(command.label.empty() ? kernel : command.label);
    names[i] = kind == "rows" && !sources.empty() &&
                       sources.find('+') == std::string::npos
                   ? sources
                   : std::string(kind);
  }
  return places;
}

void Profile::add(const ModuleSpec &spec, const EntrySpec &entry, size_t number,
                  CommandTime time, double flops, double bytes) {
  if (number == 0 || places.size() != entry.commands.size())
    places = placesOf(spec, entry);
  const CommandSpec &command = entry.commands[number];
  const auto &[role, layer] = places[number];
  const std::string &kernel = spec.kernels[command.kernel].name;
  const std::string &label = command.label.empty() ? kernel : command.label;
  auto at = std::find_if(sums.begin(), sums.end(), [&](const auto &total) {
    return total.layer == places[number].layer && total.label == label &&
           total.role == places[number].role && total.entry == entry.name;
  });
  if (at == sums.end())
    at = sums.insert(sums.end(), {.entry = entry.name,
                                  .label = label,
                                  .kernel = kernel,
                                  .role = role,
                                  .layer = layer});
  ++at->calls;
  at->nanoseconds += time.end - time.begin;
  at->flops += flops;
  at->bytes += bytes;
  if (keeps)
    // By number: sums may move as they grow.
    events.push_back({static_cast<size_t>(at - sums.begin()), {}, time});
}

void Profile::addSpan(const std::string &name, CommandTime time) {
  if (keeps)
    events.push_back({SIZE_MAX, name, time});
}

void Profile::clear() {
  sums.clear();
  events.clear();
}

Status Profile::writeTrace(const std::string &path) const {
  // Times of the steady clock begin anywhere; a trace begins at zero.
  int64_t start = INT64_MAX;
  for (const Event &event : events)
    start = std::min(start, event.time.begin);
  // One track for the host, one for the commands. Times are microseconds.
  auto micro = [](int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000.0;
  };
  auto track = [](int number, const char *name) {
    return nlohmann::json{{"ph", "M"},
                          {"pid", 1},
                          {"tid", number},
                          {"name", "thread_name"},
                          {"args", {{"name", name}}}};
  };
  nlohmann::json list = {track(1, "host"), track(2, "commands")};
  for (const Event &event : events) {
    nlohmann::json item = {{"ph", "X"},
                           {"pid", 1},
                           {"ts", micro(event.time.begin - start)},
                           {"dur", micro(event.time.end - event.time.begin)}};
    if (event.total == SIZE_MAX) {
      item["tid"] = 1;
      item["name"] = event.name;
    } else {
      const CommandTotal &total = sums[event.total];
      item["tid"] = 2;
      item["name"] = total.label;
      item["cat"] = total.entry;
      item["args"] = {{"layer", total.layer},
                      {"kernel", total.kernel},
                      {"role", total.role}};
    }
    list.push_back(std::move(item));
  }
  // Labels come from a file: bytes that are not UTF-8 are replaced.
  std::string text =
      nlohmann::json{{"traceEvents", std::move(list)}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace) +
      "\n";
  return writeWhole(path, text);
}
