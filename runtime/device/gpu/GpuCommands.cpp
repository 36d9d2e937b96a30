//===- GpuCommands.cpp - Launches and graphs ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/gpu/GpuCode.h"

#include <algorithm>
#include <chrono>

using namespace gist;

/// A command as a launch; `arguments` is filled with pointers to its slots.
static GpuLaunch toLaunch(const CommandList &list, const BoundCommand &command,
                          std::vector<void *> &arguments) {
  const GpuCode::Kernel &kernel =
      static_cast<const GpuCode &>(*list.code).kernel(command.kernel);
  arguments.clear();
  // Drivers copy what the pointers point to and write nothing there.
  auto *slots = const_cast<uint64_t *>(list.args.data()) + command.firstArg;
  for (uint32_t i = 0; i < command.argCount; ++i)
    arguments.push_back(slots + i);
  return {.function = command.byTable ? kernel.byTable : kernel.function,
          .grid = command.grid,
          .block = kernel.block,
          .sharedMemory = kernel.sharedMemory,
          .arguments = arguments.data(),
          .waits = kernel.waits};
}

static bool isEmpty(const BoundCommand &command) {
  return std::find(command.grid.begin(), command.grid.end(), 0u) !=
         command.grid.end();
}

/// For messages: "kernel 'gemm' on a grid of 3 x 1 x 1".
static std::string describe(const CommandList &list,
                            const BoundCommand &command) {
  std::string text =
      "kernel '" +
      static_cast<const GpuCode &>(*list.code).kernel(command.kernel).name +
      "' on a grid of ";
  for (size_t i = 0; i < command.grid.size(); ++i)
    text += (i == 0 ? "" : " x ") + std::to_string(command.grid[i]);
  return text;
}

//===----------------------------------------------------------------------===//
// One by one
//===----------------------------------------------------------------------===//

Status GpuDevice::launch(const CommandList &list, const BoundCommand &command) {
  if (isEmpty(command))
    return {};
  std::vector<void *> arguments;
  GpuLaunch launch = toLaunch(list, command, arguments);
  return driver
      ->check(driver->call.launch(launch.function, launch.grid[0],
                                  launch.grid[1], launch.grid[2],
                                  launch.block[0], launch.block[1],
                                  launch.block[2], launch.sharedMemory, stream,
                                  launch.arguments, nullptr),
              "launch")
      .in(describe(list, command));
}

Status GpuDevice::submit(const CommandList &list,
                         std::vector<CommandTime> *times) {
  GIST_TRY(enter());
  if (times)
    return measure(list, *times);
  for (const BoundCommand &command : list.commands)
    GIST_TRY(launch(list, command));
  return {};
}

Status GpuDevice::ensureEvents(size_t count) {
  while (events.size() < count) {
    GpuHandle event = nullptr;
    // Room first: an event that is not in the list is never destroyed.
    events.reserve(count);
    GIST_TRY(
        driver->check(driver->call.createEvent(&event, 0), "make an event"));
    events.push_back(event);
  }
  return {};
}

/// Runs the commands with an event before each one and one after the last.
Status GpuDevice::measure(const CommandList &list,
                          std::vector<CommandTime> &times) {
  size_t count = list.commands.size();
  GIST_TRY(ensureEvents(count + 1));
  GIST_TRY(synchronize());
  // The card's clock has another zero than the host's. The card is idle now, so
  // that the first event comes at about this time.
  int64_t start = std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count();
  auto mark = [&](size_t i) {
    return driver->check(driver->call.recordEvent(events[i], stream),
                         "record an event");
  };
  for (size_t i = 0; i < count; ++i) {
    GIST_TRY(mark(i));
    GIST_TRY(launch(list, list.commands[i]));
  }
  GIST_TRY(mark(count));
  GIST_TRY(synchronize());

  times.assign(count, {});
  int64_t before = start;
  for (size_t i = 0; i < count; ++i) {
    float milliseconds = 0;
    GIST_TRY(driver->check(
        driver->call.elapsedTime(&milliseconds, events[0], events[i + 1]),
        "measure time"));
    times[i] = {.begin = before,
                .end = start + static_cast<int64_t>(1e6 * milliseconds)};
    before = times[i].end;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// As a graph
//===----------------------------------------------------------------------===//

GpuRecording::~GpuRecording() {
  // A launch of it may still be running.
  if (device.settle() && executable)
    device.driver->call.destroyExecutable(executable);
}

/// Adds `nodes` to `set`, each once.
static void addOnce(std::vector<GpuHandle> &set,
                    const std::vector<GpuHandle> &nodes) {
  for (GpuHandle node : nodes)
    if (std::find(set.begin(), set.end(), node) == set.end())
      set.push_back(node);
}

Status GpuRecording::addNodes(const CommandList &list, GpuHandle graph) {
  // The nodes whose end is the end of a command: its own node, or, for one that
  // launches nothing, the nodes that it would have waited for.
  std::vector<std::vector<GpuHandle>> nodesOf(list.commands.size());
  // Waiting for these waits for all: every other node is before one of them.
  std::vector<GpuHandle> last; // nodes that nothing waits for yet
  std::vector<void *> arguments;
  for (size_t i = 0; i < list.commands.size(); ++i) {
    const BoundCommand &command = list.commands[i];
    std::vector<GpuHandle> after;
    if (!command.after)
      after = last;
    else
      for (uint32_t before : *command.after)
        addOnce(after, nodesOf[before]);
    if (isEmpty(command)) {
      nodesOf[i] = std::move(after);
      continue;
    }
    GpuHandle node = nullptr;
    GIST_TRY(
        device.driver
            ->addNode(graph, after, toLaunch(list, command, arguments), node)
            .in(describe(list, command)));
    std::erase_if(last, [&](GpuHandle other) {
      return std::find(after.begin(), after.end(), other) != after.end();
    });
    last.push_back(node);
    nodesOf[i] = {node};
  }
  return {};
}

Status GpuRecording::build(const CommandList &list) {
  if (std::all_of(list.commands.begin(), list.commands.end(), isEmpty))
    return {};
  const GpuDriver &driver = *device.driver;
  GIST_TRY(device.enter());
  GpuHandle graph = nullptr;
  GIST_TRY(driver.check(driver.call.createGraph(&graph, 0), "make a graph"));
  // The executable is a copy and does not need it any more.
  std::unique_ptr<void, int (*)(GpuHandle)> owner(graph,
                                                  driver.call.destroyGraph);
  GIST_TRY(addNodes(list, graph));
  return driver.check(driver.call.instantiateGraph(&executable, graph, 0),
                      "make a graph ready");
}

Status GpuRecording::launch() {
  GIST_TRY(device.enter());
  if (!executable)
    return {};
  return device.driver->check(
      device.driver->call.launchGraph(executable, device.stream),
      "launch a graph");
}

Status GpuDevice::record(const CommandList &list,
                         std::unique_ptr<Recording> &result) {
  auto recording = std::make_unique<GpuRecording>(*this);
  GIST_TRY(recording->build(list));
  result = std::move(recording);
  return {};
}

Status GpuDevice::replay(Recording &recording) {
  return static_cast<GpuRecording &>(recording).launch();
}
