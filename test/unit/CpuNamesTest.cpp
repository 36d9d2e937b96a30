//===- CpuNamesTest.cpp - Every CPU that LLVM has a name for --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a product of 8-bit integers between rows of f16 for every CPU name
// of LLVM, and looks at what the code says it needs.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Driver/Registration.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Target/CompileCpu.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Target/X86Features.h"
#include "runtime/format/CpuFeatures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace gist;

/// Features of LLVM 22 that bring no instructions: costs, orders and
/// preferences, versions of an architecture and CPUs, which only stand for
/// other features, registers that are kept free, and modes.
static constexpr const char *kPlainOfAarch64 =
    "a320 a35 a510 a520 a520ae a53 a55 a57 a64fx a65 a710 a715 a72 a720 "
    "a720ae a73 a75 a76 a77 a78 a78ae a78c addr-lsl-slow-14 aggressive-fma "
    "aggressive-interleaving all alternate-sextload-cvt-f32-pattern "
    "alu-lsl-fast ampere1 ampere1a ampere1b ampere1c apple-a10 apple-a11 "
    "apple-a12 apple-a13 apple-a14 apple-a15 apple-a16 apple-a17 apple-a7 "
    "apple-m4 apple-m5 arith-bcc-fusion arith-cbz-fusion "
    "ascend-store-address avoid-ldapur balance-fp-ops c1-nano c1-premium "
    "c1-pro c1-ultra call-saved-x10 call-saved-x11 call-saved-x12 "
    "call-saved-x13 call-saved-x14 call-saved-x15 call-saved-x18 "
    "call-saved-x8 call-saved-x9 carmel cmp-bcc-fusion cortex-a725 "
    "cortex-r82 cortex-r82ae cortex-x1 cortex-x2 cortex-x3 cortex-x4 "
    "cortex-x925 crypto disable-fast-inc-vl disable-latency-sched-heuristic "
    "disable-ldp disable-maximize-scalable-bandwidth disable-stp "
    "disable-unpredicated-ld-st-lower enable-select-opt execute-only "
    "exynos-cheap-as-move exynosm3 exynosm4 falkor fix-cortex-a53-835769 "
    "fmv force-32bit-jump-tables fujitsu-monaka fuse-address "
    "fuse-addsub-2reg-const1 fuse-adrp-add fuse-aes fuse-arith-logic "
    "fuse-crypto-eor fuse-csel fuse-cset fuse-literals harden-sls-blr "
    "harden-sls-nocomdat harden-sls-retbr kryo ldp-aligned-only "
    "max-interleave-factor-4 neoverse512tvb neoversee1 neoversen1 "
    "neoversen2 neoversen3 neoversev1 neoversev2 neoversev3 neoversev3AE "
    "no-bti-at-return-twice no-neg-immediates no-sve-fp-ld1r no-zcz-fpr64 "
    "olympus oryon-1 outline-atomics predictable-select-expensive "
    "reserve-lr-for-ra reserve-x1 reserve-x10 reserve-x11 reserve-x12 "
    "reserve-x13 reserve-x14 reserve-x15 reserve-x18 reserve-x2 reserve-x20 "
    "reserve-x21 reserve-x22 reserve-x23 reserve-x24 reserve-x25 "
    "reserve-x26 reserve-x27 reserve-x28 reserve-x3 reserve-x4 reserve-x5 "
    "reserve-x6 reserve-x7 reserve-x9 saphira slow-misaligned-128store "
    "slow-paired-128 slow-strqro-store store-pair-suppress stp-aligned-only "
    "strict-align sve2-aes sve2-bitperm sve2-sha3 sve2-sm4 tagged-globals "
    "thunderx thunderx2t99 thunderx3t110 thunderxt81 thunderxt83 "
    "thunderxt88 tpidr-el1 tpidr-el2 tpidr-el3 tpidrro-el0 tsv110 "
    "use-experimental-zeroing-pseudos use-fixed-over-scalable-if-equal-cost "
    "use-postra-scheduler use-reciprocal-square-root use-wzr-to-vec-move "
    "v8.1a v8.2a v8.3a v8.4a v8.5a v8.6a v8.7a v8.8a v8.9a v8a v8r v9.1a "
    "v9.2a v9.3a v9.4a v9.5a v9.6a v9.7a v9a zcm-fpr128 zcm-fpr32 zcm-fpr64 "
    "zcm-gpr32 zcm-gpr64 zcz-fp-workaround zcz-fpr128 zcz-gpr32 zcz-gpr64 ";
