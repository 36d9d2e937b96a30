# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime in Python: sessions, streams, arrays and errors."""

import gc
import inspect
import json
import subprocess
import sys
import threading

import gist
import numpy as np
import pytest


def address(array):
    return array.__array_interface__["data"][0]


def greedy(model, tokens, count):
    """What the model says, by its logits alone."""
    tokens = list(tokens)
    with model.session() as session:
        session.feed(tokens)
        for _ in range(count):
            tokens.append(int(session.logits.argmax()))
            session.feed(tokens[-1:])
    return tokens[-count:]


def log_softmax(logits):
    logits = logits.astype(np.float64)
    largest = logits.max(axis=-1, keepdims=True)
    return logits - largest - np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True))


def test_facts(tiny):
    assert tiny.architecture == "tiny"
    assert tiny.vocab_size == 261
    assert tiny.targets == [("cpu", "cpu")]
    assert tiny.has_tokenizer
    assert {"prefill", "decode", "embed"} <= set(tiny.entries)
    tiny.verify()
    assert any(device.kind == "cpu" for device in gist.devices())


def test_tokens_and_text(tiny):
    tokens = tiny.tokenize("héllo")
    assert tokens.dtype == np.int32
    assert tokens.tolist() == list("héllo".encode())
    assert tiny.detokenize(tokens) == "héllo"
    assert tiny.tokenize("").size == 0
    # What UTF-8 cannot write is replaced, not refused.
    assert tiny.tokenize("\ud800").tolist() == [ord("?")]


def test_generate_is_greedy(tiny):
    result = tiny.generate("hello", max_tokens=20, ignore_end=True)
    assert result.tokens.tolist() == greedy(tiny, b"hello", 20)
    assert result.finish == "max_tokens"
    assert result.prompt_tokens == 5
    assert len(set(result.tokens.tolist())) > 5
    assert str(result) == result.text
    by_ids = tiny.generate(tiny.tokenize("hello"), max_tokens=20, ignore_end=True)
    assert by_ids.tokens.tolist() == result.tokens.tolist()


def test_grammars_and_schemas(tiny):
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 17}},
              "required": ["a"], "additionalProperties": False}
    for seed in range(5):
        result = tiny.generate("hello", max_tokens=200, temperature=1, seed=seed, schema=schema)
        value = json.loads(result.text)
        assert list(value) == ["a"] and 5 <= value["a"] <= 17
        answer = tiny.chat([{"role": "user", "content": "hi"}], max_tokens=20, temperature=1, seed=seed,
                           grammar='root ::= ("x" | "y"){4}')
        assert len(answer.text) == 4 and set(answer.text) <= {"x", "y"}
        assert answer.finish == "end"


def test_stream_gives_what_generate_does(tiny):
    options = {"max_tokens": 20, "ignore_end": True, "temperature": 1.0, "seed": 3}
    whole = tiny.generate("hello", **options)
    stream = tiny.stream("hello", **options)
    pieces = list(stream)
    assert "".join(piece.text for piece in pieces) == whole.text
    assert [piece.token for piece in pieces if piece.token >= 0] == whole.tokens.tolist()
    assert stream.result.text == whole.text
    assert stream.result.finish == "max_tokens"
    assert list(stream) == []


def test_turns_continue(tiny):
    """Two calls are one text: the session has seen every token of the answer."""
    expected = greedy(tiny, b"hello", 12)
    with tiny.session() as session:
        first = session.generate("hello", max_tokens=5, ignore_end=True)
        assert session.position == 10
        second = session.generate(max_tokens=7, ignore_end=True)
        assert first.tokens.tolist() + second.tokens.tolist() == expected
        assert session.tokens.tolist() == list(b"hello") + expected


def test_a_stream_that_is_left(tiny):
    """Other calls end a stream; what it drew is in the session, and it is over."""
    expected = greedy(tiny, b"hello", 8)
    session = tiny.session()
    stream = session.stream("hello", ignore_end=True)
    drawn = [next(stream).token for _ in range(3)]
    assert stream.result.finish == "unfinished"
    rest = session.generate(max_tokens=5, ignore_end=True)
    assert drawn + rest.tokens.tolist() == expected
    assert list(stream) == []
    assert stream.result.finish == "cancelled"
    with session.stream("x", ignore_end=True) as other:
        next(other)
    assert other.result.finish == "cancelled"
    assert session.position == 5 + 8 + 2


