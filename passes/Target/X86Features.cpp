//===- X86Features.cpp - Features of x86 instructions ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which feature an instruction needs depends on its name, on how it is encoded
// and on how long its vectors are. Names are in X86Instructions.def; the rules
// are here.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/X86Features.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace gist;
using llvm::StringRef;

namespace {
enum Encoding { Legacy, Vex, Evex, Xop, kEncodings };

/// What the prefixes of an instruction say.
struct Prefixes {
  Encoding encoding = Legacy;
  /// 0, 1 or 2 for vectors of 16, 32 or 64 bytes.
  unsigned length = 0;
  bool isApx = false;      ///< what only a CPU with APX reads
  bool isPromoted = false; ///< an old instruction in map 4
  bool isRegister = false; ///< the last operand is a register, not memory
};

/// The rows of X86Instructions.def by encoding and name.
struct Table {
  std::array<llvm::StringMap<StringRef>, kEncodings> rows;

  Table() {
    auto add = [&](Encoding encoding, StringRef feature, StringRef names) {
      for (StringRef name : llvm::split(names, ' '))
        rows[encoding].try_emplace(name, feature);
    };
#define GIST_X86(encoding, feature, names) add(encoding, feature, names);
#include "passes/Target/X86Instructions.def"
  }

  std::optional<StringRef> find(Encoding encoding, StringRef name) const {
    auto found = rows[encoding].find(name);
    if (found == rows[encoding].end())
      return std::nullopt;
    return found->second;
  }
};
} // namespace

static const Table &getTable() {
  static const Table table;
  return table;
}

/// The code of an instruction behind its prefixes; empty bytes count as 0.
static uint8_t at(llvm::ArrayRef<uint8_t> bytes, size_t index) {
  return index < bytes.size() ? bytes[index] : 0;
}

/// Reads the prefixes of 64-bit mode.
static Prefixes readPrefixes(llvm::ArrayRef<uint8_t> bytes) {
  static constexpr uint8_t kOld[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
                                     0x26, 0x64, 0x65, 0x67, 0xf0};
  Prefixes result;
  size_t i = 0;
  while (llvm::is_contained(kOld, at(bytes, i)))
    ++i;
  auto hasRegister = [&](size_t modrm) { return at(bytes, modrm) >= 0xc0; };
  switch (at(bytes, i)) {
  case 0xc5:
    result.encoding = Vex;
    result.length = at(bytes, i + 1) >> 2 & 1;
    result.isRegister = hasRegister(i + 3);
    return result;
  case 0xc4:
    result.encoding = Vex;
    result.length = at(bytes, i + 2) >> 2 & 1;
    result.isRegister = hasRegister(i + 4);
    return result;
  case 0x8f: // A map of 8 and more is XOP, less is a form of pop.
    if ((at(bytes, i + 1) & 0x1f) >= 8)
      result.encoding = Xop;
    return result;
  case 0xd5: // REX2
    result.isApx = true;
    return result;
  case 0x62: {
    result.encoding = Evex;
    uint8_t map = at(bytes, i + 1), middle = at(bytes, i + 2),
            last = at(bytes, i + 3);
    result.isRegister = hasRegister(i + 5);
    // Map 4 has old instructions in a new form. Bits that had to be 0 and 1 are
    // parts of numbers of registers there.
    result.isPromoted = (map & 7) == 4;
    result.isApx = result.isPromoted || (map & 8) != 0 ||
                   (!result.isRegister && (middle & 4) == 0);
    // With registers the bit b makes a rounding mode of the length, and then
    // vectors have 64 bytes.
    bool rounds = result.isRegister && (last >> 4 & 1) != 0;
    result.length = rounds ? 2 : last >> 5 & 3;
    return result;
  }
  default:
    return result;
  }
}

/// Whether an instruction with a v works on one number, so that the length of
/// vectors says nothing.
static bool isScalar(StringRef name) {
  static constexpr StringRef kOthers[] = {
      "vmovd",   "vmovq",    "vmovw",    "vmovhps",   "vmovlps",   "vmovhpd",
      "vmovlpd", "vmovhlps", "vmovlhps", "vinsertps", "vextractps"};
  if (llvm::is_contained(kOthers, name) || name.starts_with("vpextr") ||
      name.starts_with("vpinsr"))
    return true;
  if (name.starts_with("vp") || name.starts_with("vbroadcast"))
    return false;
  return name.ends_with("ss") || name.ends_with("sd") || name.ends_with("sh") ||
         name.ends_with("si") || name.starts_with("vcvtsi2") ||
         name.starts_with("vcvtusi2") || name.starts_with("vcvtss2") ||
         name.starts_with("vcvtsd2") || name.starts_with("vcvtsh2");
}

