//===- MetadataDecode.cpp - A FlatBuffer to its ModuleSpec ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Format_generated.h"
#include "runtime/module/Metadata.h"

using namespace gist;

namespace {

/// Reads the parts of a FlatBuffer whose structure was verified. Several tables
/// of a hostile file may share one vector, so that a small file would unpack
/// into a huge one; the writer never shares, so what it wrote unpacks into at
/// most as many elements as it has bytes. That is the budget.
class Decoder {
public:
  explicit Decoder(uint64_t budget) : budget(budget) {}

  /// Checked once at the end: decoding goes on with empty parts until then.
  bool exhausted() const { return spent > budget; }
  /// Checked once at the end, too.
  bool misaligned() const { return isMisaligned; }

  std::string text(const flatbuffers::String *value) {
    return value && spend(value->size()) ? value->str() : std::string();
  }

  template <typename T>
  std::vector<T> numbers(const flatbuffers::Vector<T> *value) {
    if (!value || !canRead(*value))
      return {};
    return {value->begin(), value->end()};
  }

  /// Decodes every element of a vector of tables or structs.
  /// `in` may be null: FlatBuffers leaves out what is empty.
  template <typename T, typename Decode>
  auto all(const flatbuffers::Vector<T> *in, Decode decodeOne) {
    std::vector<decltype(decodeOne(*in->Get(0)))> out;
    if (!in || !canRead(*in))
      return out;
    out.reserve(in->size());
    for (const auto *element : *in)
      out.push_back(decodeOne(*element));
    return out;
  }

  std::vector<std::string> texts(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *in) {
    return all(
        in, [this](const flatbuffers::String &value) { return text(&value); });
  }

  /// Three dimensions of a grid or workgroup; `missing` for those that the file
  /// leaves out.
  std::array<uint32_t, 3> three(const flatbuffers::Vector<uint32_t> *value,
                                uint32_t missing) {
    // At most three are read, so this needs no budget.
    std::array<uint32_t, 3> out = {missing, missing, missing};
    for (uint32_t i = 0; value && i < value->size() && i < 3; ++i)
      out[i] = value->Get(i);
    return out;
  }

  ModelInfo model(const fb::Model &in);
  EntrySpec entry(const fb::Entry &in);
  CommandSpec command(const fb::Command &in);
  BufferSpec buffer(const fb::Buffer &in);
  KernelSpec kernel(const fb::Kernel &in);

private:
  /// The sum is of sizes below 2^32, so it does not wrap before it is refused.
  bool spend(uint64_t count) {
    spent += count;
    return !exhausted();
  }

  /// FlatBuffers verifies where the length of a vector is, but not that
  /// elements of more bytes than a length has are aligned.
  template <typename T> bool canRead(const flatbuffers::Vector<T> &value) {
    constexpr size_t alignment = alignof(std::remove_pointer_t<T>);
    if (value.size() != 0 &&
        reinterpret_cast<uintptr_t>(value.Data()) % alignment != 0)
      isMisaligned = true;
    return !isMisaligned && spend(value.size());
  }

  uint64_t budget;
  uint64_t spent = 0;
  bool isMisaligned = false;
};

} // namespace

ModelInfo Decoder::model(const fb::Model &in) {
  ModelInfo out;
  out.architecture = text(in.architecture());
  out.name = text(in.name());
  out.vocabSize = in.vocab_size();
  out.contextLength = in.context_length();
  out.embeddingSize = in.embedding_size();
  out.layerCount = in.layer_count();
  out.prefillChunk = in.prefill_chunk();
  out.bosToken = in.bos_token();
  out.padToken = in.pad_token();
  out.unkToken = in.unk_token();
  out.stopTokens = numbers(in.stop_tokens());
  // Each pair spends what its texts are long; a table without texts is bounded
  // by the verifier's number of tables.
  if (in.properties())
    for (const fb::Property *property : *in.properties())
      out.properties[text(property->key())] = text(property->value());
  return out;
}

BufferSpec Decoder::buffer(const fb::Buffer &in) {
  BufferSpec out;
  out.name = text(in.name());
  // Numbers of enumerations are taken as they are here; verifySpec refuses
  // those that it does not know.
  out.kind = static_cast<BufferKind>(in.kind());
  out.type = static_cast<ElementType>(in.type());
  out.shape = numbers(in.shape());
  out.size = in.size();
  out.offset = in.offset();
  out.base = in.base();
  out.zeroOnReset = in.zero_on_reset();
  return out;
}

KernelSpec Decoder::kernel(const fb::Kernel &in) {
  KernelSpec out;
  out.name = text(in.name());
  out.argCount = in.arg_count();
  out.code = all(in.code(), [this](const fb::KernelCode &code) {
    return KernelCode{
        code.target(),        text(code.symbol()), three(code.workgroup(), 1),
        code.shared_memory(), code.waits(),        text(code.by_table())};
  });
  return out;
}

