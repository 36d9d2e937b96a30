//===- GpuLoops.cpp - The main loops of kernels ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/GpuLoops.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/HWEventListener.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/MCA/SourceMgr.h"

#include <deque>
#include <map>

using namespace gist;
namespace mca = llvm::mca;
using Instructions = llvm::ArrayRef<GpuInstruction>;

static bool isMatrix(const GpuInstruction &inst) {
  llvm::StringRef name = inst.mnemonic;
  return name.starts_with("v_mfma") || name.starts_with("v_smfmac");
}

static bool isVectorMemory(const GpuInstruction &inst) {
  llvm::StringRef name = inst.mnemonic;
  return name.starts_with("global_") || name.starts_with("buffer_") ||
         name.starts_with("flat_") || name.starts_with("scratch_");
}

static InstructionMix count(Instructions body) {
  InstructionMix mix;
  for (const GpuInstruction &inst : body) {
    llvm::StringRef name = inst.mnemonic;
    if (isMatrix(inst))
      ++mix.matrix;
    else if (isVectorMemory(inst))
      ++mix.vmem;
    else if (name.starts_with("ds_"))
      ++mix.lds;
    else if (name.starts_with("v_"))
      ++mix.valu;
    else if (name == "s_waitcnt")
      ++mix.waits;
    else if (name == "s_barrier")
      ++mix.barriers;
    else
      ++mix.salu;
  }
  return mix;
}

//===----------------------------------------------------------------------===//
// How far ahead loads are
//===----------------------------------------------------------------------===//

namespace {
/// Follows what is loaded from global memory, through registers and workgroup
/// memory, to the matrix instructions, iteration by iteration. A value is the
/// iteration of the latest load that is in it. Workgroup memory is one value:
/// with more buffers there than two, loads are further ahead than it finds.
class LoadFlow {
public:
  LoadFlow(Instructions body, const GpuInstructionSet &isa)
      : body(body), isa(isa),
        hasBarrier(llvm::any_of(body, [](const GpuInstruction &inst) {
          return inst.mnemonic == "s_barrier";
        })) {}

  std::optional<unsigned> run() {
    // Enough for values to reach the last matrix instruction from any stage.
    constexpr int kIterations = 16;
    for (iteration = 0; iteration < kIterations; ++iteration) {
      distance.reset();
      for (const GpuInstruction &inst : body)
        step(inst);
    }
    return distance;
  }

private:
  using Value = std::optional<int>;

  Value getRegister(llvm::MCRegister reg) {
    Value latest;
    for (llvm::MCRegUnit unit : isa.registers->regunits(reg))
      if (auto known = values.find(unit); known != values.end())
        latest = std::max(latest, known->second);
    return latest;
  }

  void setRegister(llvm::MCRegister reg, Value value) {
    for (llvm::MCRegUnit unit : isa.registers->regunits(reg))
      values[unit] = value;
  }

  void step(const GpuInstruction &inst) {
    llvm::StringRef name = inst.mnemonic;
    unsigned numDefs =
        isa.instructions->get(inst.inst.getOpcode()).getNumDefs();
    Value latest;
    llvm::SmallVector<Value> sources;
    for (unsigned i = numDefs; i < inst.inst.getNumOperands(); ++i)
      if (const llvm::MCOperand &operand = inst.inst.getOperand(i);
          operand.isReg() && operand.getReg()) {
        sources.push_back(getRegister(operand.getReg()));
        latest = std::max(latest, sources.back());
      }
    bool readsMemory = isVectorMemory(inst) && name.contains("load");
    if (name == "s_barrier") {
      if (pending)
        visible = std::exchange(pending, std::nullopt);
    } else if (isMatrix(inst)) {
      // Sums carry what earlier iterations multiplied: only factors count.
      for (Value factor : llvm::ArrayRef(sources).take_front(2))
        if (factor)
          noteDistance(*factor);
    } else if (readsMemory) {
      latest = iteration;
      if (name.contains("lds") || numDefs == 0) // Straight to workgroup memory.
        write(latest);
    } else if (name.starts_with("ds_read")) {
      latest = visible;
    } else if (name.starts_with("ds_write")) {
      write(latest);
    }
    for (unsigned i = 0; i < numDefs; ++i)
      if (inst.inst.getOperand(i).isReg())
        setRegister(inst.inst.getOperand(i).getReg(), latest);
  }

