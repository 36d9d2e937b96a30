//===- Launch.cpp - Runs all workgroups of a launch -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs all workgroups of a launch. Waves of a workgroup take turns on one host
// thread; workgroups are spread over threads. What a kernel sees at its first
// instruction follows the HSA ABI for code object version 5.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Format.h"
#include "tools/simulator/Simulator.h"
#include "tools/simulator/Wave.h"

#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <mutex>
#include <thread>

using namespace gist::sim;
namespace hsa = llvm::amdhsa;

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

/// The packet a kernel sees through its dispatch pointer.
/// The layout is that of hsa_kernel_dispatch_packet_t.
struct DispatchPacket {
  uint16_t header = 0, setup = 3;
  uint16_t workgroupSize[3] = {};
  uint16_t reserved0 = 0;
  uint32_t gridSize[3] = {};
  uint32_t privateSize = 0, groupSize = 0;
  uint64_t kernelObject = 0, kernarg = 0, reserved1 = 0, completion = 0;
};
static_assert(sizeof(DispatchPacket) == 64);

/// Arguments that do not fit into the segment are left out; `argument` comes
/// from the file's metadata.
static void put(std::vector<uint8_t> &bytes, const KernelArgument &argument,
                uint64_t value) {
  uint32_t size = std::min<uint32_t>(argument.size, 8);
  if (uint64_t{argument.offset} + size <= bytes.size())
    std::memcpy(bytes.data() + argument.offset, &value, size);
}