def test_changes_of_logits(tiny):
    def write(**options):
        return tiny.generate("hello", max_tokens=6, **options).tokens.tolist()

    assert write(logit_bias={90: 100.0}) == [90] * 6
    assert write(logit_bias={90: 100.0}, stop=90) == [90]
    assert write(logit_bias={90: 100.0}, stop=["none", 90]) == [90]
    stopped = write(logit_bias={90: 100.0}, stop=90, min_tokens=3)
    assert len(stopped) == 4 and stopped.index(90) == 3
    assert write(logit_bias={90: 3.0}, frequency_penalty=6.0).count(90) == 1
    assert write(logit_bias={90: 3.0}, presence_penalty=6.0).count(90) == 1
    with pytest.raises(gist.BadArgumentError, match="presence penalty is nan"):
        write(presence_penalty=float("nan"))


def test_sessions_fork_and_go_to_files(tiny_path, tmp_path):
    """A fork and a file go on where a session was, and apart from it."""
    model = gist.load(tiny_path, trust=True)
    file = tmp_path / "seen"
    with model.session() as session:
        session.feed([5, 6, 7])
        session.save(file)
        fork = session.fork()
        expected = session.generate([8], max_tokens=9, ignore_end=True).tokens.tolist()
        assert fork.tokens.tolist() == [5, 6, 7]
        assert fork.generate([8], max_tokens=9, ignore_end=True).tokens.tolist() == expected
        fork.load(file)
        assert fork.tokens.tolist() == [5, 6, 7]
        assert fork.generate([8], max_tokens=9, ignore_end=True).tokens.tolist() == expected
        file.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(gist.BadFileError, match="damaged"):
            fork.load(file)
        assert fork.position == 0


def test_drafts(tiny, rewinds):
    """The same answers; a state that cannot go back is refused."""
    expected = greedy(rewinds, b"hello", 20)
    for draft in ("lookup", rewinds):
        with rewinds.session(draft=draft) as session:
            result = session.generate("hello", max_tokens=20, ignore_end=True)
            assert result.tokens.tolist() == expected
            assert session.position == 25
    with pytest.raises(gist.UnsupportedError, match="cannot go back"):
        tiny.session(draft="lookup")
    with pytest.raises(TypeError, match="'lookup' or a Model"):
        rewinds.session(draft="other")


def test_stop_texts_and_full_context(tiny):
    whole = tiny.generate("hello", max_tokens=20, ignore_end=True).text
    letter = next(letter for letter in whole if letter.isascii())
    stopped = tiny.generate("hello", max_tokens=20, ignore_end=True, stop=letter)
    assert stopped.finish == "stop"
    assert stopped.text == whole[: whole.index(letter)]
    full = tiny.session(context=12).generate("hello", ignore_end=True)
    assert full.finish == "context"
    # Seven fit after the prompt, and one more follows the last of them.
    assert len(full.tokens) == 8


def test_chat(tiny):
    messages = [{"role": "user", "content": "hi"}]
    tokens = tiny.chat_tokens(messages)
    answer = tiny.session().chat(messages, max_tokens=4, ignore_end=True)
    assert answer.prompt_tokens == len(tokens)
    assert answer.tokens.tolist() == greedy(tiny, tokens, 4)
    with tiny.session() as session:
        session.feed(tokens[:-1])
        again = session.chat(messages, max_tokens=4, ignore_end=True)
        # What the session has seen is not read again.
        assert again.prompt_tokens == 1
        assert again.tokens.tolist() == answer.tokens.tolist()


def test_logits_are_a_view(tiny):
    session = tiny.session()
    assert session.logits is None
    session.feed(tiny.tokenize("ab"))
    logits = session.logits
    assert logits.shape == (261,) and logits.dtype == np.float32
    assert not logits.flags.owndata and not logits.flags.writeable
    assert address(session.logits) == address(logits)
    before = logits.copy()
    # The view outlives the session.
    session.close()
    del session
    gc.collect()
    np.testing.assert_array_equal(logits, before)


def test_tokens_are_not_copied(tiny):
    from gist._options import to_tokens

    tokens = np.array([1, 2, 3], np.int32)
    assert to_tokens(tokens) is tokens
    assert np.shares_memory(to_tokens(tokens[:2]), tokens)
    assert to_tokens([1, 2]).dtype == np.int32
    # Gaps and other types are copied, and mean the same.
    every_other = np.arange(97, 107, dtype=np.int64)[::2]
    with tiny.session() as one, tiny.session() as other:
        one.feed(every_other)
        other.feed(every_other.tolist())
        np.testing.assert_array_equal(one.logits, other.logits)