static constexpr const char *kPlainOfX86 =
    "16bit-mode evex512 32bit-mode 64bit-mode allow-light-256-bit branch-hint "
    "branchfusion ermsb false-deps-getmant false-deps-lzcnt-tzcnt "
    "false-deps-mulc false-deps-mullq false-deps-perm false-deps-popcnt "
    "false-deps-range fast-11bytenop fast-15bytenop fast-7bytenop "
    "fast-bextr fast-dpwssd fast-gather fast-hops fast-imm16 fast-lzcnt "
    "fast-movbe fast-scalar-fsqrt fast-scalar-shift-masks fast-shld-rotate "
    "fast-variable-crosslane-shuffle fast-variable-perlane-shuffle "
    "fast-vector-fsqrt fast-vector-shift-masks faster-shift-than-shuffle "
    "fsrm harden-sls-ijmp harden-sls-ret idivl-to-divb idivq-to-divl "
    "inline-asm-use-gpr32 lea-sp lea-uses-ag lvi-cfi lvi-load-hardening "
    "macrofusion no-bypass-delay no-bypass-delay-blend no-bypass-delay-mov "
    "no-bypass-delay-shuffle nopl pad-short-functions prefer-128-bit "
    "prefer-256-bit prefer-legacy-setcc prefer-mask-registers "
    "prefer-movmsk-over-vtest prefer-no-gather prefer-no-scatter retpoline "
    "retpoline-external-thunk retpoline-indirect-branches "
    "retpoline-indirect-calls sbb-dep-breaking seses slow-3ops-lea "
    "slow-incdec slow-lea slow-pmaddwd slow-pmulld slow-pmullq slow-shld "
    "slow-two-mem-ops slow-unaligned-mem-16 slow-unaligned-mem-32 "
    "soft-float sse-unaligned-mem tagged-globals "
    "tuning-fast-imm-vector-shift use-glm-div-sqrt-costs "
    "use-slm-arith-costs vzeroupper x32 ";

static const char *const kTriples[] = {"aarch64-linux-gnu", "x86_64-linux-gnu"};

static StringRef architectureOf(StringRef triple) {
  return triple.split('-').first;
}

static std::unique_ptr<llvm::MCSubtargetInfo>
getSubtarget(const CpuTarget &target) {
  auto ignore = [](const Twine &) {};
  (void)resolveTarget(target, ignore); // So that LLVM knows its targets.
  std::string message;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      backend->createMCSubtargetInfo(triple, target.cpu, target.features));
}

// A newer LLVM's new features must be added to the table or the list.
TEST(CpuFeatureTable, HasEveryFeature) {
  for (const char *triple : kTriples) {
    llvm::StringSet<> ours;
    for (std::string_view name : getKnownFeatures(architectureOf(triple)))
      EXPECT_TRUE(ours.insert(name).second) << name << " appears twice";
    for (std::string_view name : getHiddenFeatures(architectureOf(triple)))
      EXPECT_TRUE(ours.insert(name).second) << name << " appears twice";
    bool isX86 = llvm::Triple(triple).isX86();
    for (StringRef name : llvm::split(
             StringRef(isX86 ? kPlainOfX86 : kPlainOfAarch64).trim(), ' '))
      EXPECT_TRUE(ours.insert(name).second) << name.str() << " appears twice";
    llvm::StringSet<> theirs;
    for (const llvm::SubtargetFeatureKV &feature :
         getSubtarget({triple, "generic", ""})->getAllProcessorFeatures()) {
      theirs.insert(feature.Key);
      EXPECT_TRUE(ours.contains(feature.Key))
          << feature.Key << " (" << feature.Desc << ") of " << triple
          << " is not in runtime/format/CpuFeatures.def";
    }
    for (const auto &name : ours)
      EXPECT_TRUE(theirs.contains(name.first()))
          << "LLVM has no feature " << name.first().str();
  }
}

