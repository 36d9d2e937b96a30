//===- GpuLoops.cpp - The main loops of kernels ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the innermost loops with matrix instructions are made of, and how well
// loads are hidden behind them. All of it is read off the machine code.
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
#include <set>

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

/// All other instructions count as scalar: salu, branches, other waits.
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
      // Only the last iteration counts: by then the pipeline is full.
      distance.reset();
      for (const GpuInstruction &inst : body)
        step(inst);
    }
    return distance;
  }

private:
  using Value = std::optional<int>;

  /// The latest of all parts of a register tuple.
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
    // Operands behind the definitions are sources.
    for (unsigned i = numDefs; i < inst.inst.getNumOperands(); ++i)
      if (const llvm::MCOperand &operand = inst.inst.getOperand(i);
          operand.isReg() && operand.getReg()) {
        sources.push_back(getRegister(operand.getReg()));
        latest = std::max(latest, sources.back());
      }
    bool readsMemory = isVectorMemory(inst) && name.contains("load");
    if (name == "s_barrier") {
      // What was written before the barrier can be read from now on.
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
    // The closest pair of a load and its product is what may stall.
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
      // As above, the last iteration is what the loop does when it runs
      // steadily.
      smallest.reset();
      for (const GpuInstruction &inst : body)
        step(inst);
    }
    return smallest;
  }

private:
  /// How many matrix instructions there were when it was issued.
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

  /// Loads and stores share the counter and end in order, so the oldest are
  /// done first.
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
  // The loop is unrolled in time: what the last iteration leaves in flight
  // delays the next.
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

namespace {
/// Instructions from one that is jumped to, up to one that jumps.
struct CodeBlock {
  size_t first, last;
  std::vector<size_t> next; ///< blocks that may follow
};

/// The loops of a kernel, each with all that can be executed between two visits
/// of where it begins. What stands in the middle of it may belong to no loop,
/// and what belongs to it may stand elsewhere.
class LoopFinder {
public:
  LoopFinder(Instructions code, const GpuInstructionSet &isa)
      : code(code), isa(isa) {
    findBlocks();
    state.resize(blocks.size());
    visit();
  }

  /// The blocks of loops that no other begins inside of, in the order of their
  /// addresses.
  std::vector<std::set<size_t>> getInnermost() const {
    std::vector<std::set<size_t>> found;
    for (const auto &[head, body] : loops)
      if (llvm::none_of(loops, [&, head = head, &body = body](auto &other) {
            return other.first != head && body.count(other.first);
          }))
        found.push_back(body);
    llvm::sort(found, [](auto &a, auto &b) { return *a.begin() < *b.begin(); });
    return found;
  }

  std::vector<GpuInstruction> getCode(const std::set<size_t> &body) const {
    std::vector<GpuInstruction> instructions;
    for (size_t block : body)
      llvm::append_range(instructions, code.slice(blocks[block].first,
                                                  blocks[block].last -
                                                      blocks[block].first + 1));
    return instructions;
  }

private:
  /// Index of the instruction that the branch at `index` goes to.
  std::optional<size_t> getTarget(size_t index) const {
    const GpuInstruction &branch = code[index];
    uint64_t address = 0;
    if (!isa.instructions->get(branch.inst.getOpcode()).isBranch() ||
        !isa.analysis->evaluateBranch(branch.inst, branch.address, /*Size=*/4,
                                      address))
      return std::nullopt;
    auto target = llvm::lower_bound(
        code, address, [](const GpuInstruction &inst, uint64_t value) {
          return inst.address < value;
        });
    return target - code.begin();
  }

  /// A block ends at a branch or at s_endpgm, and before what is branched to.
  void findBlocks() {
    std::map<size_t, std::optional<size_t>> targets; ///< of what ends a block
    std::set<size_t> firsts = {0};
    for (size_t i = 0; i < code.size(); ++i) {
      std::optional<size_t> target = getTarget(i);
      if (!target && code[i].mnemonic != "s_endpgm")
        continue;
      targets[i] = target;
      firsts.insert(i + 1);
      if (target)
        firsts.insert(*target);
    }
    std::map<size_t, size_t> numbers;
    for (size_t first : firsts)
      if (first < code.size())
        numbers.emplace(first, numbers.size());
    for (auto it = firsts.begin(); it != firsts.end() && *it < code.size();
         ++it) {
      auto after = std::next(it);
      size_t end = after == firsts.end() ? code.size() : *after;
      CodeBlock &block = blocks.emplace_back(CodeBlock{*it, end - 1, {}});
      auto jump = targets.find(block.last);
      // Conditional branches may fall through; s_branch and s_endpgm do not.
      bool goesOn = jump == targets.end() ||
                    (jump->second && code[block.last].mnemonic != "s_branch");
      if (goesOn && numbers.count(end))
        block.next.push_back(numbers[end]);
      if (jump != targets.end() && jump->second && numbers.count(*jump->second))
        block.next.push_back(numbers[*jump->second]);
    }
  }

  /// Goes through all blocks in depth. A way back to one that is being visited
  /// closes a loop; compilers write no others.
  void visit() {
    if (blocks.empty())
      return;
    std::vector<std::vector<size_t>> before(blocks.size());
    for (auto [i, block] : llvm::enumerate(blocks))
      for (size_t next : block.next)
        before[next].push_back(i);
    std::vector<std::pair<size_t, size_t>> stack = {{0, 0}};
    state[0] = State::Open;
    while (!stack.empty()) {
      auto &[block, position] = stack.back();
      if (position == blocks[block].next.size()) {
        state[block] = State::Done;
        stack.pop_back();
        continue;
      }
      size_t next = blocks[block].next[position++];
      if (state[next] == State::Open)
        close(next, block, before);
      else if (state[next] == State::New) {
        state[next] = State::Open;
        stack.emplace_back(next, 0);
      }
    }
  }

  /// Adds what leads to `tail` without `head` to the loop that begins there.
  void close(size_t head, size_t tail,
             llvm::ArrayRef<std::vector<size_t>> before) {
    std::set<size_t> &body = loops[head];
    body.insert(head);
    std::vector<size_t> open = {tail};
    while (!open.empty()) {
      size_t block = open.back();
      open.pop_back();
      // The head is in the body from the start, so the way back ends there.
      if (body.insert(block).second)
        llvm::append_range(open, before[block]);
    }
  }

  enum class State : uint8_t { New, Open, Done };

  Instructions code;
  const GpuInstructionSet &isa;
  std::vector<CodeBlock> blocks;
  std::vector<State> state;
  std::map<size_t, std::set<size_t>> loops; ///< by where they begin
};
} // namespace

/// The innermost loops that multiply matrices, in the order of their addresses.
std::vector<MainLoop> gist::findMainLoops(const GpuKernelCode &kernel,
                                          const GpuInstructionSet &isa) {
  LoopFinder finder(kernel.instructions, isa);
  std::vector<MainLoop> loops;
  for (const std::set<size_t> &blocks : finder.getInnermost()) {
    std::vector<GpuInstruction> body = finder.getCode(blocks);
    // Loops that only move or reduce are not main loops.
    if (llvm::none_of(body, isMatrix))
      continue;
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
