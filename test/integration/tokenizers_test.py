"""The runtime's tokenizers give the ids of `tokenizers` and `transformers`.

The same vocabulary is given to both sides: from published models where there
is one, trained here where a pre-tokenizer has none at hand.
"""
import json

import pytest
import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, processors, trainers

from tokenizers_common import (
    corpus, decode, encode, minilm, pack, prose_and_code, run, smollm2,
)

GPT2_SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
ESM = (
    "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - "
    "<null_1> <mask>"
).split()


def check(spec, reference, lines, *options):
    """`reference` gives the ids of a str."""
    assert len(lines) >= 10000
    got = encode(spec, lines, *options)
    for line, ids in zip(lines, got, strict=True):
        expected = reference(line.decode("utf-8", "replace"))
        assert ids == expected, line


def check_decoding(spec, reference, lines):
    """`reference` gives the text of ids."""
    ids = encode(spec, lines)
    for got, line_ids in zip(decode(spec, ids, "all"), ids, strict=True):
        assert got == reference(line_ids)


def import_tokenizer(tokenizer, folder, config=None):
    """Saves a `tokenizers` tokenizer and imports the folder."""
    tokenizer.save(str(folder / "tokenizer.json"))
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    run("import-folder", folder, folder / "spec")
    return folder / "spec"


def import_gguf(keys, folder):
    (folder / "keys.json").write_text(json.dumps(keys))
    run("import-gguf", folder / "keys.json", folder / "spec")
    return folder / "spec"


def ids_of(tokenizer):
    return lambda text: tokenizer.encode(text).ids


def text_of(tokenizer):
    return lambda ids: tokenizer.decode(ids, skip_special_tokens=False)