// As Intel's manual has it, volume 2, "CPUID feature flag" of each instruction.
TEST(X86Features, DependOnTheEncoding) {
  struct Case {
    const char *name;
    std::vector<uint8_t> bytes;
    std::vector<StringRef> needs;
  };
  const Case cases[] = {
      {"vpdpbusd", {0xc4, 0xe2, 0x6d, 0x50, 0xd9}, {"avxvnni"}},
      {"vpdpbusd",
       {0x62, 0xf2, 0x6d, 0x48, 0x50, 0xd9},
       {"avx512f", "avx512vnni"}},
      {"vpdpbusd",
       {0x62, 0xf2, 0x6d, 0x28, 0x50, 0xd9},
       {"avx512f", "avx512vnni", "avx512vl"}},
      {"vaddps", {0xc5, 0xec, 0x58, 0xd9}, {"avx"}},  // 32 bytes
      {"vpaddd", {0xc5, 0xe9, 0xfe, 0xd9}, {"avx"}},  // 16 bytes
      {"vpaddd", {0xc5, 0xed, 0xfe, 0xd9}, {"avx2"}}, // 32 bytes
      {"vptest", {0xc4, 0xe2, 0x7d, 0x17, 0xd1}, {"avx"}},
      {"vpaddd", {0x62, 0xf1, 0x6d, 0x48, 0xfe, 0xd9}, {"avx512f"}},
      {"vpaddd", {0x62, 0xe1, 0x6d, 0x28, 0xfe, 0xd9}, {"avx512f", "avx512vl"}},
      {"vpaddb", {0x62, 0xf1, 0x6d, 0x48, 0xfc, 0xd9}, {"avx512f", "avx512bw"}},
      // From memory, and from a register.
      {"vbroadcastss", {0xc4, 0xe2, 0x7d, 0x18, 0x08}, {"avx"}},
      {"vbroadcastss", {0xc4, 0xe2, 0x7d, 0x18, 0xca}, {"avx2"}},
      {"vcvtph2ps", {0xc4, 0xe2, 0x7d, 0x13, 0xd1}, {"f16c"}},
      {"vcvtph2ps", {0x62, 0xf2, 0x7d, 0x48, 0x13, 0xd1}, {"avx512f"}},
      {"vcvtph2psx",
       {0x62, 0xf6, 0x7d, 0x48, 0x13, 0xd1},
       {"avx512f", "avx512fp16"}},
      // One number; and a rounding mode where the length is elsewhere.
      {"vaddss", {0x62, 0xe1, 0x6e, 0x08, 0x58, 0xd9}, {"avx512f"}},
      {"vaddps", {0x62, 0xf1, 0x6c, 0x18, 0x58, 0xd9}, {"avx512f"}},
      {"vgf2p8affineqb", {0xc4, 0xe3, 0xe9, 0xce, 0xd9, 0x01}, {"gfni", "avx"}},
      {"vgf2p8affineqb",
       {0x62, 0xe3, 0xed, 0x28, 0xce, 0xd9, 0x01},
       {"avx512f", "gfni", "avx512vl"}},
      {"tdpbusd", {0xc4, 0xe2, 0x71, 0x5e, 0xda}, {"amx-tile", "amx-int8"}},
      {"tileloadd", {0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0x18}, {"amx-tile"}},
      {"kmovw", {0xc5, 0xf8, 0x93, 0xc1}, {"avx512f"}},
      {"kmovb", {0xc5, 0xf9, 0x93, 0xc1}, {"avx512dq"}},
      {"kmovq", {0xc4, 0xe1, 0xfb, 0x93, 0xc1}, {"avx512bw"}},
      {"lzcnt", {0xf3, 0x48, 0x0f, 0xbd, 0xd8}, {"lzcnt"}},
      {"shlx", {0xc4, 0xe2, 0xf9, 0xf7, 0xcb}, {"bmi2"}},
      {"pshufb", {0x66, 0x0f, 0x38, 0x00, 0xd1}, {"ssse3"}},
      {"addps", {0x0f, 0x58, 0xd1}, {"sse2"}},
      {"add", {0x48, 0x01, 0xc3}, {}},
      {"add", {0xd5, 0x48, 0x01, 0xc0}, {"egpr"}}, // r16
      // Memory at r16.
      {"vpdpbusd",
       {0x62, 0xfa, 0x6d, 0x48, 0x50, 0x18},
       {"avx512f", "avx512vnni", "egpr"}},
  };
  for (const Case &known : cases) {
    auto needs = getX86Features(known.name, known.bytes);
    ASSERT_TRUE(needs) << known.name;
    EXPECT_EQ(*needs, known.needs)
        << known.name << " " << llvm::toHex(known.bytes);
  }
  // Unknown instructions are not taken for old ones.
  EXPECT_FALSE(getX86Features("vteleport", {0xc5, 0xec, 0x58, 0xd9}));
  EXPECT_FALSE(getX86Features("teleport", {0x0f, 0x58, 0xd1}));
}

