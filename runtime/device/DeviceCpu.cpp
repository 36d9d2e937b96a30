//===- DeviceCpu.cpp - The CPU as a device --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup of the grid is one task; the threads take tasks of a command by a
// counter and meet at a barrier before a command that waits for it.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceCpu.h"

#include "runtime/device/CpuCode.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/device/CpuPages.h"
#include "runtime/device/CpuTopology.h"
#include "runtime/device/ThreadGovernor.h"
#include "runtime/device/ThreadPool.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sched.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

using namespace gist;

namespace {

/// An address of this device is one of this process.
void *toPointer(DeviceAddress address) {
  return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr)
}

/// The CPU needs no preparation; the list is kept as it is.
class CpuRecording final : public Recording {
public:
  explicit CpuRecording(CommandList list) : list(std::move(list)) {}
  CommandList list;
};

/// What the threads share while they run one list.
struct ListRun {
  ListRun(const CommandList &list, unsigned threads,
          const std::vector<NodeThreads> &nodes,
          std::vector<TaskCounter> &counters, std::vector<TaskCounter> &done,
          std::vector<CommandTime> *times)
      : list(list), code(static_cast<const CpuCode &>(*list.code)),
        threads(threads), nodes(nodes), counters(counters), done(done),
        times(times), barrier(threads) {}

  const CommandList &list;
  const CpuCode &code;
  unsigned threads;
  const std::vector<NodeThreads> &nodes;
  std::vector<TaskCounter> &counters; ///< for each command and node
  std::vector<TaskCounter> &done;     ///< for each thread, ever
  std::vector<CommandTime> *times;
  SpinBarrier barrier;
  /// The longest that a thread wanted to run and could not, in nanoseconds.
  std::atomic<int64_t> lost = 0;
};

class DeviceCpu final : public Device {
public:
  /// All `threads` run, or as many as is best beside other work.
  DeviceCpu(unsigned threads, bool isFixed, ThreadPlaces places)
      : places(std::move(places)), isFixed(isFixed),
        pool(threads, [this](unsigned thread) { return cpusOf(thread); }),
        governor(pool.size()), done(pool.size()) {}

  DeviceInfo info() const override;
  Status supports(const TargetSpec &target) const override;
  Status allocate(uint64_t size, DeviceMemory &result) override;
  Status share(Bytes content, DeviceMemory &result) override {
    result = DeviceMemory(
        // Not owned: the memory is the host's, and release() would unmap it.
        nullptr, reinterpret_cast<DeviceAddress>(content.data), content.size);
    return {};
  }
  std::unique_ptr<PageStore> openPages() override { return openCpuPages(); }
  Status upload(DeviceAddress to, Bytes from) override {
    std::memcpy(toPointer(to), from.data, from.size);
    return {};
  }
  Status download(DeviceAddress from, void *to, uint64_t size) override {
    std::memcpy(to, toPointer(from), size);
    return {};
  }
  Status clear(DeviceAddress at, uint64_t size) override;
  Status copy(DeviceAddress to, DeviceAddress from, uint64_t size) override {
    std::memcpy(toPointer(to), toPointer(from), size);
    return {};
  }
  const void *hostPointer(DeviceAddress at) const override {
    return toPointer(at);
  }
  Status loadCode(const ModuleSpec &spec, uint32_t target, Bytes code,
                  std::unique_ptr<DeviceCode> &result) override;
  Status submit(const CommandList &list,
                std::vector<CommandTime> *times) override;
  Status record(const CommandList &list,
                std::unique_ptr<Recording> &result) override {
    result = std::make_unique<CpuRecording>(list);
    return {};
  }
  Status replay(Recording &recording) override {
    return submit(static_cast<CpuRecording &>(recording).list, nullptr);
  }
  // submit() returns when the work is done; there is nothing left to wait for.
  Status synchronize() override { return {}; }
  uint64_t progress() const override {
    uint64_t tasks = 0;
    for (const TaskCounter &each : done)
      tasks += each.next.load(std::memory_order_relaxed);
    return tasks;
  }

protected:
  void release(DeviceAddress address, uint64_t size) override {
    ::munmap(toPointer(address), size);
  }

private:
  std::vector<int> cpusOf(unsigned thread) const {
    size_t node = 0;
    while (node + 1 < places.nodes.size() && places.nodes[node].end <= thread)
      ++node;
    return places.cpus[node];
  }

