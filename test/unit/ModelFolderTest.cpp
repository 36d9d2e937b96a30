//===- ModelFolderTest.cpp - Folders of one and of several files ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelFolder.h"
#include "passes/Import/Files/ModelSource.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

using namespace gist;

namespace {

struct ModelFolderTest : testing::Test {
  std::filesystem::path folder;

  void SetUp() override {
    std::string pattern = testing::TempDir() + "gist-folder-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    write("config.json", R"({"model_type": "test"})");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string &name, std::string_view text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }

  /// A file with one tensor of one f32.
  void writeWeights(const std::string &name, const std::string &tensor) const {
    std::string header = "{\"" + tensor + R"(":{"dtype":"F32","shape":[1],)" +
                         R"("data_offsets":[0,4]}})";
    uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char *>(&length), 8);
    write(name, bytes + header + std::string(4, '\1'));
  }

  std::string error() const {
    ModelFolder result;
    Status status = openModelFolder(folder, result);
    EXPECT_FALSE(status.ok());
    // A folder that is refused keeps no file mapped.
    EXPECT_TRUE(result.files.empty());
    // The folder's own name differs from run to run.
    std::string text = status.text, path = folder;
    for (size_t at; (at = text.find(path)) != std::string::npos;)
      text.replace(at, path.size(), "F");
    return text;
  }
};

// Files that a folder does not have are empty texts.
TEST_F(ModelFolderTest, OneFile) {
  writeWeights("model.safetensors", "w");
  write("tokenizer.json", "{}");
  ModelFolder result;
  Status status = openModelFolder(folder, result);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(result.config["model_type"], "test");
  EXPECT_EQ(result.text("tokenizer.json"), "{}");
  EXPECT_EQ(result.text("merges.txt"), "");
  EXPECT_FALSE(result.pooling.present);
  EXPECT_EQ(result.tensors.at("w").file, folder / "model.safetensors");
  EXPECT_EQ(result.tensors.at("w").content.data[3], 1);
}

// Large models come in shards with an index.
TEST_F(ModelFolderTest, SeveralFiles) {
  writeWeights("m-1.safetensors", "a");
  writeWeights("m-2.safetensors", "b");
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})");
  ModelFolder result;
  Status status = openModelFolder(folder, result);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(result.files.size(), 2u);
  EXPECT_EQ(result.tensors.at("b").file, folder / "m-2.safetensors");
}

// How to pool is in two files beside the model.
TEST_F(ModelFolderTest, SentenceTransformersFolder) {
  writeWeights("model.safetensors", "w");
  write("modules.json",
        R"([{"type":"sentence_transformers.models.Transformer"},)"
        R"({"type":"sentence_transformers.models.Pooling"},)"
        R"({"type":"sentence_transformers.models.Normalize"}])");
  write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens":true})");
  ModelFolder result;
  ASSERT_TRUE(openModelFolder(folder, result).ok());
  EXPECT_TRUE(result.pooling.present);
  EXPECT_TRUE(result.pooling.mean);
  EXPECT_TRUE(result.pooling.normalize);
  EXPECT_EQ(result.pooling.maxTokens, 0);

  // Real folders have such files; they limit nothing.
  for (const char *none : {"{}", R"({"max_seq_length":null})", "[]"}) {
    write("sentence_bert_config.json", none);
    ASSERT_TRUE(openModelFolder(folder, result).ok()) << none;
    EXPECT_EQ(result.pooling.maxTokens, 0) << none;
  }
  write("sentence_bert_config.json", R"({"max_seq_length":256})");
  ASSERT_TRUE(openModelFolder(folder, result).ok());
  EXPECT_EQ(result.pooling.maxTokens, 256);
  for (const char *bad : {"0", "-1", "1.5", "\"256\"", "[256]"}) {
    write("sentence_bert_config.json",
          std::string(R"({"max_seq_length":)") + bad + "}");
    EXPECT_NE(error().find("'max_seq_length' is "), std::string::npos) << bad;
    EXPECT_NE(error().find("; expected an integer from 1 to 16777216"),
              std::string::npos)
        << error();
  }
}

// The file that is missing is named, and so is the one that promised it.
TEST_F(ModelFolderTest, SaysWhatIsMissing) {
  EXPECT_EQ(error(), "F: the folder has neither model.safetensors nor "
                     "model.safetensors.index.json");
  writeWeights("m-1.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","b":"m-1.safetensors"}})");
  EXPECT_EQ(error(), "F/m-1.safetensors: the file has no tensor 'b', which "
                     "F/model.safetensors.index.json lists");
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-9.safetensors"}})");
  EXPECT_EQ(error(),
            "F/m-9.safetensors: cannot open: No such file or directory");
  write("config.json", "[]");
  EXPECT_EQ(error(), "F: the folder has no config.json with a JSON object");
  write("config.json", "{");
  EXPECT_EQ(error(),
            "F/config.json: not JSON: byte 2 is not what was expected there");
}

// Which of the two counts would be chance.
TEST_F(ModelFolderTest, RefusesATensorInTwoFiles) {
  writeWeights("m-1.safetensors", "a");
  writeWeights("m-2.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})");
  EXPECT_EQ(error(), "F: tensor 'a' is in two files");
}

} // namespace

// The tokenizer is made of what is there; a file of no bytes is damage.
TEST_F(ModelFolderTest, TokenizersOfFolders) {
  writeWeights("model.safetensors", "a");
  auto read = [&](TokenizerSpec &spec) {
    ModelSource source;
    Status status = openModelSource(folder, source);
    return status.ok() ? readTokenizer(source, spec) : status;
  };
  TokenizerSpec spec;
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n");
  Status status = read(spec);
  EXPECT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(spec.vocab.size(), 5u);
  write("tokenizer.json", "");
  EXPECT_NE(read(spec).text.find("tokenizer.json is empty"), std::string::npos);
}