static constexpr const char *kGraph = R"(
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(m, n) -> (m, n)>
func.func @walk(%rows: tensor<?x64xf16> {gist.name = "rows"})
    -> (tensor<?x32xf16> {gist.name = "out"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %rows, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%t) : tensor<?x64xf32>
  %x = linalg.generic {indexing_maps = [#same, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?x64xf16>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f16, %out: f32):
    %f = arith.extf %in : f16 to f32
    linalg.yield %f : f32
  } -> tensor<?x64xf32>
  %w = gist.weight "w" : tensor<32x2x20xi8>
  %d = gist.dequantize %w format q4_1 : tensor<32x2x20xi8>
  %a = tensor.empty(%t) : tensor<?x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%a : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %d : tensor<?x64xf32>, tensor<32x64xf32>)
      outs(%z : tensor<?x32xf32>) -> tensor<?x32xf32>
  %h = tensor.empty(%t) : tensor<?x32xf16>
  %r = linalg.generic {indexing_maps = [#same, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x32xf32>) outs(%h : tensor<?x32xf16>) {
  ^bb0(%in: f32, %out: f16):
    %n = arith.negf %in : f32
    %s = math.exp %n : f32
    %f = arith.truncf %s : f32 to f16
    linalg.yield %f : f16
  } -> tensor<?x32xf16>
  return %r : tensor<?x32xf16>
}
)";

namespace {
class CpuNames : public testing::TestWithParam<CpuTarget> {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    graph = parseSourceString<ModuleOp>(kGraph, &context);
    ASSERT_TRUE(graph);
  }

  /// The kernels of the graph as the stages lower them for `target`.
  OwningOpRef<ModuleOp> lower(const CpuTarget &target) {
    OwningOpRef<ModuleOp> module = graph->clone();
    PassManager pm(&context);
    pm.enableVerifier(false);
    SetTargetPassOptions machine;
    machine.triple = target.triple;
    machine.cpu = target.cpu;
    machine.features = target.features;
    pm.addPass(createSetTargetPass(machine));
    GraphPipelineOptions options;
    options.int8 = true;
    buildGraphStage(pm, options);
    buildKernelStage(pm);
    buildTileStage(pm, CpuPipelineOptions());
    buildCpuStage(pm);
    EXPECT_TRUE(succeeded(pm.run(*module))) << target.cpu;
    return module;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> graph;
};
} // namespace

