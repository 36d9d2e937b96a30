"""An interpreter of the pseudocode in which AMD's ISA manuals define
instructions: the simulator's second opinion, read from the manual itself.

The text of the CDNA instructions travels in the package tinygrad. What the
interpreter does not know raises Unknown: nothing is guessed.
"""

import re

import numpy as np


class Unknown(Exception):
    """A construct that this interpreter does not evaluate."""


TOKEN = re.compile(r"""
    (?P<sized>\d+'(?:0x[0-9a-f]+|\d+)[UBIF]*)     # 16'0xff, 1'1U
  | (?P<cast>\d+'[UIFB]\b)                        # 64'U(...)
  | (?P<float>\d+\.\d+F?)
  | (?P<hex>0x[0-9a-fA-F]+?(?:U?LL|U|LL)?\b)
  | (?P<int>\d+(?:ULL|LL|U|F)?\b)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op>\+=|-=|\|=|<<|>>|<=|>=|==|!=|<>|&&|\|\||[-+*/%&|^~!<>?:=.,;(){}\[\]])
  | (?P<space>\s+)
""", re.X)
LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="),
          ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}


class Value:
    """A number of a kind (u, i, f or n: a number without a type) and width."""

    def __init__(self, kind, width, number):
        self.kind, self.width = kind, width
        if kind in "ui":
            number = int(number) & (1 << width) - 1
            if kind == "i" and number >> (width - 1):
                number -= 1 << width
        elif kind == "f":
            with np.errstate(all="ignore"):
                number = FLOATS[width](number)
        self.number = number

    @staticmethod
    def of_bits(kind, width, bits):
        bits &= (1 << width) - 1
        if kind != "f":
            return Value(kind, width, bits)
        value = Value("f", width, 0)
        value.number = np.array([bits], f"u{width // 8}").view(FLOATS[width])[0]
        return value

    def bits(self, width=None):
        if self.kind == "f":
            whole = np.array([self.number]).view(f"u{self.width // 8}")[0]
            return int(whole)
        if isinstance(self.number, float):
            raise Unknown("a fraction where bits are wanted")
        return int(self.number) & (1 << (width or self.width or 64)) - 1


def same(value, reference):
    """`value` as the kind of `reference`, if it has no type of its own."""
    if value.kind == "n" and reference.kind != "n":
        width = reference.width if reference.kind == "f" else max(reference.width, 32)
        return Value(reference.kind, width, value.number)
    return value


def arithmetic(op, x, y):
    if op in ("<<", ">>"):
        amount = int(y.number)
        if x.kind == "n":
            return Value("n", 0, x.number << amount if op == "<<" else x.number >> amount)
        return Value(x.kind, x.width, x.number << amount if op == "<<" else x.number >> amount)
    x, y = same(x, y), same(y, x)
    if op in ("==", "!=", "<>", "<", ">", "<=", ">="):
        a, b = x.number, y.number
        result = {"==": a == b, "!=": a != b, "<>": a < b or a > b, "<": a < b, ">": a > b,
                  "<=": a <= b, ">=": a >= b}[op]
        return Value("u", 1, bool(result))
    kind = "f" if "f" in (x.kind, y.kind) else "n" if x.kind == "n" else \
        "u" if "u" in (x.kind, y.kind) else "i"
    # Integers are promoted as in C.
    width = max(x.width, y.width, 0 if kind in "fn" or op in "&|^" else 32)
    if kind == "f" and (x.kind != y.kind or x.width != y.width):
        raise Unknown("mixed floats")
    if op == "/" and kind != "f":
        raise Unknown("integer division")
    with np.errstate(all="ignore"):
        a, b = x.number, y.number
        number = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b,
                  "/": lambda: a / b, "%": lambda: a % b, "&": lambda: a & b,
                  "|": lambda: a | b, "^": lambda: a ^ b}[op]()
    return Value(kind, width, number)


def float_class(test):
    return lambda x: Value("u", 1, bool(test(float(x.number))))