def test_score_and_logits_of_every_token(tiny):
    tokens = tiny.tokenize("hello world")
    rows = tiny.session().logits_after(tokens)
    assert rows.shape == (11, 261)
    with tiny.session() as session:
        for token, row in zip(tokens, rows):
            session.feed([token])
            np.testing.assert_allclose(session.logits, row, atol=1e-5)
    expected = log_softmax(rows)[np.arange(10), tokens[1:]]
    np.testing.assert_allclose(tiny.score("hello world"), expected, atol=1e-5)
    np.testing.assert_allclose(tiny.score(tokens), expected, atol=1e-5)


def test_reset(tiny):
    with tiny.session() as session:
        session.feed(list(b"abcd"))
        expected = session.logits.copy()
        session.feed(list(b"xyz"))
        with pytest.raises(gist.UnsupportedError, match="cannot go back"):
            session.rewind(3)
        assert session.position == 7
        session.reset()
        assert session.position == 0
        session.feed(list(b"abcd"))
        np.testing.assert_array_equal(session.logits, expected)


def test_embed(tiny):
    one = tiny.embed("hello")
    several = tiny.embed(["hello", "world"])
    assert one.ndim == 1 and several.shape == (2, one.size)
    np.testing.assert_array_equal(several[0], one)
    assert np.abs(several[0] - several[1]).max() > 1e-3
    assert tiny.embed([]).shape[0] == 0


