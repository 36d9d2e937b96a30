//===- GpuReport.cpp - What the kernels of a GPU take ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --report=resources: registers, memory and occupancy of kernels and what their
// main loops are made of, as tables or as JSON.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/GpuReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace gist;

/// What a compute unit of gfx942 has, from the ISA manual.
static constexpr uint64_t kWaveSize = 64;
static constexpr uint64_t kSimds = 4;
static constexpr uint64_t kVectorRegisters = 512, kVectorGranule = 8;
static constexpr uint64_t kMaxWavesPerSimd = 8;
static constexpr uint64_t kMaxWorkgroups = 16; ///< of more than one wave
static constexpr uint64_t kWorkgroupMemory = 65536, kMemoryGranule = 512;

/// A wave that asks for more scalar registers leaves room for seven.
static constexpr uint64_t kScalarRegistersOfEight = 100;

/// Waves that fit on a SIMD at a time, by each resource; the scarcest decides.
static double getWavesPerSimd(const GpuKernelCode &kernel) {
  // vgprs counts the accumulation registers too: one file for both.
  uint64_t vectors =
      std::max(llvm::alignTo(kernel.vgprs, kVectorGranule), kVectorGranule);
  uint64_t waves = std::min(kMaxWavesPerSimd, kVectorRegisters / vectors);
  if (kernel.sgprs > kScalarRegistersOfEight)
    waves = std::min(waves, kMaxWavesPerSimd - 1);
  uint64_t wavesOfGroup =
      std::max<uint64_t>(llvm::divideCeil(kernel.threads, kWaveSize), 1);
  // Workgroups are placed whole.
  uint64_t groups = waves * kSimds / wavesOfGroup;
  if (wavesOfGroup > 1)
    groups = std::min(groups, kMaxWorkgroups);
  if (kernel.workgroupMemory != 0)
    groups = std::min(groups,
                      kWorkgroupMemory / llvm::alignTo(kernel.workgroupMemory,
                                                       kMemoryGranule));
  return static_cast<double>(groups * wavesOfGroup) / kSimds;
}

llvm::Expected<std::vector<KernelReport>>
gist::inspectCodeObject(llvm::StringRef bytes) {
  GpuInstructionSet isa;
  auto kernels = readCodeObject(bytes, isa);
  if (!kernels)
    return kernels.takeError();
  std::vector<KernelReport> reports;
  for (GpuKernelCode &kernel : *kernels) {
    KernelReport &report = reports.emplace_back();
    report.loops = findMainLoops(kernel, isa);
    report.wavesPerSimd = getWavesPerSimd(kernel);
    report.code = std::move(kernel);
  }
  return reports;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

using Table = std::vector<std::vector<std::string>>;

/// Rows in columns: the first to the left, numbers to the right.
static void printTable(const Table &rows, llvm::raw_ostream &out) {
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    out << llvm::left_justify(row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i)
      out << "  " << llvm::right_justify(row[i], widths[i]);
    out << "\n";
  }
}

static std::string number(double value, const char *format = "%.0f") {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

/// A dash where nothing was found.
static std::string number(std::optional<unsigned> value) {
  return value ? std::to_string(*value) : "-";
}

/// For people; the text below the tables explains the columns.
std::string gist::printReport(llvm::ArrayRef<KernelReport> kernels) {
  Table resources = {{"kernel", "threads", "vgpr", "agpr", "sgpr", "lds",
                      "scratch", "spills", "waves/simd"}};
  Table loops = {{"main loop", "mfma", "lds", "vmem", "valu", "salu", "waits",
                  "barriers", "mfma/barrier", "ahead", "mfma/load", "cycles",
                  "mfma busy"}};
  for (const KernelReport &kernel : kernels) {
    const GpuKernelCode &code = kernel.code;
    resources.push_back(
        {code.name, std::to_string(code.threads), std::to_string(code.vgprs),
         std::to_string(code.agprs), std::to_string(code.sgprs),
         std::to_string(code.workgroupMemory), std::to_string(code.scratch),
         std::to_string(code.vgprSpills + code.sgprSpills),
         number(kernel.wavesPerSimd, "%g")});
    for (const MainLoop &loop : kernel.loops) {
      const InstructionMix &mix = loop.mix;
      loops.push_back(
          {code.name, std::to_string(mix.matrix), std::to_string(mix.lds),
           std::to_string(mix.vmem), std::to_string(mix.valu),
           std::to_string(mix.salu), std::to_string(mix.waits),
           std::to_string(mix.barriers),
           mix.barriers ? number(double(mix.matrix) / mix.barriers, "%g") : "-",
           number(loop.stagesAhead), number(loop.matrixPerLoad),
           number(loop.cycles), number(100 * loop.getUtilisation()) + "%"});
    }
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  printTable(resources, out);
  out << "\nvgpr counts agpr too; lds and scratch are bytes.\n";
  if (loops.size() == 1)
    return text;
  out << "\n";
  printTable(loops, out);
  out << "\nInstructions of one iteration of the innermost loops that multiply"
         " matrices.\n"
         "ahead: iterations from a load of global memory to the matrix"
         " instruction it feeds.\n"
         "mfma/load: matrix instructions between such a load and the wait for"
         " it, at least.\n"
         "cycles, mfma busy: llvm-mca's estimate. It models one wave with fixed"
         " latencies;\n"
         "other waves of a SIMD fill the time in which this one waits.\n";
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value toJson(const MainLoop &loop) {
  const InstructionMix &mix = loop.mix;
  llvm::json::Object object{{"begin", loop.begin},
                            {"end", loop.end},
                            {"mfma", mix.matrix},
                            {"lds", mix.lds},
                            {"vmem", mix.vmem},
                            {"valu", mix.valu},
                            {"salu", mix.salu},
                            {"waits", mix.waits},
                            {"barriers", mix.barriers},
                            {"cycles", loop.cycles},
                            {"mfma_cycles", loop.matrixCycles},
                            {"mfma_utilisation", loop.getUtilisation()}};
  if (loop.stagesAhead)
    object["stages_ahead"] = *loop.stagesAhead;
  if (loop.matrixPerLoad)
    object["mfma_per_load"] = *loop.matrixPerLoad;
  return object;
}

llvm::json::Value gist::toJson(llvm::ArrayRef<KernelReport> kernels) {
  llvm::json::Array list;
  for (const KernelReport &kernel : kernels) {
    const GpuKernelCode &code = kernel.code;
    llvm::json::Array loops;
    for (const MainLoop &loop : kernel.loops)
      loops.push_back(::toJson(loop));
    list.push_back(llvm::json::Object{{"name", code.name},
                                      {"threads", code.threads},
                                      {"vgpr", code.vgprs},
                                      {"agpr", code.agprs},
                                      {"sgpr", code.sgprs},
                                      {"lds", code.workgroupMemory},
                                      {"scratch", code.scratch},
                                      {"vgpr_spills", code.vgprSpills},
                                      {"sgpr_spills", code.sgprSpills},
                                      {"waves_per_simd", kernel.wavesPerSimd},
                                      {"loops", std::move(loops)}});
  }
  return list;
}