@pytest.fixture(scope="module")
def trained():
    """A byte-level BPE vocabulary with the expression of GPT-2, as JSON."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=GPT2_SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    lines = [line.decode("utf-8", "replace") for line in corpus()[:40000]]
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer.to_str()


def fresh(trained, **changes):
    data = json.loads(trained)
    data["model"].update(changes)
    return tokenizers.Tokenizer.from_str(json.dumps(data))


def test_gpt2(trained, tmp_path):
    tokenizer = fresh(trained)
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), corpus())
    check_decoding(spec, text_of(tokenizer), corpus()[::7])


def test_gpt2_round_trip(trained, tmp_path):
    spec = import_tokenizer(fresh(trained), tmp_path)
    lines = corpus()
    texts = decode(spec, encode(spec, lines), "all")
    for line, text in zip(lines, texts, strict=True):
        assert text == line.decode("utf-8", "replace")


def test_gpt2_prefix_space_and_bos(trained, tmp_path):
    tokenizer = fresh(trained)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A <|im_end|>",
        special_tokens=[("<|im_start|>", 1), ("<|im_end|>", 2)],
    )
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), corpus()[:30000])
    plain = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    check(spec, plain, corpus()[:10000], "plain")


def test_gpt2_slow_files(trained, tmp_path):
    """vocab.json and merges.txt, and add_bos_token as OPT has it."""
    tokenizer = fresh(trained)
    tokenizer.model.save(str(tmp_path))
    config = {"add_bos_token": True, "bos_token": "<|endoftext|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    run("import-folder", tmp_path, tmp_path / "spec")
    lines = [line for line in prose_and_code() if b"<|im_" not in line]
    check(tmp_path / "spec", lambda text: [0] + tokenizer.encode(text).ids, lines)


@pytest.mark.parametrize("expression", [LLAMA3, QWEN2], ids=["llama3", "qwen2"])
def test_llama3_family(trained, tmp_path, expression):
    tokenizer = fresh(trained, ignore_merges=expression == LLAMA3)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(expression), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    if expression == QWEN2:
        tokenizer.normalizer = normalizers.NFC()
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), corpus())


def test_ignore_merges_finds_unmerged_words(trained, tmp_path):
    """A word that no merges lead to is one token all the same."""
    data = json.loads(trained)
    vocab = data["model"]["vocab"]
    vocab["Ġxyzzyplugh"] = len(vocab)
    data["model"]["ignore_merges"] = True
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(data))
    spec = import_tokenizer(tokenizer, tmp_path)
    expected = tokenizer.encode("say xyzzyplugh").ids
    assert expected[-1] == vocab["Ġxyzzyplugh"]
    assert encode(spec, [b"say xyzzyplugh"]) == [expected]


def added_token_flags():
    token = tokenizers.AddedToken
    return [
        token("<left>", lstrip=True, normalized=False),
        token("<right>", rstrip=True, normalized=False),
        token("<both>", lstrip=True, rstrip=True, special=True, normalized=False),
        token("word", single_word=True, normalized=False),
        token("Größe", normalized=True),
        token("<a>", normalized=False),
        token("<a><b>", normalized=False),
        token("日本", special=True, normalized=True),
    ]


def added_token_lines():
    import itertools

    parts = ["<left>", "<right>", "<both>", "word", "Größe", "größe", "<a>", "<b>",
             "日本", " ", "  \t", "x", "_", "é", "."]
    lines = ["".join(p) for p in itertools.product(parts, repeat=4)]
    return [line.encode() for line in lines]


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC()], ids=["none", "nfc"])
def test_added_token_flags(trained, tmp_path, normalizer):
    tokenizer = fresh(trained)
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens(added_token_flags())
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), added_token_lines())


def test_added_token_flags_bert(tmp_path):
    tokenizer = tokenizers.Tokenizer.from_file(str(minilm() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.add_tokens(added_token_flags())
    spec = import_tokenizer(tokenizer, tmp_path)
    check(spec, ids_of(tokenizer), added_token_lines())


def smollm2_reference():
    keys = smollm2()
    vocab = {token: id for id, token in enumerate(keys["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in keys["merges"]]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ])
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([
        tokenizers.AddedToken(token, special=True, normalized=False)
        for token, kind in zip(keys["tokens"], keys["token_type"], strict=True)
        if kind == 3
    ])
    return tokenizer


def test_smollm2_from_gguf(tmp_path):
    tokenizer = smollm2_reference()
    spec = import_gguf(smollm2(), tmp_path)
    check(spec, ids_of(tokenizer), corpus())
    check_decoding(spec, text_of(tokenizer), corpus()[::7])


def test_smollm2_from_json(tmp_path):
    """The same model by the other way in gives the same file, bit for bit,
    but for the special ids and the template, which this JSON does not have."""
    tokenizer = smollm2_reference()
    spec = import_tokenizer(tokenizer, tmp_path)
    keys = {k: v for k, v in smollm2().items() if not k.endswith("_token_id")}
    (tmp_path / "gguf").mkdir()
    other = import_gguf(keys | {"chat_template": ""}, tmp_path / "gguf")
    assert spec.read_bytes() == other.read_bytes()


def test_streaming_gives_whole_characters(tmp_path):
    spec = import_gguf(smollm2(), tmp_path)
    id_lists = encode(spec, corpus()[::10])
    pieces = iter(run("stream", spec, records=map(pack, id_lists)))
    for ids, text in zip(id_lists, decode(spec, id_lists, "all"), strict=True):
        # One piece for each id and one at the end, each strictly UTF-8.
        assert "".join(next(pieces).decode() for _ in range(len(ids) + 1)) == text
    assert next(pieces, None) is None


def test_minilm(tmp_path):
    tokenizer = tokenizers.Tokenizer.from_file(str(minilm() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    run("import-folder", minilm(), tmp_path / "spec")
    check(tmp_path / "spec", ids_of(tokenizer), corpus())
    check_decoding(tmp_path / "spec", text_of(tokenizer), corpus()[::7])


@pytest.mark.parametrize("cased", [False, True])
def test_bert_from_vocab_txt(tmp_path, cased):
    source = minilm()
    (tmp_path / "vocab.txt").write_bytes((source / "vocab.txt").read_bytes())
    config = {"tokenizer_class": "BertTokenizer", "do_lower_case": not cased}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    run("import-folder", tmp_path, tmp_path / "spec")
    reference = tokenizers.Tokenizer.from_file(str(source / "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    reference.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    check(tmp_path / "spec", ids_of(reference), corpus()[:30000])


def test_bert_from_gguf(tmp_path):
    reference = tokenizers.Tokenizer.from_file(str(minilm() / "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    vocab = sorted(reference.get_vocab().items(), key=lambda item: item[1])
    special = {0, 100, 101, 102, 103}

    def marked(token, id):
        if id in special:
            return token
        return token[2:] if token.startswith("##") else "\u2581" + token

    keys = {
        "model": "bert", "pre": "jina-v2-en", "merges": [], "chat_template": "",
        "tokens": [marked(token, id) for token, id in vocab],
        "token_type": [3 if id in special else 1 for _, id in vocab],
        "bos_token_id": 101, "seperator_token_id": 102, "unknown_token_id": 100,
    }
    check(import_gguf(keys, tmp_path), ids_of(reference), corpus()[:30000])


def test_esm(tmp_path):
    from transformers import EsmTokenizer

    (tmp_path / "vocab.txt").write_text("\n".join(ESM))
    config = {"tokenizer_class": "EsmTokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    reference = EsmTokenizer(str(tmp_path / "vocab.txt"))
    run("import-folder", tmp_path, tmp_path / "spec")
    rng = __import__("random").Random(3)
    pieces = [*ESM, *"JJj  abx*\n\t", "<", "<mas", "\u00a0", "日本"]
    lines = ["".join(rng.choices(pieces, k=rng.randrange(60))) for _ in range(10000)]
    lines += ["".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=300)) for _ in range(500)]
    lines = [line.encode() for line in lines]
    check(tmp_path / "spec", lambda text: reference(text)["input_ids"], lines)
    check_decoding(tmp_path / "spec", reference.decode, lines[::7])


REFUSED = {
    "Metaspace": ("pre_tokenizer", {"type": "Metaspace"}),
    "Unigram": ("model", {"type": "Unigram", "vocab": []}),
    "NFKC": ("normalizer", {"type": "NFKC"}),
    "byte_fallback": ("model", {"type": "BPE", "byte_fallback": True}),
    "individual_digits": ("pre_tokenizer", {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": False}, {"type": "ByteLevel"},
        ],
    }),
    r"\w+": ("pre_tokenizer", {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": r"\w+"}, "behavior": "Isolated"},
            {"type": "ByteLevel", "use_regex": False},
        ],
    }),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_named(trained, tmp_path, name):
    data = json.loads(trained)
    key, value = REFUSED[name]
    data[key] = value
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(RuntimeError) as error:
        run("import-folder", tmp_path, tmp_path / "spec")
    assert name in str(error.value) and "support" in str(error.value)
    assert not (tmp_path / "spec").exists()


def test_speed(tmp_path):
    """A megabyte takes well under a second, and so does one long word."""
    spec = import_gguf(smollm2(), tmp_path)
    text = b"\n".join(prose_and_code())[: 1 << 20]
    assert len(text) == 1 << 20
    assert run("time", spec, records=[text]) < 0.5
    word = b"".join(bytes([97 + i * i % 23]) for i in range(1 << 20))
    assert run("time", spec, records=[word]) < 2
    run("import-folder", minilm(), tmp_path / "bert")
    assert run("time", tmp_path / "bert", records=[text]) < 0.5
