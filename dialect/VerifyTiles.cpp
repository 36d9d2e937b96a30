//===- VerifyTiles.cpp - What the numbers of a tile may be ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What holds of a choice whatever the kernel and the processor are. A tile may
// be written by hand, so generators rely on nothing else. What depends on the
// kernel or the processor is checked where the kernel's entry is.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gist;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

std::optional<MatrixShape> gist::getMatrixShape(Instruction instruction,
                                                Type element) {
  // A lane has a chunk of 16 bytes. On gfx942 the 64 lanes of a wave have the
  // rows of a fragment several times, each time with another chunk of them.
  auto getMfma = [&](int64_t size) {
    int64_t chunk = 128 / element.getIntOrFloatBitWidth();
    return MatrixShape{size, size, 64 / size * chunk};
  };
  switch (instruction) {
  case Instruction::Mfma32x32x8:
  case Instruction::Mfma32x32x16:
    return getMfma(32);
  case Instruction::Mfma16x16x16:
    return getMfma(16);
  case Instruction::Mma16x8x16: // Two of them are one fragment.
    return MatrixShape{16, 16, 16};
  case Instruction::Wgmma64x128x16: // Rows of a tile are swizzled by 128 bytes.
    return MatrixShape{64, 128, 1024 / element.getIntOrFloatBitWidth()};
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// What several families ask for
//===----------------------------------------------------------------------===//

namespace {
/// A number and what the attribute calls it, for messages.
struct Size {
  StringRef name;
  int64_t number;
};
} // namespace

static LogicalResult verifySizes(EmitError emitError, ArrayRef<Size> sizes) {
  for (const Size &size : sizes)
    if (size.number <= 0)
      return emitError() << "expects a positive number for " << size.name
                         << ", got " << size.number;
  return success();
}

static LogicalResult verifyPair(EmitError emitError, StringRef name,
                                ArrayRef<int64_t> pair) {
  if (pair.size() == 2 && pair[0] > 0 && pair[1] > 0)
    return success();
  return emitError() << "expects two positive numbers for " << name << ", got ["
                     << pair << "]";
}

static LogicalResult verifyPowerOfTwo(EmitError emitError, StringRef name,
                                      int64_t number) {
  if (number > 0 && llvm::isPowerOf2_64(number))
    return success();
  return emitError() << "expects a power of two for " << name << ", got "
                     << number;
}

static LogicalResult verifyMultiple(EmitError emitError, StringRef name,
                                    int64_t number, int64_t of) {
  if (number % of == 0)
    return success();
  return emitError() << "expects a multiple of " << of << " for " << name
                     << ", got " << number;
}

static LogicalResult verifyInstruction(EmitError emitError,
                                       Instruction instruction,
                                       ArrayRef<Instruction> allowed) {
  if (llvm::is_contained(allowed, instruction))
    return success();
  InFlightDiagnostic error = emitError();
  error << "expects one of the instructions ";
  llvm::interleaveComma(allowed, error, [&](Instruction one) {
    error << stringifyInstruction(one);
  });
  error << "; got " << stringifyInstruction(instruction);
  return error;
}

static constexpr Instruction kWaveInstructions[] = {Instruction::Mfma32x32x8,
                                                    Instruction::Mfma16x16x16,
                                                    Instruction::Mma16x8x16};
static constexpr Instruction kProductInstructions[] = {
    Instruction::Mfma32x32x8, Instruction::Mfma16x16x16,
    Instruction::Mma16x8x16, Instruction::Wgmma64x128x16};
static constexpr Instruction kGramInstructions[] = {
    Instruction::Mfma32x32x8, Instruction::Mfma16x16x16,
    Instruction::Mfma32x32x16, Instruction::Mma16x8x16,
    Instruction::Wgmma64x128x16};

/// Whether `instruction` multiplies numbers of type `element`.
static LogicalResult verifyElement(EmitError emitError, Instruction instruction,
                                   Type element, bool mayBeScaled = false) {
  bool isSmall = instruction == Instruction::Mfma32x32x16;
  bool isScaled =
      instruction == Instruction::Wgmma64x128x16
          ? element.isInteger(8) || isa<Float8E4M3FNType>(element)
          : element.isInteger(8) || isa<Float8E4M3FNUZType>(element);
  if (isScaled && mayBeScaled && instruction != Instruction::Mma16x8x16)
    return success();
  if (isSmall ? isa<Float8E4M3FNUZType>(element)
              : element.isF16() || element.isBF16())
    return success();
  return emitError() << "expects " << (isSmall ? "f8E4M3FNUZ" : "f16 or bf16")
                     << " for " << stringifyInstruction(instruction) << ", got "
                     << element;
}

/// Columns that wgmma can have are multiples of this; of integers it has fewer
/// shapes.
static constexpr int64_t kWgmmaColumns = 8, kIntegerColumns = 32;

/// Whether waves fill a tile with whole fragments of `shape`.
static LogicalResult verifyFragments(EmitError emitError, int64_t rows,
                                     int64_t columns, int64_t depth,
                                     ArrayRef<int64_t> waves,
                                     Instruction instruction,
                                     MatrixShape shape) {
  int64_t wavesOfRows = waves[0];
  // Four waves work on one fragment of rows.
  if (instruction == Instruction::Wgmma64x128x16) {
    if (failed(verifyMultiple(emitError, "waves along rows", wavesOfRows,
                              kWgmmaWaves)))
      return failure();
    wavesOfRows /= kWgmmaWaves;
    if (depth != shape.depth)
      return emitError() << "expects a depth of " << shape.depth << " for "
                         << stringifyInstruction(instruction) << ", got "
                         << depth;
  }
  return failure(
      failed(
          verifyMultiple(emitError, "rows", rows, wavesOfRows * shape.rows)) ||
      failed(verifyMultiple(emitError, "columns", columns,
                            waves[1] * shape.columns)) ||
      failed(verifyMultiple(emitError, "depth", depth, shape.depth)));
}

static LogicalResult verifyStages(EmitError emitError, Instruction instruction,
                                  int64_t stages, int64_t least) {
  if (stages >= least)
    return success();
  return emitError() << "expects at least " << least << " stages for "
                     << stringifyInstruction(instruction) << ", got " << stages;
}

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

/// What the sums of an AMX tile can have.
static constexpr int64_t kAmxRows = 16, kAmxColumns = 16;

LogicalResult CpuRowsAttr::verify(EmitError emitError, int64_t rows,
                                  int64_t lanes) {
  return failure(failed(verifySizes(emitError, {{"rows", rows}})) ||
                 failed(verifyPowerOfTwo(emitError, "lanes", lanes))); // (C1)
}

LogicalResult CpuProductAttr::verify(EmitError emitError, int64_t rows,
                                     int64_t columns,
                                     ArrayRef<int64_t> registers, int64_t lanes,
                                     Instruction instruction) {
  if (failed(verifySizes(emitError, {{"rows", rows}, {"columns", columns}})) ||
      failed(verifyPowerOfTwo(emitError, "lanes", lanes)) ||   // (C1)
      failed(verifyPair(emitError, "registers", registers)) || // (C2)
      failed(verifyInstruction(emitError, instruction,         // (C3)
                               {Instruction::Fma, Instruction::Smmla,
                                Instruction::Sdot, Instruction::Vpdpbusd,
                                Instruction::Tdpbsud, Instruction::Vpmaddubsw,
                                Instruction::Widen})))
    return failure();
  bool isPaired = registers[0] % 2 == 0 && registers[1] % 2 == 0;
  if (instruction == Instruction::Smmla && registers[0] != 1 &&
      !isPaired) // (C4)
    return emitError() << "expects even numbers of registers for smmla, or one "
                          "row, got ["
                       << registers << "]";
  bool isTile = registers[0] <= kAmxRows && registers[1] == kAmxColumns &&
                lanes == kAmxColumns;
  if (instruction == Instruction::Tdpbsud && !isTile) // (C5)
    return emitError() << "expects at most " << kAmxRows << " rows and "
                       << kAmxColumns << " columns of registers and "
                       << kAmxColumns << " lanes for tdpbsud, got ["
                       << registers << "] and " << lanes;
  if (instruction == Instruction::Vpmaddubsw && lanes != 8 &&
      lanes != 16) // (C6)
    return emitError() << "expects 8 or 16 lanes for vpmaddubsw, got " << lanes;
  return success();
}

/// Rows and columns of four tiles of sums, and the depth of a tile of bf16.
static constexpr int64_t kBf16Step = 32;

LogicalResult CpuBf16ProductAttr::verify(EmitError emitError, int64_t rows,
                                         int64_t columns, int64_t depth,
                                         ArrayRef<int64_t> parts) {
  for (Size size :
       {Size{"rows", rows}, Size{"columns", columns}, Size{"depth", depth}})
    if (failed(verifySizes(emitError, size)) ||
        failed(verifyMultiple(emitError, size.name, size.number,
                              kBf16Step))) // (C1)
      return failure();
  if (parts.size() != 2 ||
      !llvm::all_of(parts, [](int64_t n) { return n == 1 || n == 2; })) // (C2)
    return emitError() << "expects parts of 1 or 2 numbers for rows and for "
                          "the weight, got ["
                       << parts << "]";
  return success();
}

LogicalResult CpuAmxAttentionAttr::verify(EmitError emitError, int64_t queries,
                                          int64_t keys) {
  if (failed(verifySizes(emitError, {{"queries", queries}}))) // (C1)
    return failure();
  if (keys != 32 && keys != 64) // (C2)
    return emitError() << "expects 32 or 64 keys, got " << keys;
  return success();
}

LogicalResult CpuAttentionAttr::verify(EmitError emitError, int64_t queries,
                                       int64_t keys, int64_t registers,
                                       int64_t lanes, Instruction instruction) {
  if (failed(verifySizes(
          emitError,
          {{"queries", queries}, {"keys", keys}, {"registers", registers}})) ||
      failed(verifyPowerOfTwo(emitError, "lanes", lanes)) || // (C1)
      failed(verifyInstruction(emitError, instruction,       // (C2)
                               {Instruction::Fma, Instruction::Bfmmla})))
    return failure();
  // Code is written for each of them; no CPU has more.
  constexpr int64_t kMaxRegisters = 32;
  if (registers > kMaxRegisters) // (C5)
    return emitError() << "expects at most " << kMaxRegisters
                       << " registers, got " << registers;
  bool isPaired = instruction == Instruction::Bfmmla;
  return failure(
      failed(verifyMultiple(emitError, "keys", keys, isPaired ? 8 : 4)) ||
      failed(verifyMultiple(emitError, "registers", registers, // (C3, C4)
                            isPaired ? 2 : 1)));
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

LogicalResult GpuRowsAttr::verify(EmitError emitError, int64_t rows,
                                  int64_t numWaves, int64_t columns) {
  if (failed(verifySizes(emitError, {{"rows", rows}, {"waves", numWaves}})))
    return failure();
  if (columns < 0) // (C1)
    return emitError() << "expects a positive number for columns, got "
                       << columns;
  if (columns == 0 && rows != 1 && rows != numWaves) // (C2)
    return emitError() << "has rows that waves cannot share: expects one row, "
                          "or a wave for each, got "
                       << rows << " rows and " << numWaves << " waves";
  return success();
}

LogicalResult GpuProductAttr::verify(EmitError emitError, int64_t rows,
                                     int64_t columns, int64_t depth,
                                     ArrayRef<int64_t> waves, int64_t stages,
                                     Instruction instruction, Type element) {
  if (failed(verifySizes(emitError, {{"rows", rows}, // (C1)
                                     {"columns", columns},
                                     {"depth", depth}})) ||
      failed(verifyPair(emitError, "waves", waves)) || // (C2)
      failed(verifyInstruction(emitError, instruction, // (C3)
                               kProductInstructions)) ||
      failed(verifyElement(emitError, instruction, element, // (C4)
                           /*mayBeScaled=*/true)))
    return failure();
  MatrixShape shape = *getMatrixShape(instruction, element);
  bool isWgmma = instruction == Instruction::Wgmma64x128x16;
  if (isWgmma)
    shape.columns = element.isInteger() ? kIntegerColumns : kWgmmaColumns;
  return failure(failed(verifyFragments(emitError, rows, columns, depth, waves,
                                        instruction, shape)) || // (C5)
                 failed(verifyStages(emitError, instruction, stages,
                                     isWgmma ? 3 : 2))); // (C6)
}

LogicalResult GpuGemvAttr::verify(EmitError emitError, int64_t rows,
                                  int64_t columns, int64_t lanes,
                                  ArrayRef<int64_t> waves, int64_t steps,
                                  bool) {
  return failure(failed(verifySizes(emitError, {{"rows", rows}, // (C1)
                                                {"columns", columns},
                                                {"steps", steps}})) ||
                 failed(verifyPair(emitError, "waves", waves)) ||      // (C2)
                 failed(verifyPowerOfTwo(emitError, "lanes", lanes))); // (C3)
}

LogicalResult GpuGatedAttr::verify(EmitError emitError, int64_t columns,
                                   int64_t numWaves, int64_t steps) {
  return verifySizes(emitError, {{"columns", columns}, // (C1)
                                 {"waves", numWaves},
                                 {"steps", steps}});
}

LogicalResult GpuAttentionAttr::verify(EmitError emitError, int64_t rows,
                                       int64_t keys, int64_t numWaves,
                                       int64_t stages, Instruction instruction,
                                       Type element) {
  if (failed(verifySizes(emitError, {{"rows", rows}, // (C1)
                                     {"keys", keys},
                                     {"waves", numWaves}})) ||
      failed(verifyInstruction(emitError, instruction, // (C2)
                               kProductInstructions)) ||
      failed(verifyElement(emitError, instruction, element))) // (C3)
    return failure();
  MatrixShape shape = *getMatrixShape(instruction, element);
  if (instruction == Instruction::Wgmma64x128x16) {
    // Columns that a wgmma has at most.
    constexpr int64_t kMaxKeys = 256;
    if (numWaves * shape.rows != rows * kWgmmaWaves || // (C4)
        numWaves % kWgmmaWaves != 0)
      return emitError() << "expects " << kWgmmaWaves << " waves for each "
                         << shape.rows << " rows, got " << numWaves
                         << " waves and " << rows << " rows";
    if (keys % shape.depth != 0 || keys > kMaxKeys) // (C5)
      return emitError() << "expects a multiple of " << shape.depth << " up to "
                         << kMaxKeys << " for keys, got " << keys;
  } else if (failed(verifyMultiple(emitError, "rows", rows,
                                   numWaves * shape.rows)) ||
             failed(verifyMultiple(emitError, "keys", keys,
                                   std::max(shape.columns, shape.depth)))) {
    return failure();
  }
  if (stages == 2 ||
      (stages > 2 && instruction == Instruction::Mma16x8x16)) // (C6)
    return success();
  return emitError() << "expects two stages for "
                     << stringifyInstruction(instruction) << ", got " << stages;
}

LogicalResult GpuDecodeAttr::verify(EmitError emitError, int64_t numWaves) {
  return verifyPowerOfTwo(emitError, "waves", numWaves); // (C1)
}

LogicalResult GpuSelectionAttr::verify(EmitError emitError, int64_t rows,
                                       int64_t columns, int64_t depth,
                                       ArrayRef<int64_t> waves, int64_t stages,
                                       Instruction instruction, Type element,
                                       int64_t group, int64_t loads) {
  // Results are bits of words, one for each column.
  constexpr int64_t kWordBits = 32;
  if (failed(verifySizes(emitError, {{"rows", rows}, // (C1)
                                     {"columns", columns},
                                     {"depth", depth},
                                     {"stages", stages},
                                     {"group", group},
                                     {"loads", loads}})) ||
      failed(verifyPair(emitError, "waves", waves)) || // (C2)
      failed(verifyInstruction(emitError, instruction, // (C3)
                               kGramInstructions)) ||
      failed(verifyElement(emitError, instruction, element)) || // (C4)
      failed(verifyFragments(emitError, rows, columns, depth, waves,
                             instruction,
                             *getMatrixShape(instruction, element)))) // (C5)
    return failure();
  int64_t least = instruction == Instruction::Wgmma64x128x16 ? 3
                  : instruction == Instruction::Mma16x8x16   ? 2
                                                             : 1;
  if (failed(verifyStages(emitError, instruction, stages, least)) || // (C6)
      failed(verifyMultiple(emitError, "columns", columns, kWordBits)))
    return failure();
  if (rows % columns != 0 && columns % rows != 0) // (C7)
    return emitError() << "expects rows to be a multiple of columns, or "
                          "columns one of rows, got "
                       << rows << " and " << columns;
  return success();
}

LogicalResult GpuClustersAttr::verify(EmitError emitError, int64_t tokens,
                                      int64_t clusters, int64_t columns,
                                      int64_t numWaves, Instruction instruction,
                                      Type element) {
  if (failed(verifySizes(emitError, {{"tokens", tokens}, // (C1)
                                     {"clusters", clusters},
                                     {"columns", columns},
                                     {"waves", numWaves}})) ||
      failed(verifyInstruction(emitError, instruction, kWaveInstructions)))
    return failure();                                            // (C2)
  if (!element.isF16() && !element.isBF16() && !element.isF32()) // (C3)
    return emitError() << "expects f16, bf16 or f32, got " << element;
  // f32 has the fragments of f16, but its rows are not cut along their depth.
  MatrixShape shape =
      *getMatrixShape(instruction, Float16Type::get(element.getContext()));
  if (tokens != numWaves * shape.rows) // (C4)
    return emitError() << "expects a wave for each " << shape.rows
                       << " tokens, got " << numWaves << " waves and " << tokens
                       << " tokens";
  return failure(
      failed(verifyMultiple(emitError, "clusters", clusters, shape.columns)) ||
      failed(verifyMultiple(emitError, "columns", columns,
                            element.isF32() ? 4 : shape.depth)));
}