  /// Other waves see it after a barrier; a wave without others at once.
  void write(Value value) {
    Value &place = hasBarrier ? pending : visible;
    place = std::max(place, value);
  }

  void noteDistance(int loaded) {
    unsigned since = iteration - loaded;
    distance = distance ? std::min(*distance, since) : since;
  }

  Instructions body;
  const GpuInstructionSet &isa;
  bool hasBarrier;
  int iteration = 0;
  std::map<llvm::MCRegUnit, Value> values;
  Value visible, pending; ///< in workgroup memory, and written since a barrier
  std::optional<unsigned> distance;
};

/// Follows the counter of vector memory operations, which end in order, to the
/// waits for them.
class LoadWaits {
public:
  explicit LoadWaits(Instructions body) : body(body) {}

  std::optional<unsigned> run() {
    constexpr int kIterations = 8;
    for (int i = 0; i < kIterations; ++i) {
      smallest.reset();
      for (const GpuInstruction &inst : body)
        step(inst);
    }
    return smallest;
  }

private:
  struct Operation {
    bool isLoad;
    unsigned matrixBefore;
  };

  void step(const GpuInstruction &inst) {
    if (isMatrix(inst))
      ++matrixCount;
    else if (isVectorMemory(inst))
      inFlight.push_back(
          {StringRef(inst.mnemonic).contains("load"), matrixCount});
    else if (inst.mnemonic == "s_waitcnt")
      wait(inst.inst.getOperand(0).getImm());
  }

  void wait(uint64_t counters) {
    // vmcnt is in bits 3:0 and 15:14.
    uint64_t allowed = (counters & 15) | (counters >> 10 & 0x30);
    while (inFlight.size() > allowed) {
      Operation done = inFlight.front();
      inFlight.pop_front();
      if (!done.isLoad)
        continue;
      unsigned between = matrixCount - done.matrixBefore;
      smallest = smallest ? std::min(*smallest, between) : between;
    }
  }

  using StringRef = llvm::StringRef;
  Instructions body;
  unsigned matrixCount = 0;
  std::deque<Operation> inFlight;
  std::optional<unsigned> smallest;
};

//===----------------------------------------------------------------------===//
// llvm-mca
//===----------------------------------------------------------------------===//

/// Adds up the cycles of one resource of the scheduling model.
class ResourceCycles final : public mca::HWEventListener {
public:
  explicit ResourceCycles(unsigned resource) : resource(resource) {}

  void onEvent(const mca::HWInstructionEvent &event) override {
    if (event.Type != mca::HWInstructionEvent::Issued)
      return;
    const auto &issued =
        static_cast<const mca::HWInstructionIssuedEvent &>(event);
    for (const mca::ResourceUse &use : issued.UsedResources)
      if (use.first.first == resource)
        cycles += use.second.getNumerator() / use.second.getDenominator();
  }

  unsigned resource;
  double cycles = 0;
};
} // namespace

/// The matrix unit's number in the scheduling model.
static unsigned findMatrixUnit(const llvm::MCSchedModel &model) {
  for (unsigned i = 1; i < model.getNumProcResourceKinds(); ++i)
    if (llvm::StringRef(model.getProcResource(i)->Name) == "HWXDL")
      return i;
  return 0;
}

