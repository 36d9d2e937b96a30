//===- ModuleTest.cpp - What is written is what is read -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Module.h"

#include "runtime/module/Format_generated.h"
#include "runtime/module/Metadata.h"
#include "runtime/support/Hash.h"
#include "runtime/support/TextBytes.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

using namespace gist;
using namespace gist::test;

static std::shared_ptr<const Module> openModule(const std::string &path) {
  std::shared_ptr<const Module> module;
  Status status = Module::open(path, module);
  EXPECT_TRUE(status.ok()) << status.text;
  return module;
}

// What was written is read back, and weights are aligned in memory.
TEST(Module, RoundTrip) {
  TemporaryFolder folder;
  TinyModel model;
  model.writer.setPlan("{\"quality\": 1.01}");
  auto module = openModule(model.write(folder.file("m.gist")));
  ASSERT_TRUE(module);
  // The encoding covers every field, so equal encodings are equal specs.
  EXPECT_EQ(encodeMetadata(module->spec()), encodeMetadata(model.writer.spec));
  EXPECT_EQ(module->plan(), "{\"quality\": 1.01}");
  EXPECT_GT(module->tokenizer().size, 256u);
  EXPECT_EQ(module->code(0).text().substr(1, 3), "ELF");
  EXPECT_TRUE(module->verifyWeights().ok());
  for (uint32_t i = 0; i < module->spec().weights.size(); ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(module->weight(i).data) %
                  kWeightAlignment,
              0u);
}

// A field that encode or decode forgets would survive the test above; here one
// of each kind has a value that is not its default.
TEST(Module, EveryFieldSurvives) {
  // Decoding does not verify, so that numbers may refer to nothing.
  ModuleSpec spec;
  spec.model = {.architecture = "a",
                .name = "n",
                .vocabSize = 11,
                .contextLength = 12,
                .embeddingSize = 13,
                .layerCount = 14,
                .prefillChunk = 15,
                .bosToken = 1,
                .padToken = 2,
                .unkToken = 3,
                .stopTokens = {4, 5},
                .properties = {{"k", "v"}}};
  spec.producer = "p";
  spec.requirements = {"r"};
  spec.symbols = {{"S", 1, 9, 5}};
  spec.exprs = {Expr::symbol(0) * Expr::constant(-7)};
  spec.weights = {{"w", "q4_1", {2, 3}, 64, 128, 0xdeadbeefcafef00d, "f.bin"},
                  {.name = "r", .random = RandomNumbers{1, 0.25F}}};
  spec.buffers = {
      {"b", BufferKind::State, ElementType::BF16, {0}, 1, 2, 3, true}};
  spec.targets = {{"t",
                   "hip",
                   "amdgcn-amd-amdhsa",
                   "gfx942",
                   {"x", "y"},
                   CodeFormat::Hsaco}};
  spec.kernels = {{"k", 3, {{1, "sym", {64, 2, 3}, 4096, true}}}};
  CommandSpec command{.kernel = 7,
                      .grid = {1, 2, 3},
                      .args = {{4, 5}, {kNone, 6}},
                      .after = {8},
                      .hasAfter = true,
                      .layer = 9,
                      .label = "l",
                      .flops = 10,
                      .bytes = 11,
                      .byRows = true};
  spec.entries = {{"e",
                   1,
                   77,
                   2,
                   {3},
                   {4},
                   {command},
                   {{"st", 5, 6}},
                   {{ObservationKind::Product, 2, "qkv", {"a", "b"}, 7}}}};

  ModuleSpec read;
  RankSpec ranks;
  ASSERT_TRUE(decodeMetadata(bytesOf(encodeMetadata(spec)), read, ranks).ok());
  EXPECT_EQ(read.model.properties, spec.model.properties);
  EXPECT_EQ(read.model.stopTokens, spec.model.stopTokens);
  EXPECT_EQ(read.model.prefillChunk, 15);
  EXPECT_EQ(read.model.unkToken, 3);
  EXPECT_EQ(read.requirements, spec.requirements);
  EXPECT_EQ(read.symbols[0].initial, 5);
  EXPECT_EQ(read.exprs, spec.exprs);
  EXPECT_EQ(read.weights[0].hash, 0xdeadbeefcafef00d);
  EXPECT_EQ(read.weights[0].file, "f.bin");
  EXPECT_FALSE(read.weights[0].random);
  EXPECT_EQ(read.weights[1].random, spec.weights[1].random);
  EXPECT_EQ(read.buffers[0].type, ElementType::BF16);
  EXPECT_TRUE(read.buffers[0].zeroOnReset);
  EXPECT_EQ(read.targets[0].features, spec.targets[0].features);
  EXPECT_EQ(read.targets[0].format, CodeFormat::Hsaco);
  EXPECT_EQ(read.kernels[0].code[0].workgroup,
            (std::array<uint32_t, 3>{64, 2, 3}));
  EXPECT_EQ(read.kernels[0].code[0].sharedMemory, 4096u);
  EXPECT_TRUE(read.kernels[0].code[0].waits);
  const CommandSpec &back = read.entries[0].commands[0];
  EXPECT_EQ(back.grid, command.grid);
  EXPECT_EQ(back.args[1].buffer, kNone);
  EXPECT_EQ(back.args[1].value, 6u);
  EXPECT_EQ(back.after, command.after);
  EXPECT_TRUE(back.hasAfter);
  EXPECT_EQ(back.layer, 9);
  EXPECT_EQ(back.bytes, 11u);
  EXPECT_TRUE(back.byRows);
  EXPECT_EQ(read.entries[0].maxTokens, 77);
  EXPECT_EQ(read.entries[0].statistics[0].buffer, 6u);
  EXPECT_EQ(read.entries[0].observations, spec.entries[0].observations);
  EXPECT_EQ(encodeMetadata(read), encodeMetadata(spec));
}