  ThreadPlaces places; ///< before the pool, which asks for it
  bool isFixed;
  ThreadPool pool;
  ThreadGovernor governor;
  std::vector<TaskCounter> counters; ///< grown as needed
  std::vector<TaskCounter> done;     ///< tasks that each thread has finished
};

} // namespace

DeviceInfo DeviceCpu::info() const {
  DeviceInfo info;
  info.kind = "cpu";
  info.name = hostCpuName();
  info.architecture = hostArchitecture();
  info.features = hostCpuFeatures();
  info.parallelism = pool.size();
  struct sysinfo memory;
  if (::sysinfo(&memory) == 0) {
    info.memoryTotal = uint64_t{memory.totalram} * memory.mem_unit;
    info.memoryFree =
        (uint64_t{memory.freeram} + memory.bufferram) * memory.mem_unit;
  }
  return info;
}

Status DeviceCpu::supports(const TargetSpec &target) const {
  if (target.device != "cpu" || target.format != CodeFormat::Elf)
    return Status::error(Code::Unsupported, "is code for %s",
                         target.device.c_str());
  std::string architecture = target.triple.substr(0, target.triple.find('-'));
  // LLVM's triples have both names for one architecture.
  if (architecture == "arm64")
    architecture = "aarch64";
  if (architecture != hostArchitecture())
    return Status::error(Code::Unsupported,
                         "is code for %s, but this device is %s",
                         target.triple.c_str(), hostArchitecture());
  return checkCpuFeatures(target.features);
}

Status DeviceCpu::allocate(uint64_t size, DeviceMemory &result) {
  // Whole pages straight from the system: zero, and only counted once touched,
  // so that a large context costs nothing until it is used. No huge pages: each
  // layer's part of a cache would touch a whole one with its first token.
  // mmap refuses a length of 0.
  size = std::max<uint64_t>(size, 1);
  uint64_t total = info().memoryTotal;
  // MAP_NORESERVE below promises any size. Without this check the process would
  // be killed at some later token instead.
  if (total != 0 && size > total)
    return Status::error(Code::OutOfMemory,
                         "cannot reserve %" PRIu64
                         " bytes: this machine has %" PRIu64,
                         size, total);
  void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return Status::error(Code::OutOfMemory,
                         "cannot allocate %" PRIu64 " bytes: %s", size,
                         std::strerror(errno));
  result = DeviceMemory(this, reinterpret_cast<DeviceAddress>(memory), size);
  return {};
}

Status DeviceCpu::clear(DeviceAddress at, uint64_t size) {
  // With several nodes, whole pages are given back: they are zero when they are
  // touched next, and then belong to the node of the thread that does.
  constexpr uint64_t kLeast = 1 << 20;
  uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  uint64_t begin = (at + page - 1) / page * page;
  uint64_t end = (at + size) / page * page;
  if (places.nodes.size() > 1 && size >= kLeast && begin < end &&
      ::madvise(toPointer(begin), end - begin, MADV_DONTNEED) == 0) {
    std::memset(toPointer(at), 0, begin - at);
    std::memset(toPointer(end), 0, at + size - end);
    return {};
  }
  std::memset(toPointer(at), 0, size);
  return {};
}

Status DeviceCpu::loadCode(const ModuleSpec &spec, uint32_t target, Bytes code,
                           std::unique_ptr<DeviceCode> &result) {
  GIST_TRY(supports(spec.targets[target])
               .in("target '" + spec.targets[target].name + "'"));
  std::unique_ptr<CpuCode> loaded;
  GIST_TRY(CpuCode::load(spec, target, code, loaded));
  result = std::move(loaded);
  return {};
}