def test_threads_share_a_session(tiny):
    """Calls wait for one another; nothing is lost."""
    session = tiny.session(context=36)
    threads = [threading.Thread(target=lambda: [session.feed([97]) for _ in range(8)])
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.tokens.tolist() == [97] * 32


@pytest.mark.parametrize("call, kind, sentence", [
    (lambda m: gist.load("/nowhere/m.gist"), gist.NotFoundError, "/nowhere/m.gist"),
    (lambda m: gist.load(__file__), gist.BadFileError, "not a gist module"),
    (lambda m: gist.load("a\0b"), ValueError, "null byte"),
    (lambda m: m.session(device="tpu"), gist.Error, "tpu"),
    (lambda m: m.session(threads=4000000), gist.BadArgumentError, "threads"),
    (lambda m: m.session(context=-1), gist.Error, ""),
    (lambda m: m.session(adapter="red"), gist.NotFoundError, "has no adapter 'red'; it has none ('gist-compile --adapter')"),
    (lambda m: m.session(speed=2), TypeError, "there is no option 'speed'"),
    (lambda m: m.session().feed([261]), ValueError, "token 261 is outside a vocabulary of 261"),
    (lambda m: m.session().feed([]), gist.BadArgumentError, "no tokens were given"),
    (lambda m: m.session(context=4).feed([1] * 5), gist.BadArgumentError, "the context is full"),
    (lambda m: m.session().feed([[1, 2]]), ValueError, "one dimension"),
    (lambda m: m.session().feed([1.5]), TypeError, "integers"),
    (lambda m: m.session().feed([2**40]), ValueError, "32 bits"),
    (lambda m: m.session().rewind(3), gist.BadArgumentError, "cannot go back"),
    (lambda m: m.generate("a", max_tokens=-1), gist.BadArgumentError, "cannot be negative"),
    (lambda m: m.generate("a", max_token=1), TypeError, "there is no option 'max_token'"),
    (lambda m: m.generate("a", temperature=-1), gist.BadArgumentError, ""),
    (lambda m: m.generate("a", grammar="root ="), gist.BadArgumentError, "line 1, column 6: expected 'name ::='"),
    (lambda m: m.generate("a", schema={"not": {}}), gist.Error, "'not' is not a keyword"),
    (lambda m: m.generate("a", schema="{}", grammar="root ::= \"a\""), gist.BadArgumentError, "expected one"),
    (lambda m: m.generate(""), gist.BadArgumentError, "no tokens were given"),
    (lambda m: m.generate(b"a"), Exception, ""),
    (lambda m: m.chat([]), gist.BadArgumentError, "the conversation is empty"),
    (lambda m: m.chat([{"role": "user"}]), TypeError, "expected message 0 to be a dict with 'role' and 'content'"),
    (lambda m: m.chat({"role": "user", "content": "a"}), TypeError, "expected a text or a list of messages"),
    (lambda m: m.chat(None), TypeError, "expected a text or a list of messages, got None"),
    (lambda m: m.chat(["hi"]), TypeError, "expected message 0 to be a dict"),
    (lambda m: m.generate(None), TypeError, "expected a text (str) or token ids, got NoneType"),
    (lambda m: m.generate("a", temperature="hot"), TypeError, "expected temperature to be a number, got 'hot'"),
    (lambda m: m.generate("a", max_tokens=1.5), TypeError, "expected max_tokens to be a whole number, got 1.5"),
    (lambda m: m.generate("a", top_k=True), TypeError, "expected top_k to be a whole number, got True"),
    (lambda m: gist.load("/nowhere/m.gist"), FileNotFoundError, "cannot open"),
    (lambda m: m.score("a"), gist.BadArgumentError, "at least two tokens"),
    (lambda m: m.session().logits_after([1] * 100000), gist.BadArgumentError, "the context is full"),
])
def test_errors(tiny, call, kind, sentence):
    with pytest.raises(kind) as caught:
        call(tiny)
    assert sentence in str(caught.value)


def test_a_text_alone_is_a_question(tiny):
    question = [{"role": "user", "content": "Hi"}]
    assert tiny.chat("Hi", max_tokens=4).text == tiny.chat(question, max_tokens=4).text
    assert tiny.chat_tokens("Hi").tolist() == tiny.chat_tokens(question).tolist()


def test_numbers_of_numpy_are_numbers(tiny):
    plain = tiny.generate("a", max_tokens=3, temperature=0.5, seed=7).text
    assert tiny.generate("a", max_tokens=np.int64(3), temperature=np.float32(0.5), seed=7).text == plain


@pytest.mark.parametrize("function", [gist.Model.generate, gist.Model.chat, gist.Session.stream])
def test_help_names_options(function):
    names = inspect.signature(function).parameters
    assert {"max_tokens", "temperature", "schema"} <= names.keys() and "options" not in names
    assert names["repeat_window"].default == 64
    assert names["repeat_window"].annotation == "int" and "ForwardRef" not in str(inspect.signature(function))


def test_reprs(tiny):
    assert {"device", "threads"} <= inspect.signature(gist.Model.session).parameters.keys()
    with tiny.session(context=40) as session:
        session.feed([1, 2])
        assert repr(session) == "<gist.Session on cpu, 2 of 40 tokens>"
        stream = session.stream("a", ignore_end=True)
        next(stream)
        assert repr(stream) == "<gist.Stream, 1 tokens so far>"
    assert repr(session) == "<gist.Session, closed>"


def test_a_package_that_another_one_needs(tmp_path, monkeypatch):
    """What is missing is named, not the package that imports it."""
    (tmp_path / "torch.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(gist.CompileError, match="the package torch needs the package no_such_package: pip install"):
        gist.from_torch(None, ())


def test_a_closed_session(tiny):
    session = tiny.session()
    stream = session.stream("a", ignore_end=True)
    session.close()
    session.close()
    with pytest.raises(gist.BadArgumentError, match="the session is closed"):
        session.feed([1])
    # A stream keeps what it needs.
    assert next(stream).token >= 0


def memory():
    """Resident memory of this process, in KiB."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_sessions_leak_nothing(tiny):
    """A thousand sessions, half of them in the middle of an answer."""
    def open_one(number):
        session = tiny.session(threads=2)
        stream = session.stream("hello", ignore_end=True)
        next(stream)
        logits = session.logits
        if number % 2:
            stream.close()
        return session, stream, logits

    for i in range(100):
        open_one(i)
    gc.collect()
    before = memory()
    for i in range(1000):
        open_one(i)
    gc.collect()
    # Half a KiB of each session would be seen.
    assert memory() - before < 512
    # Memory that is kept is seen: a session has more than 30 KiB.
    kept = [open_one(i) for i in range(100)]
    assert memory() - before > 2048
    assert len(kept) == 100


def test_nothing_is_left_at_exit(tiny_path):
    """nanobind names what is still there when Python ends."""
    program = f"import gist; m = gist.load({str(tiny_path)!r}); s = m.session(); " \
              "t = s.stream('a'); next(t); print(m.generate('b', max_tokens=2).finish)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() in ("max_tokens", "end")
    assert ended.stderr == ""