// Builds can be compared by their hashes only if nothing depends on time or
// addresses.
TEST(Module, SameInputSameBytes) {
  TemporaryFolder folder;
  std::string first = readFile(TinyModel().write(folder.file("1.gist")));
  std::string second = readFile(TinyModel().write(folder.file("2.gist")));
  EXPECT_EQ(first, second);
}

// Weights larger than memory are written piece by piece. A producer that lies
// about its size is found, and its file is not left behind.
TEST(Module, StreamedWeightsComeInPieces) {
  TemporaryFolder folder;
  TinyModel model;
  uint32_t index = model.writer.addWeight(
      "streamed", "bytes", {1000}, 1000, [](const ByteSink &sink) -> Status {
        for (int i = 0; i < 10; ++i) {
          std::string piece(100, static_cast<char>('a' + i));
          GIST_TRY(sink(bytesOf(piece)));
        }
        return {};
      });
  auto module = openModule(model.write(folder.file("m.gist")));
  ASSERT_TRUE(module);
  std::string_view text = module->weight(index).text();
  ASSERT_EQ(text.size(), 1000u);
  EXPECT_EQ(text[0], 'a');
  EXPECT_EQ(text[999], 'j');
  EXPECT_TRUE(module->verifyWeights().ok());

  TinyModel wrong;
  wrong.writer.addWeight("short", "bytes", {5}, 5, [](const ByteSink &sink) {
    return sink(bytesOf("four"));
  });
  Status status = wrong.writer.write(folder.file("wrong.gist"));
  EXPECT_EQ(status.text, "weight 'short' has 4 bytes, but 5 were announced");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"m.gist"});
}

// GPUs read queries, keys and values as one weight. A part that something else
// reads alone must not be in the file a second time.
TEST(Module, PartsOfAJoinedWeightHaveNoBytesOfTheirOwn) {
  TemporaryFolder folder;
  std::string a(128, 'a'), b(100, 'b'), both = a + b;
  auto build = [&](bool shared, const char *name) {
    TinyModel model;
    uint32_t first = model.writer.addWeight("a", "bytes", {128}, bytesOf(a));
    uint32_t second = model.writer.addWeight("b", "bytes", {100}, bytesOf(b));
    uint32_t joined =
        model.writer.addWeight("a+b", "bytes", {228}, bytesOf(both));
    if (shared) {
      model.writer.placeInside(first, joined, 0);
      model.writer.placeInside(second, joined, 128);
    }
    auto module = openModule(model.write(folder.file(name)));
    EXPECT_EQ(module->weight(first).text(), a);
    EXPECT_EQ(module->weight(second).text(), b);
    EXPECT_EQ(module->weight(joined).text(), both);
    EXPECT_TRUE(module->verifyWeights().ok());
    return module->spec().weights[joined].offset;
  };
  // Without its parts before it, the whole begins where the first one did.
  // 128 and 100 bytes, each at a multiple of 64.
  EXPECT_EQ(build(true, "1.gist") + 128 + 128, build(false, "2.gist"));
}