def rounded(function):
    return lambda x: Value("f", x.width, function(x.number))


def is_signalling(x):
    bits = x.bits()
    return x.width == 64 and bits >> 52 & 0x7FF == 0x7FF and bits & (1 << 52) - 1 != 0 \
        and not bits >> 51 & 1


def minmax(pick):
    return lambda *v: Value(v[0].kind, v[0].width, pick(x.number for x in v))


def to_int(kind, width):
    """Float to integer as the converting instructions do: to zero, NaN is 0, saturating."""
    low = -(1 << width - 1) if kind == "i" else 0
    high = (1 << width - 1) - 1 if kind == "i" else (1 << width) - 1

    def convert(x):
        number = float(x.number)
        if np.isnan(number):
            return Value(kind, width, 0)
        return Value(kind, width, high if number >= high else low if number <= low else int(number))
    return convert


def widen(kind, width):
    return lambda x: Value(kind, width, x.number)


FUNCTIONS = {
    "isNAN": float_class(np.isnan),
    "isSignalNAN": lambda x: Value("u", 1, is_signalling(x)),
    "cvtToQuietNAN": lambda x: x,
    "abs": lambda x: Value(x.kind, x.width, abs(x.number)),
    "floor": rounded(np.floor), "trunc": rounded(np.trunc), "sqrt": rounded(np.sqrt),
    "signext": lambda x: Value("i", 64, x.number),
    "f16_to_f32": widen("f", 32), "f32_to_f64": widen("f", 64), "f32_to_f16": widen("f", 16),
    "f64_to_f32": widen("f", 32), "i32_to_f32": widen("f", 32), "u32_to_f32": widen("f", 32),
    "i32_to_f64": widen("f", 64), "u32_to_f64": widen("f", 64), "i16_to_f16": widen("f", 16),
    "u16_to_f16": widen("f", 16),
    "f32_to_i32": to_int("i", 32), "f32_to_u32": to_int("u", 32), "f64_to_i32": to_int("i", 32),
    "f64_to_u32": to_int("u", 32), "f16_to_i16": to_int("i", 16), "f16_to_u16": to_int("u", 16),
    "i4_to_i32": widen("i", 32), "u4_to_u32": widen("u", 32), "i8_to_i32": widen("i", 32),
    "u8_to_u32": widen("u", 32), "i16_to_i32": widen("i", 32), "u16_to_u32": widen("u", 32),
    "u32_to_u16": lambda x: Value("u", 16, min(int(x.number), 65535)),
    "i32_to_i16": lambda x: Value("i", 16, min(max(int(x.number), -32768), 32767)),
    "bitCount": lambda x: Value("u", 32, bin(x.bits()).count("1")),
    "isEven": lambda x: Value("u", 1, float(x.number) % 2 == 0),
    "ABSDIFF": lambda x, y: Value("u", 32, abs(int(x.number) - int(y.number))),
    "v_max_u32": minmax(max), "v_min_u32": minmax(min), "v_max_i32": minmax(max),
    "v_min_i32": minmax(min), "v_max_u16": minmax(max), "v_min_u16": minmax(min),
    "v_max_i16": minmax(max), "v_min_i16": minmax(min), "v_max3_i32": minmax(max),
    "v_max3_u32": minmax(max), "v_max3_i16": minmax(max), "v_max3_u16": minmax(max),
    "v_max_f32": minmax(max), "v_min_f32": minmax(min), "v_max3_f32": minmax(max),
    "v_max_f16": minmax(max), "v_min_f16": minmax(min), "v_max3_f16": minmax(max),
}
TYPE = re.compile(r"^([uifb])(\d+)$")


