"""Random C functions that must mean the same on the device and on the host.

No transcendentals, no contraction, no undefined behaviour: shifts are masked,
divisors forced odd, conversions to integers clamped, indices masked, loops
bounded. NaNs are stored in one form, since their bits are unspecified.
"""

import random

PRELUDE = """
typedef unsigned int u32; typedef int i32; typedef unsigned short u16;
typedef unsigned char u8; typedef unsigned long long u64; typedef long long i64;
typedef float f32; typedef double f64; typedef _Float16 f16;
static inline u32 f2b(f32 x) { u32 b; __builtin_memcpy(&b, &x, 4); return x != x ? 0x7fc00000u : b; }
static inline f32 b2f(u32 b) { f32 x = (f32)(i32)b; return x * 0x1p-20f; }
static inline i32 f2i(f32 x) { return x > 1e9f ? 1000000000 : x > -1e9f ? (i32)x : -7; }
static inline i64 d2l(f64 x) { return x > 1e18 ? 5 : x > -1e18 ? (i64)x : -9; }
static inline u64 d2b(f64 x) { u64 b; __builtin_memcpy(&b, &x, 8); return x != x ? 0x7ff8000000000000ull : b; }
static inline u32 h2b(f16 x) { u16 b; __builtin_memcpy(&b, &x, 2); return x != x ? 0x7e00u : b; }
"""

GPU = """
#define G __attribute__((address_space(1)))
__attribute__((amdgpu_kernel)) void kernel%d(G const u32 *in, G u32 *out, u32 n) {
  u32 i = __builtin_amdgcn_workgroup_id_x() * 64u + __builtin_amdgcn_workitem_id_x();
  if (i < n) out[i] = f%d(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
}
"""
HOST = """
void kernel%d(const u32 *in, u32 *out, u32 n) {
  for (u32 i = 0; i < n; ++i) out[i] = f%d(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
}
"""

BINARY = {
    "u32": ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} & {1}", "{0} | {1}", "{0} ^ {1}",
            "{0} << ({1} & 31)", "{0} >> ({1} & 31)", "{0} / ({1} | 1)", "{0} % ({1} | 1)",
            "({0} < {1} ? {0} : {1})", "({0} >> ({1} & 31) | {0} << (-{1} & 31))",
            "(u32)((u64){0} * {1} >> 32)"],
    "i32": ["(i32)((u32){0} + (u32){1})", "(i32)((u32){0} - (u32){1})",
            "(i32)((u32){0} * (u32){1})", "{0} & {1}", "{0} ^ {1}", "{0} >> ({1} & 31)",
            "({0} > {1} ? {0} : {1})", "(i32)((i64){0} * {1} >> 32)",
            "{0} / (({1} & 1023) + 3)", "{0} % (({1} & 1023) + 3)"],
    "u64": ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} ^ {1}", "{0} << ({1} & 63)",
            "{0} >> ({1} & 63)", "({0} < {1} ? {0} : {1})"],
    "i64": ["(i64)((u64){0} + (u64){1})", "(i64)((u64){0} * (u64){1})", "{0} >> ({1} & 63)",
            "({0} < {1} ? {1} : {0})"],
    "f32": ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}",
            "({0} < {1} ? {0} : {1})", "__builtin_fmaf({0}, {1}, 0.75f)",
            "__builtin_fabsf({0}) - {1}", "__builtin_floorf({0}) + {1}",
            "__builtin_truncf({0}) * {1}"],
    "f64": ["{0} + {1}", "{0} - {1}", "{0} * {1}", "({0} > {1} ? {0} : {1})",
            "__builtin_fma({0}, {1}, 0.5)", "{0} / {1}"],
    "f16": ["(f16)({0} + {1})", "(f16)({0} - {1})", "(f16)({0} * {1})",
            "({0} < {1} ? {0} : {1})"],
    "u16": ["(u16)({0} + {1})", "(u16)({0} * (u32){1})", "(u16)({0} >> ({1} & 15))"],
    "u8": ["(u8)({0} + {1})", "(u8)({0} ^ {1})"],
}
CONVERT = {
    ("u32", "f32"): "b2f({0})", ("f32", "u32"): "f2b({0})", ("f32", "i32"): "f2i({0})",
    ("f64", "i64"): "d2l({0})", ("f64", "u64"): "d2b({0})", ("i64", "f64"): "(f64){0}",
    ("u64", "f32"): "(f32){0}", ("i32", "f64"): "(f64){0}", ("f32", "f64"): "(f64){0}",
    ("f64", "f32"): "(f32){0}", ("f32", "f16"): "(f16){0}", ("f16", "f32"): "(f32){0}",
    ("f16", "u32"): "h2b({0})",
}
for a in ("u32", "i32", "u64", "i64", "u16", "u8"):
    for b in ("u32", "i32", "u64", "i64", "u16", "u8"):
        if a != b:
            CONVERT[a, b] = "(%s){0}" % b