// The model's own file may be changed, cut or removed after compiling.
TEST(Module, ExternalWeights) {
  TemporaryFolder folder;
  writeFile(folder.file("model.bin"), "headerthe weight");
  TinyModel model;
  uint32_t index = model.writer.addExternalWeight(
      "outside", "bytes", {10}, "model.bin", 6, bytesOf("the weight"));
  std::string path = model.write(folder.file("m.gist"));
  auto module = openModule(path);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->weight(index).text(), "the weight");
  EXPECT_TRUE(module->verifyWeights().ok());

  writeFile(folder.file("model.bin"), "headerTHE weight");
  EXPECT_EQ(openModule(path)->verifyWeights().text,
            "weight 'outside' is damaged");
  writeFile(folder.file("model.bin"), "short");
  Status status = Module::open(path, module);
  EXPECT_NE(status.text.find("weight 'outside': content: 10 bytes at offset 6 "
                             "do not fit in 5"),
            std::string::npos)
      << status.text;
  std::remove(folder.file("model.bin").c_str());
  status = Module::open(path, module);
  EXPECT_NE(status.text.find("weight file 'model.bin': cannot open"),
            std::string::npos)
      << status.text;
  // It has no writer, so waiting for its content would never end.
  ASSERT_EQ(::mkfifo(folder.file("model.bin").c_str(), 0600), 0);
  status = Module::open(path, module);
  EXPECT_NE(status.text.find("weight file 'model.bin': is not a regular file"),
            std::string::npos)
      << status.text;
}

//===----------------------------------------------------------------------===//
// Files that are not what they say
//===----------------------------------------------------------------------===//

namespace {
/// A good module as bytes. Each test damages one thing and says which sentence
/// must come.
class DamagedModule : public ::testing::Test {
protected:
  DamagedModule() {
    TinyModel model;
    content = readFile(model.write(folder.file("good.gist")));
    std::memcpy(&header, content.data(), sizeof(header));
    sections.resize(header.sectionCount);
    std::memcpy(sections.data(), content.data() + sizeof(header),
                sections.size() * sizeof(SectionHeader));
  }

  /// Puts header and table back, with a hash that fits.
  void seal() {
    header.hash = 0;
    Bytes table{reinterpret_cast<const uint8_t *>(sections.data()),
                sections.size() * sizeof(SectionHeader)};
    Hasher hasher;
    hasher.update({reinterpret_cast<const uint8_t *>(&header), sizeof(header)});
    hasher.update(table);
    header.hash = hasher.finish();
    std::memcpy(content.data(), &header, sizeof(header));
    std::memcpy(content.data() + sizeof(header), table.data, table.size);
  }

  std::string message() {
    writeFile(folder.file("bad.gist"), content);
    std::shared_ptr<const Module> module;
    Status status = Module::open(folder.file("bad.gist"), module);
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(module);
    std::string prefix = folder.file("bad.gist") + ": ";
    EXPECT_EQ(status.text.rfind(prefix, 0), 0u) << status.text;
    return status.text.substr(std::min(prefix.size(), status.text.size()));
  }

  SectionHeader &section(SectionKind kind) {
    for (SectionHeader &candidate : sections)
      if (candidate.kind == kind)
        return candidate;
    ADD_FAILURE() << "no such section";
    return sections[0];
  }

  TemporaryFolder folder;
  std::string content;
  FileHeader header;
  std::vector<SectionHeader> sections;
};
} // namespace

// Another kind of file gets a plain answer.
TEST_F(DamagedModule, NotAModule) {
  content = "ELF and so on";
  EXPECT_EQ(message(), "the file is not a gist module");
  // A file that a cure is known for is named.
  content = "GGUF and so on";
  EXPECT_EQ(message(), "the file is a GGUF model; 'gist-compile MODEL' makes a "
                       "module of it");
  content.clear();
  EXPECT_EQ(message(), "the file is empty");
}

// The sentence says what to do.
TEST_F(DamagedModule, Version) {
  header.major = 9;
  header.minor = 3;
  seal();
  EXPECT_EQ(message(), "the module has format 9.3, but this runtime reads 1.x; "
                       "compile the model again "
                       "with a matching gist-compile");
}

// Minor versions may add, never change.
TEST_F(DamagedModule, NewerMinorIsAccepted) {
  header.minor = 200;
  seal();
  writeFile(folder.file("newer.gist"), content);
  EXPECT_TRUE(openModule(folder.file("newer.gist")));
}

// The most common damage has its own sentence.
TEST_F(DamagedModule, Truncated) {
  size_t full = content.size();
  content.resize(full - 100);
  EXPECT_EQ(message(), "the module has " + std::to_string(full) +
                           " bytes, but the file has " +
                           std::to_string(full - 100) +
                           "; was it copied completely?");
}

TEST_F(DamagedModule, HeaderHash) {
  content[70] ^= 1; // in the section table
  EXPECT_EQ(message(), "the header is damaged");
}