/// Simulates one wave that runs the loop by itself. Nothing is estimated where
/// the model lacks an instruction.
static void estimate(Instructions body, const GpuInstructionSet &isa,
                     MainLoop &loop) {
  constexpr unsigned kIterations = 32;
  mca::InstrumentManager instruments(*isa.subtarget, *isa.instructions);
  mca::InstrBuilder builder(*isa.subtarget, *isa.instructions, *isa.registers,
                            isa.analysis.get(), instruments,
                            /*CallLatency=*/100);
  std::unique_ptr<mca::InstrPostProcess> post(
      isa.target->createInstrPostProcess(*isa.subtarget, *isa.instructions));
  std::vector<std::unique_ptr<mca::Instruction>> sequence;
  for (const GpuInstruction &inst : body) {
    // The disassembler leaves out modifiers at the end that have no bits; the
    // model counts operands.
    llvm::MCInst whole = inst.inst;
    unsigned count = isa.instructions->get(whole.getOpcode()).getNumOperands();
    while (whole.getNumOperands() < count)
      whole.addOperand(llvm::MCOperand::createImm(0));
    auto made = builder.createInstruction(whole, {});
    if (!made) {
      llvm::consumeError(made.takeError());
      return;
    }
    if (post)
      post->postProcessInstruction(**made, whole);
    sequence.push_back(std::move(*made));
  }
  mca::CircularSourceMgr source(sequence, kIterations);
  std::unique_ptr<mca::CustomBehaviour> behaviour(
      isa.target->createCustomBehaviour(*isa.subtarget, source,
                                        *isa.instructions));
  mca::Context context(*isa.registers, *isa.subtarget);
  mca::PipelineOptions options(0, 0, 0, 0, 0, 0, /*NoAlias=*/true);
  std::unique_ptr<mca::Pipeline> pipeline =
      context.createDefaultPipeline(options, source, *behaviour);
  ResourceCycles matrix(findMatrixUnit(isa.subtarget->getSchedModel()));
  pipeline->addEventListener(&matrix);
  llvm::Expected<unsigned> cycles = pipeline->run();
  if (!cycles) {
    llvm::consumeError(cycles.takeError());
    return;
  }
  loop.cycles = static_cast<double>(*cycles) / kIterations;
  loop.matrixCycles = matrix.cycles / kIterations;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Index of the instruction that the branch at `index` goes back to, if it
/// does.
static std::optional<size_t> getBackwardTarget(Instructions code, size_t index,
                                               const GpuInstructionSet &isa) {
  const GpuInstruction &branch = code[index];
  if (!isa.instructions->get(branch.inst.getOpcode()).isBranch())
    return std::nullopt;
  uint64_t address = 0;
  if (!isa.analysis->evaluateBranch(branch.inst, branch.address, /*Size=*/4,
                                    address) ||
      address > branch.address)
    return std::nullopt;
  auto target = llvm::lower_bound(
      code, address, [](const GpuInstruction &inst, uint64_t value) {
        return inst.address < value;
      });
  return target - code.begin();
}

std::vector<MainLoop> gist::findMainLoops(const GpuKernelCode &kernel,
                                          const GpuInstructionSet &isa) {
  Instructions code = kernel.instructions;
  std::vector<std::pair<size_t, size_t>> ranges; ///< first, last
  for (size_t last = 0; last < code.size(); ++last)
    if (std::optional<size_t> first = getBackwardTarget(code, last, isa))
      if (llvm::any_of(code.slice(*first, last - *first + 1), isMatrix))
        ranges.emplace_back(*first, last);
  std::vector<MainLoop> loops;
  for (auto [first, last] : ranges) {
    // One that begins inside is inside, even if some of it stands behind: the
    // way back may leave from the middle of it.
    bool isInnermost = llvm::none_of(ranges, [&](const auto &other) {
      return other.first == first ? other.second < last
                                  : other.first > first && other.first <= last;
    });
    if (!isInnermost)
      continue;
    Instructions body = code.slice(first, last - first + 1);
    MainLoop &loop = loops.emplace_back();
    loop.begin = body.front().address;
    loop.end = body.back().address;
    loop.mix = count(body);
    loop.stagesAhead = LoadFlow(body, isa).run();
    loop.matrixPerLoad = LoadWaits(body).run();
    estimate(body, isa, loop);
  }
  return loops;
}
