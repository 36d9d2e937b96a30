"""SentencePiece's models give the ids of `sentencepiece`, `tokenizers` and
`transformers`, from each of the three files that they are found in.

Models are trained here, small and in every variant; Mistral's own is in the wheel
of mistral-common.
"""
import functools
import io
import json
import os
import random

import pytest
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from tokenizers_common import (
    broken_lines, corpus, decode, encode, file_keys, pack, prose_and_code, run, wheel,
)
from tokenizers_test import added_token_lines, check, check_decoding, ids_of, import_gguf
from tokenizers_test import import_tokenizer, text_of

MARK = "\u2581"
USER_DEFINED = ("<|user|>", "日本", "  ", "ab" + MARK + "c")
ODD = [
    "", " ", "  ", "   ", " a", "a ", " a ", "a  b", "a   b   ", "\n", "\n\n", "\t", " \n ",
    MARK, MARK * 3, " " + MARK, MARK + " a", "a" + MARK + "b", "<s>", "</s>", "<unk>", "a<s>b",
    "<s> a", "<s>a</s>", " <s>  b", "<0x41>", "<0x0A>\n", "<0x", "<|user|>", "a<|user|>b",
    " <|user|> ", "日本語", "😀", "😀😀 a", "👨‍👩‍👧‍👦", "é é", "\u0000", "\ufffd", "\u3000a",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ab c", "ab" + MARK + "c",
]


@functools.cache
def lines_of_text():
    rng = random.Random(5)
    odd = ["".join(rng.choices(ODD, k=3)) for _ in range(3000)]
    texts = corpus()[::10]
    return [line.encode() for line in ODD + odd] + texts + broken_lines(500, 7)


@functools.cache
def train(**options):
    """A model's bytes."""
    out = io.BytesIO()
    lines = [line.decode() for line in prose_and_code()[:8000]]
    settings = dict(
        model_type="bpe", vocab_size=1200, byte_fallback=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, character_coverage=0.995, minloglevel=2,
        split_digits=True, num_threads=1)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, **(settings | options))
    return out.getvalue()


@pytest.fixture(scope="module")
def llama_like():
    return train(user_defined_symbols=USER_DEFINED)


def with_unused(model):
    """Every seventh piece may not be given out: it is taken apart again."""
    message = proto.ModelProto.FromString(model)
    for i, piece in enumerate(message.pieces):
        if piece.type == piece.NORMAL and i % 7 == 0 and len(piece.piece) > 1:
            piece.type = piece.UNUSED
    return message.SerializeToString()


VARIANTS = {
    "bpe": lambda: train(user_defined_symbols=USER_DEFINED),
    "bpe-unused": lambda: with_unused(train()),
    "bpe-unknown": lambda: train(byte_fallback=False),
    "bpe-spaces": lambda: train(remove_extra_whitespaces=True),
    "bpe-no-prefix": lambda: train(add_dummy_prefix=False),
    "unigram": lambda: train(model_type="unigram", user_defined_symbols=USER_DEFINED),
    "unigram-unused": lambda: with_unused(train(model_type="unigram")),
    "unigram-unknown": lambda: train(model_type="unigram", byte_fallback=False),
    "unigram-spaces": lambda: train(model_type="unigram", remove_extra_whitespaces=True),
}


def import_model(model, folder, config=None):
    """A folder with tokenizer.model alone."""
    (folder / "tokenizer.model").write_bytes(model)
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    run("import-folder", folder, folder / "spec")
    return folder / "spec"