/// The kernarg segment: the caller's bytes, then the hidden arguments.
static std::vector<uint8_t> makeKernarg(const LaunchRequest &request) {
  const Kernel &kernel = *request.kernel;
  std::vector<uint8_t> bytes = request.arguments;
  // The compiler may load an aligned piece of up to 64 bytes for one argument
  // in it, so the segment is padded to whole pieces, as runtimes allocate it.
  constexpr size_t kPiece = 64;
  // At least 16 bytes: kernels without arguments may still be given a pointer.
  size_t used = std::max<size_t>({bytes.size(), kernel.kernargSize, 16});
  bytes.resize((used + kPiece - 1) / kPiece * kPiece);
  const Dim3 &groups = request.workgroups, &size = request.workgroupSize;
  for (const KernelArgument &argument : kernel.arguments) {
    const std::string &kind = argument.kind;
    struct Hidden {
      const char *kind;
      uint64_t value;
    };
    const Hidden kHidden[] = {{"hidden_block_count_x", groups.x},
                              {"hidden_block_count_y", groups.y},
                              {"hidden_block_count_z", groups.z},
                              {"hidden_group_size_x", size.x},
                              {"hidden_group_size_y", size.y},
                              {"hidden_group_size_z", size.z},
                              // The grid is a whole number of workgroups.
                              {"hidden_remainder_x", 0},
                              {"hidden_remainder_y", 0},
                              {"hidden_remainder_z", 0},
                              {"hidden_grid_dims", 3},
                              {"hidden_dynamic_lds_size", request.dynamicLds},
                              // The upper half of the aperture's addresses.
                              {"hidden_shared_base", kSharedAperture >> 32},
                              {"hidden_private_base", kPrivateAperture >> 32}};
    for (const Hidden &hidden : kHidden)
      if (kind == hidden.kind)
        put(bytes, argument, hidden.value);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// One workgroup
//===----------------------------------------------------------------------===//

namespace {
/// What all workgroups of a launch have in common.
struct LaunchState {
  const LaunchRequest &request;
  const MemoryMap &memory;
  const Config &config;
  const std::vector<uint8_t> &kernarg;
  const DispatchPacket &packet;
  uint32_t entry, ldsSize, scratchSize, waves;
};
} // namespace

/// Registers as the HSA ABI promises them at the kernel's first instruction.
static void setUpWave(const LaunchState &launch, Workgroup &group, Wave &wave,
                      unsigned index) {
  const Kernel &kernel = *launch.request.kernel;
  const Dim3 &size = launch.request.workgroupSize;
  wave.group = &group;
  wave.index = static_cast<uint8_t>(index);
  wave.pc = launch.entry;
  wave.current = nullptr;
  wave.executed = 0;
  wave.state = WaveState::Running;
  wave.checks.reset();
  wave.scratchPerLane = launch.scratchSize;
  wave.scratch.assign(uint64_t(launch.scratchSize) * kLanes, 0);
  std::fill(std::begin(wave.scalar), std::end(wave.scalar), 0);
  // What the wave before left would make results depend on the host threads.
  std::memset(wave.vector, 0, kernel.accumOffset * sizeof(wave.vector[0]));
  std::memset(wave.vector[kFirstAgpr], 0,
              (kernel.vectorRegisters - kernel.accumOffset) *
                  sizeof(wave.vector[0]));

  // FLOAT_ROUND_MODE, FLOAT_DENORM_MODE and FP16_OVFL of the descriptor, at
  // their places in MODE.
  uint32_t round = kernel.rsrc1 >> 12 & 0xf, denorm = kernel.rsrc1 >> 16 & 0xf;
  uint32_t overflow = kernel.rsrc1 >> 26 & 1;
  wave.setMode(round | denorm << 4 | overflow << 23);

  // The order of these registers is fixed by the ABI. What the kernel did not
  // ask for takes no register.
  unsigned next = 0;
  auto give = [&](uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      wave.scalar[next + i] = static_cast<uint32_t>(value >> (32 * i));
    wave.checks.defineScalar(next, count);
    next += count;
  };
  auto has = [&](uint32_t bit) { return kernel.properties >> bit & 1; };
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER_SHIFT))
    next += 4; // Not defined: gfx942 has no use for it.
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR_SHIFT))
    give(reinterpret_cast<uintptr_t>(&launch.packet), 2);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR_SHIFT))
    next += 2; // There is no queue to point to.
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR_SHIFT))
    give(reinterpret_cast<uintptr_t>(launch.kernarg.data()), 2);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID_SHIFT))
    give(0, 2);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT_SHIFT))
    give(0, 2);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE_SHIFT))
    give(launch.scratchSize, 1);
  // Arguments that the hardware loads before the wave starts.
  unsigned preloaded = kernel.preload & 0x7f, from = kernel.preload >> 7;
  for (unsigned i = 0; i < preloaded; ++i) {
    uint32_t value = 0;
    size_t at = 4 * size_t(from + i);
    if (at + 4 <= launch.kernarg.size())
      std::memcpy(&value, launch.kernarg.data() + at, 4);
    give(value, 1);
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    if (kernel.rsrc2 >> (7 + axis) & 1)
      give(group.id[axis], 1);
  // The workgroup info word.
  if (kernel.rsrc2 >> 10 & 1)
    give(0, 1);

  uint64_t items = size.count(), exec = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t item = uint64_t(index) * kLanes + lane;
    // The last wave of a workgroup may be part full.
    if (item >= items)
      break;
    exec |= uint64_t(1) << lane;
    uint32_t x = static_cast<uint32_t>(item % size.x);
    uint32_t y = static_cast<uint32_t>(item / size.x % size.y);
    uint32_t z = static_cast<uint32_t>(item / size.x / size.y);
    // Work-item ids are packed, ten bits each, in v0.
    wave.vector[0][lane] = x | y << 10 | z << 20;
  }
  wave.write64(kExec, exec);
  wave.checks.defineVector(0);
}

/// Runs the wave until it ends, fails, reaches a barrier or has used its turn.
static void runWave(Wave &wave, uint64_t turn) {
  const Program &program = *wave.group->kernel->program;
  const Inst *code = program.instructions.data();
  size_t count = program.instructions.size();
  bool checked = wave.group->config->checks;
  uint64_t *counters = wave.group->counters.instructions;
  for (; turn && wave.state == WaveState::Running; --turn) {
    if (wave.pc >= count)
      return wave.fail(-1, "runs past the end of the code");
    const Inst &inst = code[wave.pc++];
    wave.current = &inst;
    ++wave.executed;
    ++counters[static_cast<size_t>(inst.op->opClass)];
    if (!checked) {
      inst.run(wave, inst);
      continue;
    }
    // The checks come first: they are about the registers as the instruction
    // finds them.
    wave.checks.before(wave, inst);
    if (wave.state == WaveState::Failed)
      return;
    inst.run(wave, inst);
    if (wave.state != WaveState::Failed)
      wave.checks.after(wave, inst);
  }
}

