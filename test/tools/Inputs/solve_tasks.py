"""Answers the samples of gist-run eval --write-samples from their text alone.

    solve_tasks.py FILE LENGTH MORE    all answers are those of the text

Nothing here is shared with the program that wrote them: each question is read
and the text before it is searched, followed or counted.
"""
import json
import re
import sys
from collections import Counter


def ask(pattern, text):
    found = re.findall(pattern, text)
    assert found, (pattern, text[-300:])
    return found[-1]


def special_numbers(text):
    numbers = {}
    for key, number in re.findall(r"[Tt]?he special number of (\S+) is (\d{7})\.", text):
        # An answer that was given says the same again.
        assert numbers.setdefault(key, number) == number
    return numbers


def solve_needle(text, asked):
    return [special_numbers(text)[ask(r"What is the special number of (\S+)\?", asked)]]


def solve_needle_values(text, asked):
    key = ask(r"What are all the special numbers of (\S+)\?", asked)
    return re.findall(rf"One special number of {key} is (\d{{7}})\.", text)


def solve_needle_queries(text, asked):
    keys = re.split(", | and ", ask(r"What are the special numbers of (.+)\?", asked))
    return [special_numbers(text)[key] for key in keys]


def solve_variables(text, asked):
    value = ask(r"have the value (\d+),", asked)
    values, order = {}, []
    for name, other, number in re.findall(r"\nVAR (\w+) = (?:VAR (\w+)|(\d+))\n", text):
        # A line only names variables that were assigned before it.
        values[name] = number or values[other]
        order.append(name)
    assert len(set(values.values())) == 2
    return [name for name in order if values[name] == value]


def solve_common_words(text, asked):
    words = re.findall(r"\d+\. (\w+)", text)
    counts = Counter(words)
    common = [word for word, _ in counts.most_common(10)]
    assert counts[common[9]] > max((counts[word] for word in counts if word not in common),
                                   default=0)
    return sorted(common, key=words.index)


def solve_frequent_words(text, asked):
    counts = Counter(text.split("\n\n")[1].split()).most_common(4)
    assert len({count for _, count in counts[:3]}) == 3 and counts[2][1] > counts[3][1]
    return [word for word, _ in counts[:3]]


def solve_key_values(text, asked):
    pairs = re.findall(r'"(\w{8})": "(\w{8})"', text)
    assert len(dict(pairs)) == len(pairs) and len(pairs) > 8
    return [dict(pairs)[ask(r'What is the value of the key "(\w+)"\?', asked)]]


SOLVERS = {"needle": solve_needle, "needle-keys": solve_needle, "turns": solve_needle,
           "needle-values": solve_needle_values, "needle-queries": solve_needle_queries,
           "variables": solve_variables, "common-words": solve_common_words,
           "frequent-words": solve_frequent_words, "key-values": solve_key_values}
TURNS = {"turns": 4}
NEEDLES = {"needle": 1, "needle-keys": 4, "needle-queries": 4, "turns": 4}


def main():
    path, length, more = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts, depths = Counter(), []
    for line in open(path):
        sample = json.loads(line)
        task, turns = sample["task"], sample["turns"]
        assert len(turns) == TURNS.get(task, 1)
        # As long as was asked for, and not much shorter.
        assert 0.85 * length <= sample["tokens"] <= length - more, (task, sample["tokens"])
        text, first = "", turns[0]["text"]
        for turn in turns:
            text += turn["text"]
            answers = SOLVERS[task](text, turn["question"])
            assert answers == turn["answers"], (task, answers, turn["answers"])
            assert turn["target"].strip() == ", ".join(answers), turn
            text += turn["question"] + turn["target"]
            # Bytes are tokens.
            for part in "text", "question", "target":
                assert bytes(turn[part + "_tokens"]).decode() == turn[part]
        if task in NEEDLES:
            assert len(special_numbers(first)) == NEEDLES[task]
        if task == "needle":
            depths.append(first.index("The special number of") / len(first))
        # All facts of a conversation lie in its first half.
        if task == "turns":
            assert first.rindex("The special number of") < 0.6 * len(text)
        counts[task] += 1
    assert counts.keys() == SOLVERS.keys() and len(set(counts.values())) == 1, counts
    # Needles lie anywhere.
    assert min(depths) < 0.4 and max(depths) > 0.6, depths
    print(f"all answers of {len(counts)} tasks are in their texts")


if __name__ == "__main__":
    main()