/// What the Vex form needs of an instruction that SSE has without the v.
static StringRef widen(StringRef name, const Prefixes &prefixes) {
  bool isInteger = (name.starts_with("vp") && name != "vptest") ||
                   name == "vmovntdqa" || name == "vmpsadbw";
  return isInteger && prefixes.length > 0 ? "avx2" : "avx";
}

static std::vector<StringRef> needsOfVex(StringRef name, StringRef feature,
                                         const Prefixes &prefixes) {
  // These read memory in avx already, and registers in avx2.
  bool isBroadcast = name == "vbroadcastss" || name == "vbroadcastsd";
  if (isBroadcast && prefixes.isRegister)
    return {"avx2"};
  // Their own feature does not imply vectors of this length.
  if (feature == "gfni")
    return {"gfni", "avx"};
  if (feature == "aes")
    return prefixes.length > 0 ? std::vector<StringRef>{"vaes"}
                               : std::vector<StringRef>{"aes", "avx"};
  if (feature == "pclmul")
    return prefixes.length > 0 ? std::vector<StringRef>{"vpclmulqdq"}
                               : std::vector<StringRef>{"pclmul", "avx"};
  // A tile's instructions need tiles.
  if (feature.starts_with("amx-") && feature != "amx-tile")
    return {"amx-tile", feature};
  return {feature};
}

static std::vector<StringRef> needsOfEvex(StringRef name, StringRef feature,
                                          const Prefixes &prefixes) {
  std::vector<StringRef> needs = {"avx512f"};
  if (feature != "avx512f")
    needs.push_back(feature);
  if (prefixes.length < 2 && !isScalar(name))
    needs.push_back("avx512vl");
  return needs;
}

/// The same for an instruction that reads no registers of APX.
static std::optional<std::vector<StringRef>>
getNeeds(StringRef name, const Prefixes &prefixes) {
  const Table &table = getTable();
  std::optional<StringRef> feature = table.find(prefixes.encoding, name);
  if (feature) {
    if (prefixes.encoding == Vex)
      return needsOfVex(name, *feature, prefixes);
    if (prefixes.encoding == Evex)
      return needsOfEvex(name, *feature, prefixes);
    if (feature->empty())
      return std::vector<StringRef>();
    return std::vector<StringRef>{*feature};
  }
  // As SSE has it, with a v.
  bool isWide = prefixes.encoding == Vex || prefixes.encoding == Evex;
  if (!isWide || !name.starts_with("v"))
    return std::nullopt;
  std::optional<StringRef> old = table.find(Legacy, name.drop_front());
  if (!old || !old->contains("sse"))
    return std::nullopt;
  if (prefixes.encoding == Vex)
    return std::vector<StringRef>{widen(name, prefixes)};
  return needsOfEvex(name, "avx512f", prefixes);
}

std::optional<std::vector<StringRef>>
gist::getX86Features(StringRef name, llvm::ArrayRef<uint8_t> bytes) {
  Prefixes prefixes = readPrefixes(bytes);
  if (!prefixes.isApx)
    return getNeeds(name, prefixes);
  // What it computes needs its feature all the same. The encoding is Evex where
  // it was Vex or Legacy; old instructions have no new names there.
  std::vector<Encoding> encodings = {Legacy};
  if (prefixes.encoding == Evex)
    encodings = {Evex, Vex, Legacy};
  for (Encoding encoding : encodings) {
    prefixes.encoding = encoding;
    std::optional<std::vector<StringRef>> needs = getNeeds(name, prefixes);
    if (!needs)
      continue;
    needs->push_back("egpr");
    return needs;
  }
  // Map 4 has names of its own for tests, sets and pushes.
  if (prefixes.isPromoted)
    return std::vector<StringRef>{"egpr"};
  return std::nullopt;
}