/// All waves in turns, so that one may spin on what another writes.
static void runWorkgroup(const LaunchState &launch, Workgroup &group) {
  // Long enough that changing waves costs little, short enough that a wave
  // which spins soon lets the others run.
  constexpr uint64_t kTurn = 20000;
  group.error.clear();
  // Zero, for launches without checks. With checks, reading what was never
  // written is a finding.
  group.lds.assign(launch.ldsSize, 0);
  group.shadow.reset(launch.ldsSize);
  while (group.waves.size() < launch.waves)
    group.waves.push_back(std::make_unique<Wave>());
  for (unsigned i = 0; i < launch.waves; ++i)
    setUpWave(launch, group, *group.waves[i], i);
  ++group.counters.workgroups;
  group.counters.waves += launch.waves;

  while (group.error.empty()) {
    unsigned waiting = 0, ended = 0;
    for (unsigned i = 0; i < launch.waves && group.error.empty(); ++i) {
      Wave &wave = *group.waves[i];
      runWave(wave, kTurn);
      waiting += wave.state == WaveState::AtBarrier;
      ended += wave.state == WaveState::Ended;
      if (wave.executed > launch.config.maxInstructions)
        wave.fail(-1, format("still runs after %" PRIu64 " instructions",
                             wave.executed));
    }
    if (!group.error.empty() || ended == launch.waves)
      return;
    // Some waves have used up their turn and are still running.
    if (waiting + ended < launch.waves)
      continue;
    // A barrier that some waves of the workgroup will never reach. The hardware
    // does not wait for ended waves, but such a kernel is wrong.
    if (ended && launch.config.checks) {
      for (unsigned i = 0; i < launch.waves; ++i)
        if (group.waves[i]->state == WaveState::AtBarrier)
          return group.waves[i]->fail(
              -1, format("divergent barrier: %u of %u waves have ended without "
                         "reaching it",
                         ended, launch.waves));
    }
    // All waves must wait at the same instruction. The hardware counts arrivals
    // only, so two barriers that meet by chance would pass there.
    const Inst *meeting = nullptr;
    for (unsigned i = 0; i < launch.waves; ++i) {
      Wave &wave = *group.waves[i];
      if (wave.state != WaveState::AtBarrier)
        continue;
      if (meeting && wave.current != meeting && launch.config.checks)
        return wave.fail(-1, "divergent barrier: another wave waits at a "
                             "different s_barrier");
      meeting = wave.current;
      wave.state = WaveState::Running;
    }
    group.shadow.barrier();
  }
}

//===----------------------------------------------------------------------===//
// All workgroups
//===----------------------------------------------------------------------===//

/// What a driver would refuse or a card would hang on, as a sentence.
static std::string checkRequest(const LaunchRequest &request,
                                LaunchState &state) {
  const Kernel &kernel = *request.kernel;
  const char *name = kernel.name.c_str();
  uint64_t items = request.workgroupSize.count();
  if (items == 0 || items > kernel.maxWorkgroupSize)
    return format("kernel '%s': a workgroup of %" PRIu64
                  " work-items; it was compiled for at most %u",
                  name, items, kernel.maxWorkgroupSize);
  if (state.ldsSize > kMaxLds)
    return format("kernel '%s': %u bytes of LDS; there are %u", name,
                  state.ldsSize, kMaxLds);
  if (state.entry == Program::kNoInstruction)
    return format("kernel '%s': its entry is not an instruction", name);
  for (const KernelArgument &argument : kernel.arguments)
    if (!argument.isHidden() &&
        uint64_t(argument.offset) + argument.size > request.arguments.size())
      return format("kernel '%s': %zu bytes of arguments; it reads %" PRIu64,
                    name, request.arguments.size(),
                    uint64_t(argument.offset) + argument.size);
  return "";
}