def processor(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def check_with_sentencepiece(spec, reference, model):
    lines = lines_of_text()
    check(spec, lambda text: reference.encode(text), lines, "text")
    bos = reference.bos_id()
    assert encode(spec, [b"a b"])[0] == [bos] + reference.encode("a b")
    # Any ids, bytes in any order among them; unknown ones are shown in other words.
    rng = random.Random(2)
    usable = [i for i in range(reference.vocab_size())
              if not reference.is_unknown(i) and not reference.is_control(i)]
    some_bytes = [i for i in usable if reference.is_byte(i)] or usable
    lists = [rng.choices(usable, k=rng.randrange(1, 12)) for _ in range(3000)]
    lists += [rng.choices(usable[-400:] + some_bytes, k=rng.randrange(1, 12)) for _ in range(3000)]
    lists += [reference.encode(line.decode("utf-8", "replace")) for line in lines[::5]]
    lists = [ids for ids in lists if not any(map(reference.is_unknown, ids))]
    for ids, text in zip(lists, decode(spec, lists), strict=True):
        assert text == reference.decode(ids), ids
    check_streams(spec, lists, decode(spec, lists, "all"))


def check_streams(spec, id_lists, texts):
    pieces = iter(run("stream", spec, records=map(pack, id_lists)))
    for ids, text in zip(id_lists, texts, strict=True):
        assert "".join(next(pieces).decode() for _ in range(len(ids) + 1)) == text
    assert next(pieces, None) is None


@pytest.mark.parametrize("name", VARIANTS)
def test_tokenizer_model(name, tmp_path):
    model = VARIANTS[name]()
    reference = processor(model)
    check_with_sentencepiece(import_model(model, tmp_path), reference, model)


def mistral(name):
    return (wheel("mistral-common==1.13.0") / "mistral_common/data" / name).read_bytes()


@pytest.mark.parametrize("name", ["tokenizer.model.v1",
                                  "mistral_instruct_tokenizer_240323.model.v3"])
def test_mistral_model(name, tmp_path):
    model = mistral(name)
    check_with_sentencepiece(import_model(model, tmp_path), processor(model), model)


def marked(model):
    """Pieces that the user defined have marks for spaces, as the texts that they are looked
    for in: GGUF files cannot tell the two apart."""
    message = proto.ModelProto.FromString(model)
    for piece in message.pieces:
        if piece.type == piece.USER_DEFINED:
            piece.piece = piece.piece.replace(" ", MARK)
    return message.SerializeToString()


def gguf_keys(model):
    """As llama.cpp converts it: with spaces in pieces that the user defined."""
    message = proto.ModelProto.FromString(model)
    trainer, normalizer = message.trainer_spec, message.normalizer_spec
    return {
        "model": "llama", "pre": "default", "merges": [], "chat_template": "",
        "tokens": [piece.piece.replace(MARK, " ") if piece.type == piece.USER_DEFINED
                   else piece.piece for piece in message.pieces],
        "scores": [piece.score for piece in message.pieces],
        "token_type": [piece.type for piece in message.pieces],
        "bos_token_id": trainer.bos_id, "eos_token_id": trainer.eos_id,
        "unknown_token_id": trainer.unk_id,
        "add_space_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
    }


@pytest.mark.parametrize("name", ["bpe", "bpe-unused", "bpe-unknown", "bpe-spaces",
                                  "bpe-no-prefix"])
def test_gguf(name, tmp_path):
    model = marked(VARIANTS[name]())
    check_with_sentencepiece(import_gguf(gguf_keys(model), tmp_path), processor(model), model)


def test_gemma3(tmp_path):
    """The vocabulary of Gemma 3's GGUF file, of 262,144 pieces, as SentencePiece reads it:
    no space in front, and runs of spaces and of newlines are pieces of their own."""
    if not os.environ.get("GIST_GEMMA3_GGUF"):
        pytest.skip("GIST_GEMMA3_GGUF does not name a model")
    keys = file_keys(os.environ["GIST_GEMMA3_GGUF"])
    message = proto.ModelProto()
    unknown = keys["unknown_token_id"]
    for id, parts in enumerate(zip(keys["tokens"], keys["scores"], keys["token_type"])):
        # The file has 3, a control piece, for the unknown one.
        text, score, type = parts
        # Pieces of spaces come as spaces.
        message.pieces.add(piece=text.replace(" ", MARK), score=score,
                           type=2 if id == unknown else type)
    trainer, normalizer = message.trainer_spec, message.normalizer_spec
    trainer.model_type, trainer.byte_fallback = trainer.BPE, True
    for name in ("unk", "bos", "eos", "pad"):
        id = keys[{"unk": "unknown", "pad": "padding"}.get(name, name) + "_token_id"]
        setattr(trainer, f"{name}_id", id)
        setattr(trainer, f"{name}_piece", keys["tokens"][id])
    normalizer.add_dummy_prefix = normalizer.remove_extra_whitespaces = False
    reference = processor(message.SerializeToString())
    spec = import_gguf({"merges": [], "chat_template": ""} | keys, tmp_path)
    # Names of control pieces are tokens for us and text for SentencePiece.
    control = [text.encode() for text, type in zip(keys["tokens"], keys["token_type"])
               if type == 3 and not text.startswith("<unused")]
    lines = [line for line in lines_of_text() + corpus()[5::10]
             if not any(name in line for name in control)]
    lines += [b"  a   b\n\n\nc\td", b"<table><tr>x</td>", b"\n" * 40, b" " * 70]
    assert len(lines) > 10000
    check(spec, lambda text: reference.encode(text), lines, "text")
    assert encode(spec, [b"a b"])[0] == [reference.bos_id()] + reference.encode("a b")
    ids = [reference.encode(line.decode("utf-8", "replace")) for line in lines[::7]]
    for got, line in zip(decode(spec, ids), ids, strict=True):
        assert got == reference.decode(line)


def test_gguf_is_the_model(tmp_path):
    """Mistral's pieces by both ways in give the same file, bit for bit."""
    model = mistral("tokenizer.model.v1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "gguf").mkdir()
    folder = import_model(model, tmp_path / "folder")
    assert folder.read_bytes() == import_gguf(gguf_keys(model), tmp_path / "gguf").read_bytes()


def piece_json(model, **changes):
    """The pieces as Hugging Face writes them in tokenizer.json, with merges."""
    message = proto.ModelProto.FromString(model)
    vocab = {piece.piece: id for id, piece in enumerate(message.pieces)}
    merges = []
    for piece in message.pieces:
        text = piece.piece
        if piece.type != piece.NORMAL:
            continue
        parts = [(text[:i], text[i:]) for i in range(1, len(text))]
        parts = [(a, b) for a, b in parts if a in vocab and b in vocab]
        merges += [(piece.score, a, b) for a, b in sorted(parts, key=lambda p: (vocab[p[0]], vocab[p[1]]))]
    merges.sort(key=lambda merge: -merge[0])
    options = dict(fuse_unk=True, byte_fallback=True, unk_token="<unk>") | changes
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab, [(a, b) for _, a, b in merges], **options))
    tokenizer.add_special_tokens([
        AddedToken(text, special=True, normalized=False) for text in ("<unk>", "<s>", "</s>")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(content=" ", left=1)])
    return tokenizer