/// Switches off what `target` has and `used` neither has nor needs.
static CpuTarget keepOnly(const CpuTarget &target,
                          const std::vector<std::string> &used) {
  StringRef architecture = architectureOf(target.triple);
  // What the used features include.
  std::unique_ptr<llvm::MCSubtargetInfo> included =
      getSubtarget({target.triple, "generic", ""});
  for (const std::string &name : used)
    included->ApplyFeatureFlag("+" + name);
  CpuTarget result = target;
  for (const llvm::SubtargetFeatureKV &feature :
       getSubtarget(target)->getEnabledProcessorFeatures())
    if (llvm::is_contained(getKnownFeatures(architecture),
                           std::string_view(feature.Key)) &&
        !included->checkFeatures("+" + std::string(feature.Key)))
      result.features +=
          (result.features.empty() ? "-" : ",-") + std::string(feature.Key);
  return result;
}

/// Every name of LLVM, for both architectures.
static std::vector<CpuTarget> getNames() {
  std::vector<CpuTarget> names;
  for (const char *triple : kTriples)
    for (const llvm::SubtargetSubTypeKV &entry :
         getSubtarget({triple, "generic", ""})->getAllProcessorDescriptions())
      names.push_back({triple, entry.Key, ""});
  return names;
}

/// True for the first of the CPUs with the same features. The others differ in
/// the order of instructions alone.
static bool isFirst(const CpuTarget &target) {
  static std::set<std::string> seen;
  std::string features = target.triple;
  for (const llvm::SubtargetFeatureKV &feature :
       getSubtarget(target)->getEnabledProcessorFeatures())
    features += std::string(" ") + feature.Key;
  return seen.insert(features).second;
}

// What a name promises and the code does not use must not be asked for; what
// the code uses must be. The second half is seen by compiling once more with
// what was asked for and nothing else: LLVM then has no other instructions.
// Code that differs, because LLVM weighs what it has, asks for no more.
TEST_P(CpuNames, SaysWhatItNeeds) {
  const CpuTarget &target = GetParam();
  std::string message;
  FailureOr<TargetInfo> info =
      getTargetInfo(target, [&](const Twine &text) { message = text.str(); });
  if (failed(info)) {
    EXPECT_EQ(message, "'" + target.cpu +
                           "' is a 32-bit CPU; expected one that "
                           "executes x86-64 code");
    return;
  }
  if (!isFirst(target))
    return;
  OwningOpRef<ModuleOp> kernels = lower(target);
  FailureOr<CpuObject> object = emitCpuObject(*kernels, target);
  ASSERT_TRUE(succeeded(object));
  // No instruction needs this one: it is asked for where an instruction is not
  // in X86Instructions.def, and then everything is.
  EXPECT_FALSE(llvm::is_contained(object->features, "64bit"));
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget = getSubtarget(target);
  for (const std::string &name : object->features)
    EXPECT_TRUE(subtarget->checkFeatures("+" + name))
        << "asks for " << name << ", which it was not compiled with";
  FailureOr<CpuObject> again =
      emitCpuObject(*kernels, keepOnly(target, object->features));
  ASSERT_TRUE(succeeded(again));
  for (const std::string &name : again->features)
    EXPECT_TRUE(llvm::is_contained(object->features, name)) << name;
  // What the kernels were written with, and what no kernel has.
  auto asksFor = [&](StringRef name) {
    return llvm::is_contained(object->features, name);
  };
  if (StringRef(info->name) == "x86_64-avx512vnni")
    EXPECT_TRUE(asksFor("avx512vnni"));
  if (StringRef(info->name) == "x86_64-avxvnni")
    EXPECT_TRUE(asksFor("avxvnni"));
  if (StringRef(info->name).starts_with("aarch64-i8mm"))
    EXPECT_TRUE(asksFor("i8mm"));
  EXPECT_FALSE(asksFor("aes") || asksFor("rdrnd") || asksFor("crc"));
}

INSTANTIATE_TEST_SUITE_P(OfLlvm, CpuNames, testing::ValuesIn(getNames()),
                         [](const auto &info) {
                           std::string name =
                               architectureOf(info.param.triple).str() + "_";
                           for (char c : info.param.cpu)
                             name += llvm::isAlnum(c) ? std::string(1, c)
                                                      : std::string("_");
                           // Some names differ in such a character only.
                           return name + "_" + std::to_string(info.index);
                         });
