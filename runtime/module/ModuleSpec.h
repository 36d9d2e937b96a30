//===- ModuleSpec.h - What a module says, as plain structs ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The content of a module's metadata. The compiler fills it and hands it to
// ModuleWriter; Module reads it back, verifies it once, and the session trusts
// it. runtime/README.md explains every field; the order of the fields here is
// the order of the tables in Format.fbs.
//
// Things refer to one another by index into the vectors of ModuleSpec.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_MODULESPEC_H
#define GIST_RUNTIME_MODULE_MODULESPEC_H

#include "runtime/module/Expr.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gist {

/// An index into ModuleSpec::exprs.
using ExprId = uint32_t;
/// "None" for every index in this file.
inline constexpr uint32_t kNone = UINT32_MAX;

/// Names of symbols that the session sets itself. Every other symbol keeps its
/// initial value unless the caller of Session::call gives one.
inline constexpr const char *kSymbolTokens = "T";   ///< tokens in this call
inline constexpr const char *kSymbolPast = "P";     ///< tokens before this call
inline constexpr const char *kSymbolCapacity = "C"; ///< tokens the state holds

/// Names of entries with a meaning for gist-run; runtime/README.md has the
/// inputs and outputs that each must have.
inline constexpr const char *kEntryPrefill = "prefill";
/// What prefill does, for EntrySpec::maxTokens at most; modules for GPUs may
/// have it.
inline constexpr const char *kEntryShort = "short";
inline constexpr const char *kEntryDecode = "decode";
/// What prefill does to the state, without logits.
inline constexpr const char *kEntryRead = "read";
inline constexpr const char *kEntryScore = "score";
inline constexpr const char *kEntryNll = "nll";
inline constexpr const char *kEntryEmbed = "embed";
inline constexpr const char *kEntryObserve = "observe";

inline constexpr const char *kTensorTokens = "tokens";
inline constexpr const char *kTensorTargets = "targets";
inline constexpr const char *kTensorLogits = "logits";
inline constexpr const char *kTensorSampling = "sampling";
inline constexpr const char *kTensorNext = "next";
inline constexpr const char *kTensorNll = "nll";
inline constexpr const char *kTensorEmbedding = "embedding";

/// The numbers of these enumerations are part of the file format.
enum class ElementType : uint8_t {
  Byte = 0, ///< opaque: packed or block-quantised weights
  F32 = 1,
  F16 = 2,
  BF16 = 3,
  I8 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
};
inline constexpr uint8_t kLastElementType =
    static_cast<uint8_t>(ElementType::I64);

enum class BufferKind : uint8_t {
  Weight = 0, ///< read-only, content in the file
  Arena = 1,  ///< a range of the scratch arena, dead after the call
  State = 2,  ///< lives as long as the session (KV cache)
  Input = 3,  ///< filled by the caller before the commands run
  Output = 4, ///< read by the caller after the commands ran
};
inline constexpr uint8_t kLastBufferKind =
    static_cast<uint8_t>(BufferKind::Output);

enum class CodeFormat : uint8_t {
  Elf = 0,   ///< shared object for the CPU
  Hsaco = 1, ///< AMD code object
  Ptx = 2,   ///< NVIDIA assembly text, compiled by the driver
};
inline constexpr uint8_t kLastCodeFormat =
    static_cast<uint8_t>(CodeFormat::Ptx);

struct SymbolSpec {
  std::string name = {};
  int64_t min = 0, max = 0; ///< inclusive bounds, checked at every call
  int64_t initial = 0;      ///< the value if the caller gives none
};

struct BufferSpec {
  std::string name = {};
  BufferKind kind = BufferKind::Arena;
  ElementType type = ElementType::F32;
  std::vector<ExprId> shape = {}; ///< may be empty for Byte
  ExprId size = kNone;            ///< bytes; kNone for Weight
  ExprId offset = kNone;          ///< Arena: bytes from its beginning
  uint32_t base = kNone;          ///< Weight: which
  bool zeroOnReset = false; ///< State: cleared when the session starts anew
};

/// Numbers that are made up when a module is loaded: evenly spread over mean -
/// spread to mean + spread, the same every time.
struct RandomNumbers {
  float mean = 0, spread = 0;

  bool operator==(const RandomNumbers &) const = default;
};

/// Bytes of a weight: in this file's weight section, or in another file, or
/// nowhere.
struct WeightSpec {
  std::string name = {};           ///< as in the model file
  std::string format = {};         ///< storage: "f32", "q4_1", "q4_1/8x32", ...
  std::vector<int64_t> shape = {}; ///< logical, before packing
  uint64_t offset = 0;             ///< in the weight section, or in `file`
  uint64_t size = 0;
  uint64_t hash = 0;     ///< XXH64 of the bytes
  std::string file = {}; ///< empty: embedded. Relative to the module.
  std::optional<RandomNumbers> random = {}; ///< instead of bytes
};

/// Code for one kind of machine.
struct TargetSpec {
  std::string name = {};   ///< "cpu", "gfx942", "sm_90"
  std::string device = {}; ///< "cpu", "hip", "cuda"
  std::string triple = {}; ///< LLVM spelling; may be empty for GPUs
  std::string cpu = {};    ///< what it was tuned for
  std::vector<std::string> features = {}; ///< LLVM names the machine must have
  CodeFormat format = CodeFormat::Elf;
};

/// A kernel's code for one target.
struct KernelCode {
  uint32_t target = 0;
  std::string symbol = {};
  std::array<uint32_t, 3> workgroup = {1, 1, 1}; ///< threads; CPU: 1,1,1
  uint32_t sharedMemory = 0;                     ///< dynamic bytes
  /// It waits itself for the kernels before it, so it may begin while they run.
  bool waits = false;
  /// The same code with one slot, the address of a table: workgroups with
  /// number z in the grid's third dimension take their slots from row z. Empty:
  /// there is none. The grid has no third dimension otherwise.
  std::string byTable = {};
};