def llama_normalizer():
    return normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])


def check_json(tokenizer, folder):
    spec = import_tokenizer(tokenizer, folder)
    lines = lines_of_text()
    check(spec, ids_of(tokenizer), lines)
    check(spec, ids_of(tokenizer), added_token_lines()[::5])
    check_decoding(spec, text_of(tokenizer), lines[::5])
    ids = encode(spec, lines[::5])
    check_streams(spec, ids, decode(spec, ids, "all"))
    return spec


def test_llama_json(llama_like, tmp_path):
    """Llama 2's form: the normalizer marks spaces, BOS goes in front."""
    tokenizer = piece_json(llama_like)
    tokenizer.normalizer = llama_normalizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    tokenizer.add_tokens([AddedToken("größe", normalized=True),
                          AddedToken("<left>", lstrip=True, normalized=False),
                          AddedToken("word", single_word=True, normalized=False)])
    check_json(tokenizer, tmp_path)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_metaspace_json(llama_like, tmp_path, scheme, split):
    tokenizer = piece_json(llama_like)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    tokenizer.add_tokens([AddedToken("größe", normalized=True), AddedToken("<a>")])
    check_json(tokenizer, tmp_path)


@pytest.mark.parametrize("scheme", ["always", "never"])
def test_metaspace_decoder(llama_like, tmp_path, scheme):
    """Without bytes: unknown characters, one by one or together."""
    tokenizer = piece_json(llama_like, byte_fallback=False, fuse_unk=scheme == "always")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    check_json(tokenizer, tmp_path)


def test_some_bytes_are_missing(llama_like, tmp_path):
    """A character with a byte that has no token is unknown as a whole."""
    data = json.loads(piece_json(llama_like).to_str())
    vocab = data["model"]["vocab"]
    for byte in (0x9F, 0xA9, 0x0A):
        vocab[f"<gone {byte}>"] = vocab.pop(f"<0x{byte:02X}>")
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(data))
    tokenizer.normalizer = llama_normalizer()
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), lines_of_text())


def test_transformers_llama(llama_like, tmp_path):
    """LlamaTokenizer as `transformers` saves it."""
    from transformers import LlamaTokenizer

    backend = json.loads(piece_json(llama_like).to_str())["model"]
    slow = LlamaTokenizer(vocab=backend["vocab"], merges=[tuple(m) for m in backend["merges"]])
    slow.save_pretrained(tmp_path)
    run("import-folder", tmp_path, tmp_path / "spec")
    lines = lines_of_text()
    check(tmp_path / "spec", lambda text: slow(text)["input_ids"], lines)
    ids = encode(tmp_path / "spec", lines[::7])
    for got, line_ids in zip(decode(tmp_path / "spec", ids), ids, strict=True):
        assert got == slow.decode(line_ids, skip_special_tokens=True)