class Function:
    def __init__(self, seed, index):
        self.random = random.Random(seed * 100003 + index)
        self.index = index
        self.count = 0
        self.values = {t: [] for t in BINARY}
        self.values["u32"] = ["a", "b", "c", "d"]
        self.lines = []

    def fresh(self, kind, text, indent):
        name = f"x{self.count}"
        self.count += 1
        self.lines.append(f"{'  ' * indent}{kind} {name} = {text};")
        return name

    def pick(self, kind):
        r = self.random
        if self.values[kind] and r.random() < 0.9:
            return r.choice(self.values[kind][-8:])
        if kind in ("f32", "f64", "f16"):
            return f"({kind}){r.choice([0.5, 1.25, -3.0, 100.0, 0.001])}"
        return f"({kind}){r.choice([1, 3, 7, 255, 0x1234567, 0x80000000])}u"

    def statement(self, indent, depth):
        r = self.random
        roll = r.random()
        if roll < 0.55 or depth > 2:
            kind = r.choices(list(BINARY), [6, 4, 2, 2, 6, 2, 2, 2, 1])[0]
            text = r.choice(BINARY[kind]).format(self.pick(kind), self.pick(kind))
            self.values[kind].append(self.fresh(kind, text, indent))
        elif roll < 0.78:
            source, target = r.choice(list(CONVERT))
            text = CONVERT[source, target].format(self.pick(source))
            self.values[target].append(self.fresh(target, text, indent))
        elif roll < 0.88:
            self.branch(indent, depth)
        elif roll < 0.96:
            self.loop(indent, depth)
        else:
            self.array(indent)

    def block(self, indent, depth, results):
        saved = {t: list(v) for t, v in self.values.items()}
        for _ in range(self.random.randint(1, 4)):
            self.statement(indent, depth)
        for kind, name in results:
            self.lines.append(f"{'  ' * indent}{name} = {self.pick(kind)};")
        self.values = saved

    def branch(self, indent, depth):
        kind = self.random.choice(["u32", "f32", "i32", "u64"])
        name = self.fresh(kind, self.pick(kind), indent)
        pad = "  " * indent
        self.lines.append(f"{pad}if ({self.pick('i32')} < {self.pick('i32')}) {{")
        self.block(indent + 1, depth + 1, [(kind, name)])
        self.lines.append(f"{pad}}} else {{")
        self.block(indent + 1, depth + 1, [(kind, name)])
        self.lines.append(f"{pad}}}")
        self.values[kind].append(name)

    def loop(self, indent, depth):
        kind = self.random.choice(["u32", "f32"])
        name = self.fresh(kind, self.pick(kind), indent)
        counter = f"n{self.count}"
        self.count += 1
        pad = "  " * indent
        self.lines.append(f"{pad}for (u32 {counter} = 0; {counter} < ({self.pick('u32')} & 7); "
                          f"++{counter}) {{")
        self.values[kind].append(name)
        self.block(indent + 1, depth + 1, [(kind, name)])
        self.lines.append(f"{pad}}}")

    def array(self, indent):
        """A private array with computed indices: scratch memory."""
        name = f"t{self.count}"
        self.count += 1
        pad = "  " * indent
        self.lines.append(f"{pad}u32 {name}[8] = {{{self.pick('u32')}, 2, {self.pick('u32')}, 4, 5}};")
        self.lines.append(f"{pad}{name}[{self.pick('u32')} & 7] = {self.pick('u32')};")
        self.values["u32"].append(self.fresh("u32", f"{name}[{self.pick('u32')} & 7]", indent))

    def text(self):
        for _ in range(self.random.randint(6, 16)):
            self.statement(1, 0)
        fold = {"u32": "{}", "i32": "(u32){}", "u64": "(u32)({0} ^ {0} >> 32)",
                "i64": "(u32)((u64){0} ^ (u64){0} >> 32)", "f32": "f2b({})",
                "f64": "(u32)(d2b({0}) ^ d2b({0}) >> 32)", "f16": "h2b({})",
                "u16": "(u32){}", "u8": "(u32){}"}
        terms = [fold[t].format(v[-1]) for t, v in self.values.items() if v]
        body = "\n".join(self.lines)
        result = "0u"
        for term in terms:
            result = f"(({result}) * 31u ^ ({term}))"
        return (f"static u32 f{self.index}(u32 a, u32 b, u32 c, u32 d) {{\n{body}\n"
                f"  return {result};\n}}\n")


def sources(seed, count):
    """The same functions with device and with host wrappers."""
    functions = [Function(seed, index).text() for index in range(count)]
    gpu = PRELUDE + "".join(f + GPU % (i, i) for i, f in enumerate(functions))
    host = PRELUDE + "".join(f + HOST % (i, i) for i, f in enumerate(functions))
    return gpu, host