// Refused before a table of that size is read.
TEST_F(DamagedModule, TooManySections) {
  header.sectionCount = 1u << 31;
  // Not sealed: the count is refused before the hash, which covers the table.
  std::memcpy(content.data(), &header, sizeof(header));
  EXPECT_EQ(message(),
            "the module has 2147483648 sections; at most 256 are allowed");
}

TEST_F(DamagedModule, SectionHashes) {
  struct {
    SectionKind kind;
    const char *text;
  } cases[] = {{SectionKind::Metadata, "metadata section is damaged"},
               {SectionKind::Code, "code section is damaged"},
               {SectionKind::Tokenizer, "tokenizer section is damaged"}};
  for (const auto &c : cases) {
    uint64_t at = section(c.kind).offset + section(c.kind).size / 2;
    content[at] ^= 4;
    EXPECT_EQ(message(), c.text);
    content[at] ^= 4;
  }
}

// Hashing gigabytes at every start would cost too much.
TEST_F(DamagedModule, WeightsAreCheckedOnRequest) {
  content[section(SectionKind::Weights).offset + 5] ^= 1;
  writeFile(folder.file("weights.gist"), content);
  auto module = openModule(folder.file("weights.gist"));
  ASSERT_TRUE(module);
  EXPECT_EQ(module->verifyWeights().text, "weight 'embeddings' is damaged");
}

// offset + size wraps around.
TEST_F(DamagedModule, SectionsOutside) {
  section(SectionKind::Weights).size = UINT64_MAX - 10;
  seal();
  EXPECT_EQ(message(), "weight: 18446744073709551605 bytes at offset 4096 do "
                       "not fit in " +
                           std::to_string(content.size()));
}

TEST_F(DamagedModule, SectionsOverlap) {
  sections[1].offset = sections[0].offset;
  seal();
  EXPECT_EQ(message(), "sections overlap");
}

TEST_F(DamagedModule, Alignment) {
  // An offset modulo zero would end the program.
  section(SectionKind::Weights).alignment = 0;
  seal();
  EXPECT_EQ(message(), "weight section at offset 4096 is not aligned to 0");
}

// Newer files may add sections, but can say that one must be understood.
TEST_F(DamagedModule, UnknownSections) {
  section(SectionKind::Tokenizer).kind = static_cast<SectionKind>(99);
  seal();
  writeFile(folder.file("extra.gist"), content);
  EXPECT_TRUE(openModule(folder.file("extra.gist")));
  for (SectionHeader &candidate : sections)
    if (candidate.kind == static_cast<SectionKind>(99))
      candidate.flags = kSectionRequired;
  seal();
  EXPECT_EQ(message(), "the module needs a newer runtime: this one does not "
                       "know sections of kind 99");
}

// All that a session relies on is asked for when the file is opened.
TEST_F(DamagedModule, MissingSections) {
  section(SectionKind::Code).kind = static_cast<SectionKind>(99);
  seal();
  EXPECT_EQ(message(), "target 'cpu' has no code");
  section(SectionKind::Metadata).kind = static_cast<SectionKind>(98);
  seal();
  EXPECT_EQ(message(), "the module has no metadata section");
}

// What an older runtime must not ignore.
TEST(Module, UnknownRequirementIsRefused) {
  TemporaryFolder folder;
  TinyModel model;
  model.writer.spec.requirements = {"paged-cache"};
  std::shared_ptr<const Module> module;
  Status status = Module::open(model.write(folder.file("m.gist")), module);
  EXPECT_EQ(status.code, Code::Unsupported);
  EXPECT_NE(status.text.find("the module needs a newer runtime: this one does "
                             "not know 'paged-cache'"),
            std::string::npos);
}

// Three thousand references to one string of three thousand bytes: a file of
// 15 KB must not unpack into 9 MB.
TEST(Metadata, SharingDoesNotMultiply) {
  flatbuffers::FlatBufferBuilder builder;
  auto text = builder.CreateString(std::string(3000, 'x'));
  std::vector<flatbuffers::Offset<flatbuffers::String>> texts(3000, text);
  auto requirements = builder.CreateVector(texts);
  fb::MetadataBuilder metadata(builder);
  metadata.add_requirements(requirements);
  builder.Finish(metadata.Finish());
  ModuleSpec spec;
  RankSpec ranks;
  Status status = decodeMetadata(
      {builder.GetBufferPointer(), builder.GetSize()}, spec, ranks);
  EXPECT_EQ(
      status.text,
      "the metadata is damaged: its tables refer to more data than it holds");
  EXPECT_TRUE(spec.requirements.empty());
}