class Machine:
    """Runs one instruction's text on variables, which are (bits, width)."""

    def __init__(self, text):
        text = re.sub(r"//.*", "", text)
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise Unknown(f"text {text[at:at + 20]!r}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group()))
            at = match.end()
        self.tokens.append(("end", ""))

    def run(self, **variables):
        """The variables after the text ran on them; each is [bits, width]."""
        self.variables = {name: list(value) for name, value in variables.items()}
        self.at = 0
        self.block(())
        return self.variables

    # Tokens.

    def peek(self):
        return self.tokens[self.at][1]

    def take(self, expected=None):
        kind, text = self.tokens[self.at]
        if expected is not None and text != expected:
            raise Unknown(f"{text!r} where {expected!r} should be")
        self.at += 1
        return kind, text

    def accept(self, text):
        if self.peek() != text or self.tokens[self.at][0] == "end":
            return False
        self.at += 1
        return True

    # Statements.

    def block(self, ends, active=True):
        while self.tokens[self.at][0] != "end" and self.peek() not in ends:
            if not self.accept(";"):
                self.statement(active)

    def statement(self, active):
        if self.accept("declare"):
            _, name = self.take()
            self.take(":")
            _, kind = self.take()
            if self.peek() == "[":
                raise Unknown("arrays")
            self.variables[name] = [0, int(kind.split("'")[0])]
        elif self.accept("if"):
            self.branch(active)
        elif self.peek() in ("for", "while", "return", "eval"):
            raise Unknown(self.peek())
        else:
            self.assignment(active)

    def branch(self, active):
        done = False
        while True:
            chosen = bool(self.expression().number) and not done
            self.take("then")
            self.block(("elsif", "else", "endif"), active and chosen)
            done |= chosen
            if self.accept("elsif"):
                continue
            if self.accept("else"):
                self.block(("endif",), active and not done)
            return self.take("endif")

    def assignment(self, active):
        targets = [self.target()]
        _, op = self.take()
        if op not in ("=", "+=", "-="):
            raise Unknown(f"statement with {op!r}")
        start = self.at
        while True:  # a = b = value
            try:
                target = self.target()
                if not self.accept("="):
                    raise Unknown("")
                targets.append(target)
                start = self.at
            except Unknown:
                self.at = start
                break
        value = self.expression()
        if not active:
            return
        for target in targets:
            self.store(target, op, value)

    def target(self):
        kind, name = self.take()
        if kind != "name":
            raise Unknown(f"target {name!r}")
        low, width, kind = 0, None, None
        while self.peek() in (".", "["):
            if self.accept("."):
                _, text = self.take()
                match = TYPE.match(text)
                if not match:
                    raise Unknown(f"type {text}")
                kind, width = match.group(1), int(match.group(2))
            else:
                self.take("[")
                high = self.index()
                first = high
                if self.accept(":"):
                    first = self.index()
                self.take("]")
                low, width = low + min(first, high), abs(high - first) + 1
                kind = None if width == 1 else kind
        return name, low, width, kind

    def store(self, target, op, value):
        name, low, width, kind = target
        if op != "=":
            old = self.load(name)
            if kind:
                old = Value.of_bits("u" if kind == "b" else kind, width, old.bits() >> low)
            value = arithmetic(op[0], old, value)
        if name not in self.variables or (width is None and low == 0 and name not in OUTPUTS):
            bits = value.width or 64
            self.variables[name] = [0, max(bits, low + (width or 0))]
            self.variables[name + " kind"] = value.kind
        bits, whole = self.variables[name]
        size = width or (value.width if value.width and value.width <= whole else whole)
        if kind == "f" and value.kind in "ui":
            raise Unknown("an integer stored as a float")
        if kind == "f" and (value.kind == "n" or value.width != size):
            value = Value("f", size, value.number)
        mask = (1 << size) - 1 << low
        self.variables[name][0] = bits & ~mask | value.bits(size) << low & mask
        self.variables[name][1] = max(whole, low + size)

    def load(self, name):
        bits, width = self.variables[name]
        kind = self.variables.get(name + " kind", "u")
        return Value.of_bits("u" if kind == "n" else kind, width, bits)

    def index(self):
        return int(self.expression().number)

    # Expressions.

    def expression(self):
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        yes = self.expression()
        self.take(":")
        no = self.expression()
        return yes if condition.number else no

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        value = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            _, op = self.take()
            right = self.binary(level + 1)
            if op in ("&&", "||"):
                both = bool(value.number) and bool(right.number)
                either = bool(value.number) or bool(right.number)
                value = Value("u", 1, both if op == "&&" else either)
            else:
                value = arithmetic(op, value, right)
        return value

    def unary(self):
        if self.accept("-"):
            value = self.unary()
            return Value(value.kind, value.width, -value.number)
        if self.accept("!"):
            return Value("u", 1, not self.unary().number)
        if self.accept("~"):
            value = self.unary()
            return Value(value.kind, value.width, ~int(value.number))
        return self.postfix(self.primary())

    def primary(self):
        kind, text = self.take()
        if kind == "op" and text == "(":
            value = self.expression()
            self.take(")")
            return value
        if kind == "op" and text == "{":
            parts = [self.expression()]
            while self.accept(","):
                parts.append(self.expression())
            self.take("}")
            bits = width = 0
            for part in parts:
                if not part.width:
                    raise Unknown("a part without a width")
                bits = bits << part.width | part.bits()
                width += part.width
            return Value("u", width, bits)
        if kind == "sized":
            width, digits = text.split("'")
            return Value("u", int(width), int(digits.rstrip("UBIF"), 0))
        if kind == "cast":
            width, letter = text.split("'")
            self.take("(")
            value = self.expression()
            self.take(")")
            if letter == "B":
                return Value("u", int(width), value.bits())
            return Value(letter.lower(), int(width), value.number)
        if kind in ("int", "hex"):
            digits = text.rstrip("UL") if kind == "int" else re.sub(r"U?L*$", "", text)
            if digits.endswith("F") and kind == "int":
                return Value("n", 0, float(digits[:-1]))
            return Value("n", 0, int(digits, 0))
        if kind == "float":
            return Value("n", 0, float(text.rstrip("F")))
        if kind != "name":
            raise Unknown(f"token {text!r}")
        if self.peek() == "(":
            return self.call(text)
        if text in self.variables:
            return self.load(text) if text + " kind" in self.variables else \
                Value("u", self.variables[text][1], self.variables[text][0])
        raise Unknown(f"name {text}")

    def call(self, name):
        if name not in FUNCTIONS and name not in ("fma", "signext_from_bit"):
            raise Unknown(f"function {name}")
        self.take("(")
        arguments = [self.expression()]
        while self.accept(","):
            arguments.append(self.expression())
        self.take(")")
        if name == "fma":
            from test_instructions import fma
            kind = FLOATS[arguments[0].width]
            return Value("f", arguments[0].width, fma(*(x.number for x in arguments), kind))
        if name == "signext_from_bit":
            value, width = (int(x.number) for x in arguments)
            value &= (1 << width) - 1
            if width and value >> (width - 1):
                value -= 1 << width
            return Value("i", 32, value)
        return FUNCTIONS[name](*arguments)

    def postfix(self, value):
        while self.peek() in (".", "["):
            if self.accept("."):
                _, text = self.take()
                match = TYPE.match(text)
                if not match:
                    raise Unknown(f"type {text}")
                kind, width = match.group(1), int(match.group(2))
                if kind == "f" and width not in FLOATS:
                    raise Unknown(f"type {text}")
                value = Value.of_bits("u" if kind == "b" else kind, width, value.bits())
                continue
            self.take("[")
            high = self.index()
            low = self.index() if self.accept(":") else high
            self.take("]")
            if high < low:  # Bits in the other order.
                bits = value.bits()
                picked = sum((bits >> i & 1) << (low - i) for i in range(high, low + 1))
                value = Value("u", low - high + 1, picked)
            else:
                value = Value("u", high - low + 1, value.bits() >> low)
                if high != low and self.peek() not in (".", "["):
                    value = Value("n", 0, value.number)
        return value


OUTPUTS = ("D0", "VCC", "SCC", "EXEC")