def test_streams(llama_like, tmp_path):
    """Bytes wait for their character; the first space goes unless text was before."""
    spec = import_model(llama_like, tmp_path)
    reference = processor(llama_like)
    byte = lambda value: reference.piece_to_id(f"<0x{value:02X}>")
    a, mark = reference.piece_to_id("a"), reference.piece_to_id(MARK + "a")
    ids = [mark, byte(0xE2), byte(0x82), byte(0xAC), byte(0xF0), byte(0x9F), a, byte(0xE2),
           byte(0xC3), byte(0xA9), mark, byte(0xC3)]
    pieces = [p.decode() for p in run("stream", spec, records=[pack(ids)])]
    assert pieces == ["a", "", "", "€", "", "", "\ufffd\ufffda", "", "\ufffd", "é", " a", "", "\ufffd"]
    after = [p.decode() for p in run("stream", spec, "after", records=[pack(ids)])]
    assert after == [" a", *pieces[1:]]


@pytest.mark.parametrize("config, prefixes", [
    ({}, [True, True]), ({"legacy": False}, [True, False]), ({"add_prefix_space": False}, [False, False]),
])
def test_options_of_a_folder(llama_like, tmp_path, config, prefixes):
    """Whether a space goes in front of a text, and in front of what follows a token."""
    spec = import_model(llama_like, tmp_path, config | {"add_bos_token": False})
    reference = processor(llama_like)
    parts = [reference.encode("the") if p else
             processor(without_prefix(llama_like)).encode("the") for p in prefixes]
    assert encode(spec, [b"the</s>the"]) == [parts[0] + [2] + parts[1]]


def without_prefix(model):
    message = proto.ModelProto.FromString(model)
    message.normalizer_spec.add_dummy_prefix = False
    return message.SerializeToString()


def refusal(*arguments):
    with pytest.raises(RuntimeError) as error:
        run(*arguments)
    assert str(error.value).startswith("tokenizers-driver: error: ")
    return str(error.value)


def test_normalizers_are_refused(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes(train(normalization_rule_name="nmt_nfkc"))
    assert "normalizer 'nmt_nfkc'; supported is identity" in refusal(
        "import-folder", tmp_path, tmp_path / "spec")


def change(model, edit):
    message = proto.ModelProto.FromString(model)
    edit(message)
    return message.SerializeToString()


def set_piece(at, **values):
    def edit(message):
        for key, value in values.items():
            setattr(message.pieces[at], key, value)
    return edit


BAD = {
    "piece 500 stands for a byte, but its text is '<0x-1>'": set_piece(500, piece="<0x-1>", type=6),
    "piece '<0x41>' appears twice": set_piece(500, piece="<0x41>", type=6),
    "the score of piece 500 is not a finite number": set_piece(500, score=float("nan")),
    "score of piece 501 is not a finite": set_piece(501, score=float("-inf")),
    "pieces 0 and 500 are both for unknown text": set_piece(500, type=2),
    "no piece is for unknown text": set_piece(0, type=3),
    "there are pieces for 255 of 256 bytes": set_piece(40, type=1),
    "piece 500 has no text": set_piece(500, piece=""),
    "is of type 4; supported are unigram (1) and BPE (2)":
        lambda message: setattr(message.trainer_spec, "model_type", 4),
    "has spaces behind words": lambda message: setattr(
        message.trainer_spec, "treat_whitespace_as_suffix", True),
    "says the opposite": lambda message: setattr(message.trainer_spec, "byte_fallback", False),
    "appears twice; the second is piece 501": lambda message: set_piece(
        501, piece=message.pieces[500].piece)(message),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_models_are_refused(llama_like, tmp_path, sentence):
    (tmp_path / "tokenizer.model").write_bytes(change(llama_like, BAD[sentence]))
    assert sentence in refusal("import-folder", tmp_path, tmp_path / "spec")


def test_damaged_models_do_no_harm(llama_like, tmp_path):
    """Whatever the bytes: a sentence, or a tokenizer that can be used."""
    rng, used = random.Random(3), 0
    for i in range(300):
        content = bytearray(llama_like)
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        (tmp_path / "tokenizer.model").write_bytes(content[: rng.choice([len(content), i * 20])])
        try:
            run("import-folder", tmp_path, tmp_path / "spec")
        except RuntimeError as error:
            assert str(error).startswith("tokenizers-driver: error: ")
            continue
        used += 1
        decode(tmp_path / "spec", encode(tmp_path / "spec", [b"Hello  \xf0\x9f\x98\x80<s>\n"]))
    assert 10 < used < 290


@pytest.mark.parametrize("name", ["bpe", "unigram"])
def test_speed(name, tmp_path):
    """Long texts without spaces take no quadratic time."""
    spec = import_model(VARIANTS[name](), tmp_path)
    text = b"\n".join(prose_and_code())[: 1 << 20]
    assert run("time", spec, records=[text]) < 4
    assert run("time", spec, records=[b"a" * (1 << 20)]) < 4
    assert run("time", spec, records=["😀".encode() * (1 << 18)]) < 4