struct KernelSpec {
  std::string name = {};
  uint32_t argCount = 0; ///< 64-bit slots
  std::vector<KernelCode> code = {};
};

/// One slot of a kernel's arguments: an address or a number, 64 bits each.
struct ArgSpec {
  uint32_t buffer = kNone; ///< kNone: a scalar
  ExprId value = kNone;    ///< byte offset in the buffer (kNone: 0), or scalar

  static ArgSpec of(uint32_t buffer, ExprId offset = kNone) {
    return {buffer, offset};
  }
  static ArgSpec scalar(ExprId value) { return {kNone, value}; }
};

struct CommandSpec {
  uint32_t kernel = 0;
  std::array<ExprId, 3> grid = {kNone, kNone, kNone}; ///< kNone: 1
  std::vector<ArgSpec> args = {};
  /// Earlier commands of the entry whose effects this one must see (or whose
  /// reads it must not disturb). Used only when `hasAfter`; otherwise the
  /// command waits for everything before it.
  std::vector<uint32_t> after = {};
  bool hasAfter = false;
  int32_t layer = -1;     ///< for statistics; -1: none
  std::string label = {}; ///< what people read in statistics and traces
  ExprId flops = kNone, bytes = kNone;
  /// Row t of what it writes depends on row t of what it reads and on weights
  /// alone, in buffers whose first dimension is T: rows of several sequences
  /// may be in one call of it. It touches no state, and what else it touches of
  /// the arena no command that is not by rows does.
  bool byRows = false;
};

/// A number the commands leave in a buffer, read back when asked for: r,
/// turnover, gates. The buffer holds I32, I64 or F32.
struct StatisticSpec {
  std::string name = {};
  int32_t layer = -1;
  uint32_t buffer = 0;
};

/// A tensor inside the model that an entry shows.
enum class ObservationKind : uint8_t {
  Input = 0,    ///< rows that a group of linear layers reads
  Product = 1,  ///< what one linear layer gives
  Residual = 2, ///< the residual stream before attention
  Keys = 3,     ///< the keys of attention
  Values = 4,   ///< its values
  Queries = 5,  ///< its queries, which it scales by 1/sqrt of their size
};
inline constexpr uint8_t kLastObservationKind =
    static_cast<uint8_t>(ObservationKind::Queries);

struct ObservationSpec {
  ObservationKind kind = ObservationKind::Input;
  int32_t layer = -1;                    ///< -1: the head
  std::string group = {};                ///< Input, Product: "qkv", "o", ...
  std::vector<std::string> weights = {}; ///< Input, Product: of those layers
  uint32_t output = 0;                   ///< an index into EntrySpec::outputs

  bool operator==(const ObservationSpec &) const = default;
};

struct EntrySpec {
  std::string name = {};
  uint32_t target = kNone;  ///< kNone: the list serves every target
  int64_t maxTokens = 0;    ///< largest T it takes; 0: the symbol's bound
  ExprId arenaSize = kNone; ///< bytes; kNone: no arena
  std::vector<uint32_t> inputs = {}, outputs = {}; ///< buffers
  std::vector<CommandSpec> commands = {};
  std::vector<StatisticSpec> statistics = {};
  std::vector<ObservationSpec> observations = {};
};

struct ModelInfo {
  std::string architecture = {}; ///< "llama", "bert", ...
  std::string name = {};
  int64_t vocabSize = 0;
  int64_t contextLength = 0; ///< what the model was trained for
  int64_t embeddingSize = 0;
  int64_t layerCount = 0;
  int64_t prefillChunk = 0; ///< tokens per prefill call; 0: the runtime's
  /// Special ids; -1: the model has none.
  int64_t bosToken = -1, padToken = -1, unkToken = -1;
  std::vector<int64_t> stopTokens = {}; ///< generation ends at any of these
  /// Whatever else is worth keeping: "compute" = "q8 activations", ...
  std::map<std::string, std::string> properties = {};
};

struct ModuleSpec {
  ModelInfo model;
  std::string producer; ///< program and version; no date: same input same bytes
  /// Capabilities a runtime must know; it refuses a module naming others.
  std::vector<std::string> requirements;
  std::vector<SymbolSpec> symbols;
  std::vector<Expr> exprs;
  std::vector<WeightSpec> weights;
  std::vector<BufferSpec> buffers;
  std::vector<TargetSpec> targets;
  std::vector<KernelSpec> kernels;
  std::vector<EntrySpec> entries;

  /// The id of `expr`, which is stored once however often it is asked for.
  ExprId addExpr(const Expr &expr);
  ExprId addConstant(int64_t value) { return addExpr(Expr::constant(value)); }

private:
  /// Finds equal expressions while a module is built. Empty in one that was
  /// read.
  std::map<std::vector<std::pair<uint8_t, int64_t>>, ExprId> exprIds;
};

/// Bytes of one element; 1 for Byte.
uint64_t elementSize(ElementType type);
const char *toString(ElementType type);
const char *toString(BufferKind kind);
const char *toString(CodeFormat format);
const char *toString(ObservationKind kind);

/// Checks everything that can be checked without symbol values: indexes,
/// expressions, names that must be unique, what each kind of buffer needs, and
/// that every command's kernel exists for the targets its entry serves.
Status verifySpec(const ModuleSpec &spec);

} // namespace gist

#endif // GIST_RUNTIME_MODULE_MODULESPEC_H