/// Runs tasks of one command until none is left.
static void runTasks(ListRun &run, size_t number, unsigned thread) {
  const BoundCommand &command = run.list.commands[number];
  CpuCode::Kernel kernel = run.code.kernel(command.kernel);
  const uint64_t *args = run.list.args.data() + command.firstArg;
  uint64_t width = command.grid[0], height = command.grid[1];
  uint64_t total = width * height * command.grid[2];
  takeTasksOfNodes(total, run.nodes, &run.counters[number * run.nodes.size()],
                   thread, run.threads, [&](uint64_t task) {
                     // The first dimension of the grid runs fastest.
                     kernel(args, static_cast<int64_t>(task % width),
                            static_cast<int64_t>(task / width % height),
                            static_cast<int64_t>(task / (width * height)));
                     // Only this thread writes it.
                     std::atomic<uint64_t> &done = run.done[thread].next;
                     done.store(done.load(std::memory_order_relaxed) + 1,
                                std::memory_order_relaxed);
                   });
}

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// How long this thread has been running.
static int64_t threadTime() {
  timespec time;
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
    return 0;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Runs the commands of a list together with the other threads.
static void runCommands(ListRun &run, unsigned thread) {
  size_t fence = 0; // commands before this one are finished
  for (size_t i = 0; i < run.list.commands.size(); ++i) {
    const BoundCommand &command = run.list.commands[i];
    // A barrier finishes everything before it, so only dependencies after the
    // last barrier need another one.
    bool waits = !command.after ||
                 std::any_of(command.after->begin(), command.after->end(),
                             [&](uint32_t before) { return before >= fence; });
    // Timing puts every command between two barriers.
    if ((waits && i != fence) || (run.times && i != 0)) {
      run.barrier.arriveAndWait();
      fence = i;
    }
    if (run.times && thread == 0) {
      int64_t time = now();
      (*run.times)[i].begin = time;
      if (i != 0)
        (*run.times)[i - 1].end = time;
    }
    runTasks(run, i, thread);
  }
  if (run.times) {
    run.barrier.arriveAndWait();
    if (thread == 0 && !run.times->empty())
      run.times->back().end = now();
  }
}

/// What each thread does with a list. It never sleeps on the way, so the time
/// that it did not run was lost to other processes.
static void runList(void *context, unsigned thread) {
  ListRun &run = *static_cast<ListRun *>(context);
  int64_t begin = now(), beginTime = threadTime();
  runCommands(run, thread);
  int64_t lost = (now() - begin) - (threadTime() - beginTime);
  int64_t worst = run.lost.load(std::memory_order_relaxed);
  while (lost > worst && !run.lost.compare_exchange_weak(
                             worst, lost, std::memory_order_relaxed))
    ;
}

static uint64_t countTasks(const CommandList &list) {
  uint64_t tasks = 0;
  for (const BoundCommand &command : list.commands)
    tasks += uint64_t{command.grid[0]} * command.grid[1] * command.grid[2];
  return tasks;
}

Status DeviceCpu::submit(const CommandList &list,
                         std::vector<CommandTime> *times) {
  size_t numCounters = list.commands.size() * places.nodes.size();
  if (counters.size() < numCounters)
    counters = std::vector<TaskCounter>(numCounters);
  for (size_t i = 0; i < numCounters; ++i)
    counters[i].next.store(0, std::memory_order_relaxed);
  if (times)
    times->assign(list.commands.size(), {});
  // The stores above need no order of their own: pool.run() publishes them to
  // the threads with its release of the new generation.
  ListRun run(list, governor.threads(), places.nodes, counters, done, times);
  int64_t begin = now();
  pool.run(runList, &run, run.threads);
  int64_t end = now();
  if (!isFixed)
    governor.note(end, {end - begin, run.lost.load(std::memory_order_relaxed),
                        countTasks(list)});
  return {};
}

Status gist::openCpuDevice(const DeviceOptions &options,
                           std::unique_ptr<Device> &result) {
  constexpr unsigned kMaxThreads = 1024;
  if (options.threads > kMaxThreads)
    return Status::error(Code::BadArgument,
                         "%u threads were asked for; at most %u are allowed",
                         options.threads, kMaxThreads);
  std::vector<int> cpus = allowedCpus();
  CpuTopology topology = readTopology(cpus);
  // A thread for each core of the affinity mask, or as many as may run at once.
  size_t cores = std::clamp<size_t>(
      std::min<size_t>(topology.cores.size(), readCpuQuota()), 1, kMaxThreads);
  unsigned threads =
      options.threads != 0 ? options.threads : static_cast<unsigned>(cores);
  result = std::make_unique<DeviceCpu>(
      threads, /*isFixed=*/options.threads != 0,
      placeOnNodes(topology, readNodes(cpus), threads, ::sched_getcpu()));
  return {};
}