CommandSpec Decoder::command(const fb::Command &in) {
  CommandSpec out;
  out.kernel = in.kernel();
  out.grid = three(in.grid(), kNone);
  out.args = all(in.args(), [](const fb::Arg &arg) {
    return ArgSpec{arg.buffer(), arg.value()};
  });
  out.after = numbers(in.after());
  out.hasAfter = in.has_after();
  out.layer = in.layer();
  out.label = text(in.label());
  out.flops = in.flops();
  out.bytes = in.bytes();
  out.byRows = in.by_rows();
  return out;
}

EntrySpec Decoder::entry(const fb::Entry &in) {
  EntrySpec out;
  out.name = text(in.name());
  out.target = in.target();
  out.maxTokens = in.max_tokens();
  out.arenaSize = in.arena_size();
  out.inputs = numbers(in.inputs());
  out.outputs = numbers(in.outputs());
  out.commands = all(in.commands(), [this](const fb::Command &element) {
    return command(element);
  });
  out.statistics = all(in.statistics(), [this](const fb::Statistic &element) {
    return StatisticSpec{text(element.name()), element.layer(),
                         element.buffer()};
  });
  out.observations =
      all(in.observations(), [this](const fb::Observation &element) {
        return ObservationSpec{static_cast<ObservationKind>(element.kind()),
                               element.layer(), text(element.group()),
                               texts(element.weights()), element.output()};
      });
  return out;
}

/// Turns the metadata section into a spec. What it means is checked by
/// verifySpec. On error `spec` is left as it was.
Status gist::decodeMetadata(Bytes bytes, ModuleSpec &spec, RankSpec &ranks) {
  // The schema nests less deep, and a module of the largest models has far
  // fewer tables.
  constexpr int kMaxDepth = 16;
  constexpr int kMaxTables = 4'000'000;
  flatbuffers::Verifier verifier(bytes.data, bytes.size, kMaxDepth, kMaxTables);
  if (!fb::VerifyMetadataBuffer(verifier))
    return Status::error(Code::BadFile, "the metadata is damaged");

  const fb::Metadata &in = *fb::GetMetadata(bytes.data);
  Decoder decoder(bytes.size);
  ModuleSpec out;
  if (in.model())
    out.model = decoder.model(*in.model());
  out.producer = decoder.text(in.producer());
  out.requirements = decoder.texts(in.requirements());
  out.symbols = decoder.all(in.symbols(), [&](const fb::Symbol &symbol) {
    return SymbolSpec{decoder.text(symbol.name()), symbol.min(), symbol.max(),
                      symbol.initial()};
  });
  out.exprs = decoder.all(in.exprs(), [&](const fb::Expr &expr) {
    return Expr{decoder.all(expr.steps(), [](const fb::ExprStep &step) {
      return ExprStep{static_cast<ExprOp>(step.op()), step.value()};
    })};
  });
  // A spread of 0 is how the format says: not random.
  out.weights = decoder.all(in.weights(), [&](const fb::Weight &weight) {
    return WeightSpec{
        decoder.text(weight.name()),
        decoder.text(weight.format()),
        decoder.numbers(weight.shape()),
        weight.offset(),
        weight.size(),
        weight.hash(),
        decoder.text(weight.file()),
        weight.random_spread() == 0
            ? std::optional<RandomNumbers>()
            : RandomNumbers{weight.random_mean(), weight.random_spread()}};
  });
  out.buffers = decoder.all(in.buffers(), [&](const fb::Buffer &buffer) {
    return decoder.buffer(buffer);
  });
  out.targets = decoder.all(in.targets(), [&](const fb::Target &target) {
    return TargetSpec{decoder.text(target.name()),
                      decoder.text(target.device()),
                      decoder.text(target.triple()),
                      decoder.text(target.cpu()),
                      decoder.texts(target.features()),
                      static_cast<CodeFormat>(target.format())};
  });
  out.kernels = decoder.all(in.kernels(), [&](const fb::Kernel &kernel) {
    return decoder.kernel(kernel);
  });
  out.entries = decoder.all(in.entries(), [&](const fb::Entry &entry) {
    return decoder.entry(entry);
  });
  RankSpec shared;
  if (const fb::Ranks *said = in.ranks()) {
    shared.count = said->count();
    shared.targets = decoder.numbers(said->targets());
    shared.collectives =
        decoder.all(said->collectives(), [&](const fb::Collective &one) {
          return CollectiveSpec{
              one.kernel(), static_cast<Collective>(one.kind()),
              decoder.numbers(one.columns()), one.from(), one.to()};
        });
  }
  if (decoder.misaligned())
    return Status::error(Code::BadFile, "the metadata is damaged: numbers are "
                                        "not where their size asks for");
  if (decoder.exhausted())
    return Status::error(
        Code::BadFile,
        "the metadata is damaged: its tables refer to more data than it holds");
  spec = std::move(out);
  ranks = std::move(shared);
  return {};
}