/// Kernels with ordered atomics run on one thread, in launch order.
std::string gist::sim::launch(const LaunchRequest &request, MemoryMap &memory,
                              const Config &config, Counters &counters) {
  const Kernel &kernel = *request.kernel;
  std::vector<uint8_t> kernarg = makeKernarg(request);
  DispatchPacket packet;
  const uint32_t sizes[3] = {request.workgroupSize.x, request.workgroupSize.y,
                             request.workgroupSize.z};
  const uint32_t groups[3] = {request.workgroups.x, request.workgroups.y,
                              request.workgroups.z};
  for (unsigned axis = 0; axis < 3; ++axis) {
    packet.workgroupSize[axis] = static_cast<uint16_t>(sizes[axis]);
    packet.gridSize[axis] = sizes[axis] * groups[axis];
  }
  packet.kernarg = reinterpret_cast<uintptr_t>(kernarg.data());

  // With preloaded arguments the hardware enters behind the 256 bytes that
  // load them for firmware that cannot.
  uint64_t entry = kernel.entry + (kernel.preload & 0x7f ? 256 : 0);
  // A kernel that calls functions through pointers does not know its stack. The
  // size is ours; an overflow is reported.
  constexpr uint32_t kStackForCalls = 16384;
  bool hasDynamicStack =
      kernel.properties >> hsa::KERNEL_CODE_PROPERTY_USES_DYNAMIC_STACK_SHIFT &
      1;
  LaunchState state = {
      request,
      memory,
      config,
      kernarg,
      packet,
      kernel.program->indexAt(entry),
      llvm::SaturatingAdd(kernel.ldsSize, request.dynamicLds),
      std::max(kernel.scratchSize, hasDynamicStack ? kStackForCalls : 0),
      static_cast<uint32_t>((request.workgroupSize.count() + kLanes - 1) /
                            kLanes)};
  if (std::string problem = checkRequest(request, state); !problem.empty())
    return problem;
  // The kernel reads both through pointers.
  memory.add(kernarg.data(), kernarg.size());
  memory.add(&packet, sizeof(packet));

  uint64_t total = request.workgroups.count();
  // Workgroups are handed out in launch order, so those before the first
  // failure have all begun. They run to their end: an earlier one may still
  // fail.
  std::atomic<uint64_t> nextGroup = 0, firstFailed = ~uint64_t(0);
  std::mutex mutex;
  std::string error;
  auto work = [&] {
    auto group = std::make_unique<Workgroup>();
    group->kernel = &kernel;
    group->memory = &memory;
    group->config = &config;
    for (;;) {
      uint64_t number = nextGroup++;
      // Whatever comes after a failure would not be reported.
      if (number >= total || number > firstFailed)
        break;
      group->id[0] = static_cast<uint32_t>(number % groups[0]);
      group->id[1] = static_cast<uint32_t>(number / groups[0] % groups[1]);
      group->id[2] = static_cast<uint32_t>(number / groups[0] / groups[1]);
      runWorkgroup(state, *group);
      if (!group->error.empty()) {
        std::lock_guard lock(mutex);
        if (number < firstFailed) {
          firstFailed = number;
          error = group->error;
        }
      }
    }
    std::lock_guard lock(mutex);
    counters.add(group->counters);
  };
  // hardware_concurrency may be 0; the clamp below makes it 1.
  unsigned threads =
      config.threads ? config.threads : std::thread::hardware_concurrency();
  if (kernel.ordered)
    threads = 1; // Atomics whose order shows are done in launch order.
  threads = static_cast<unsigned>(
      std::clamp<uint64_t>(threads, 1, std::max<uint64_t>(total, 1)));
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  memory.remove(kernarg.data());
  memory.remove(&packet);
  return error;
}
