"""Chat templates render as Jinja renders them for `transformers`.

The templates below are the published formats of the model families, or short
ones that each show one rule. The reference is the environment that
transformers compiles templates in.
"""
import json
import random

import jinja2
import pytest
from transformers.utils.chat_template_utils import _compile_jinja_template

from tokenizers_common import run, smollm2

CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
    "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA3 = (
    "{% set loop_messages = messages %}{% for message in loop_messages %}"
    "{% set content = '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}"
    "{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}"
    "{{ content }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
LLAMA2 = (
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system_message = messages[0]['content'] %}{% else %}"
    "{% set loop_messages = messages %}{% set system_message = false %}{% endif %}"
    "{% for message in loop_messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/"
    "assistant/...') }}{% endif %}"
    "{% if loop.index0 == 0 and system_message != false %}"
    "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + "
    "message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}"
    "{% if message['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
    "{% elif message['role'] == 'assistant' %}"
    "{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}

{#- This block checks for alternating user/assistant messages #}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}

{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
            {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
{%- endfor %}
"""
QWEN25 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
QWEN3 = """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""
ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}"
    "{% else %}{% set role = message['role'] %}{% endif %}"
    "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + "
    "'<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"
)
GEMMA3 = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
"""
LLAMA31 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools_in_user_message is defined %}
    {%- set tools_in_user_message = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- This block extracts the system message, so we can slot it into the right place. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}

{#- System message + builtin tools #}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}
{%- endif %}
{{- "Cutting Knowledge Date: December 2023\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first_user_message = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("Cannot put tools in the first user message when there's no first user message!") }}
{%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\n' -}}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
    {{- first_user_message + "<|eot_id|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
MACROS = """{%- macro render_type(spec, depth=0) -%}
  {%- if spec.type == "array" -%}{{ render_type(spec['items'], depth + 1) }}[]
  {%- elif spec.type == "object" -%}{ {%- for key, value in spec.properties|dictsort -%}
  {{ key }}: {{ render_type(value, depth=depth + 1) }}{{ ", " if not loop.last }}
  {%- endfor -%} }
  {%- else -%}{{ spec.type or 'any' }}@{{ depth }}{%- endif -%}
{%- endmacro -%}
{%- for tool in tools or [] %}{{ tool.function.name }}({{ render_type(tool.function.parameters) }})
{% endfor %}"""

FAMILIES = {
    "chatml": CHATML, "llama3": LLAMA3, "llama2": LLAMA2, "mistral": MISTRAL,
    "qwen2.5": QWEN25, "qwen3": QWEN3, "zephyr": ZEPHYR, "gemma": GEMMA,
    "gemma3": GEMMA3, "llama3.1": LLAMA31, "macros": MACROS,
}

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Wetter für \"einen\" Ort — <b>jetzt</b>",
        "parameters": {"type": "object", "properties": {
            "place": {"type": "string"}, "Days": {"type": "array", "items": {
                "type": "array", "items": {"type": "integer"}}}},
            "required": ["place"], "limit": 1.5, "n": None, "strict": True}}},
    {"type": "function", "function": {
        "name": "now", "parameters": {"type": "object", "properties": {}}}},
]
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"function": {"name": "get_weather", "arguments": {"place": "Ulm", "k": [1, {}]}}}]}


def conversations():
    """Contexts: every mix of roles that templates branch on."""
    rng = random.Random(11)
    contents = [
        "Hello", "  padded\n\t ", "", "two\nlines\n", "quotes ' \" and \\ {{ x }}",
        "Grüße 😀 日本\u3000", "<think>\nhm\n</think>\n\nSo.", "<tool_response>x</tool_response>",
        "\u00a0nbsp\u00a0",
    ]
    text = lambda: rng.choice(contents)
    plans = [["user"], ["system", "user"], ["user", "assistant", "user"],
             ["system", "user", "assistant", "user", "assistant"], ["user", "user"],
             ["user", "call", "tool", "tool", "user"], ["system"], ["assistant"]]
    for plan in plans * 3:
        messages = []
        for role in plan:
            message = dict(CALL) if role == "call" else {"role": role, "content": text()}
            if role == "user" and rng.random() < 0.15:
                message["content"] = [{"type": "text", "text": text()}, {"type": "image"}]
            messages.append(message)
        context = {
            "messages": messages, "add_generation_prompt": rng.random() < 0.6,
            "bos_token": "<s>", "eos_token": "</s>",
        }
        if rng.random() < 0.4:
            context["tools"] = rng.choice([TOOLS, TOOLS[:1], None, []])
        if rng.random() < 0.3:
            context["enable_thinking"] = rng.random() < 0.5
        if rng.random() < 0.3:
            context["builtin_tools"] = ["a", "code_interpreter", "b"]
        if rng.random() < 0.3:
            context["tools_in_user_message"] = False
        yield context


def reference(template, context):
    """The text, or None where Jinja raises an error."""
    try:
        return _compile_jinja_template(template).render(**context)
    except (jinja2.exceptions.TemplateError, TypeError, ZeroDivisionError):
        return None


def rendered(pairs):
    """Our results for (template, context): a text, or None and the error."""
    records = []
    for template, context in pairs:
        records += [template.encode(), json.dumps(context).encode()]
    for answer in run("render", records=records):
        yield (answer[1:].decode() if answer[:1] == b"+" else None), answer.decode()


@pytest.mark.parametrize("family", [*FAMILIES, "smollm2"])
def test_family(family):
    template = FAMILIES.get(family) or smollm2()["chat_template"]
    pairs = [(template, context) for context in conversations()]
    expected = [reference(*pair) for pair in pairs]
    assert sum(text is not None for text in expected) >= 6
    for pair, text, (got, answer) in zip(pairs, expected, rendered(pairs), strict=True):
        assert got == text, (pair[1], answer)


# One rule each; rendered with CONTEXT.
CONTEXT = {
    "a": 7, "b": -3, "f": 2.5, "s": "Hello World", "t": "  x \n", "e": "", "n": None,
    "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "d": {"k": 1, "j": [1, "two", None, True]},
    "m": [{"r": "u", "c": {"x": 1}}, {"r": "a", "c": {"x": 2}}, {"r": "u"}], "yes": True,
    "u": "Äö日本😀", "nl": "p\n\nq\nr",
}
RULES = r"""
{{ a + b }} {{ a - b }} {{ a * b }} {{ a / 2 }} {{ a // b }} {{ a % b }} {{ b % a }} {{ b // 2 }}
{{ 2 ** 10 }} {{ 2 ** -1 }} {{ -a }} {{ +a }} {{ a + f }} {{ 7 / 7 }} {{ 1e3 }} {{ 1.0 }} {{ 1e16 }} {{ 123456.75 }} {{ 1e-5 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1_000 + 1 }} {{ 2 * 3 + 4 ~ 5 ~ 'x' }} {{ 'a' 'b' }} {{ 'ab' * 3 }}
{{ a > b }} {{ a == 7.0 }} {{ 1 < a <= 7 }} {{ 1 < a < 7 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ yes == 1 }}
{{ a and b }} {{ e or s }} {{ not e }} {{ not a == 7 }} {{ n or 'none' }} {{ e and x.y }}
{{ 'el' in s }} {{ 'k' in d }} {{ 9 not in l }} {{ 3 in l }} {{ 'x' in missing }}
{{ s if a > 1 else e }} {{ s if a < 1 }} {{ 'p' if n else 'q' if e else 'r' }}
{{ l }} {{ d }} {{ w }} {{ n }} {{ yes }} {{ missing }} {{ [1, 'a', 2.0, none, "it's", 'q"', '\n\\'] }} {{ {} }} {{ [] }}
{{ s[0] }} {{ s[-1] }} {{ s[1:4] }} {{ s[::-1] }} {{ s[:-2] }} {{ s[::2] }} {{ u[1:3] }} {{ u[-1] }} {{ l[1:] }} {{ l[::-1] }} {{ l[5:] }} {{ l[-2:] }} {{ l[2:0:-1] }} {{ l[-9:9] }}
{{ l.0 }} {{ d.k }} {{ d['j'][1] }} {{ d.missing }} {{ l[9] }} {{ m[0].c.x }} {{ d.get('k') }} {{ d.get('z') }} {{ d.get('z', 5) }}
{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ t.strip() }}| {{ t.rstrip() }}| {{ t.lstrip() }}| {{ 'xxaxx'.strip('x') }} {{ s.split() }} {{ s.split('o') }} {{ s.split('o', 1) }} {{ s.rsplit('o', 1) }} {{ ' a  b c '.split(none, 1) }} {{ ' a  b '.split() }}
{{ s.startswith('He') }} {{ s.endswith('x') }} {{ s.startswith(('x', 'H')) }} {{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ s.find('o') }} {{ s.find('z') }} {{ u.find('本') }} {{ s.count('l') }} {{ '-'.join(w) }} {{ nl.splitlines() }} {{ '12'.isdigit() }} {{ s.capitalize() }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('bc') }}
{{ t | trim }}| {{ s | upper }} {{ s | lower }} {{ 'aB c-d' | title }} {{ 'aBC' | capitalize }} {{ s | length }} {{ u | length }} {{ l | length }} {{ d | length }} {{ l | count }} {{ missing | length }}
{{ missing | default('z') }} {{ e | default('z') }} {{ e | default('z', true) }} {{ n | d('z') }} {{ e | d('z', boolean=true) }} {{ missing | default }}
{{ w | join(', ') }} {{ l | join }} {{ m | map(attribute='r') | join('/') }} {{ w | map('upper') | list }} {{ m | map(attribute='c.x', default='-') | list }}
{{ l | first }} {{ l | last }} {{ l | reverse | list }} {{ s | reverse }} {{ l | sort }} {{ w | sort }} {{ w | sort(reverse=true) }} {{ w | sort(case_sensitive=true) }} {{ m | sort(attribute='r') | map(attribute='r') | list }} {{ [1, 2, 1, 3, 2] | unique | list }} {{ d | items | list }} {{ d | dictsort }} {{ e | first }}
{{ '42' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ 4.7 | int }} {{ '1.5' | float }} {{ -3 | abs }} {{ b | abs }} {{ a | string + 'x' }} {{ s | list }} {{ '  7 ' | int }}
{{ m | selectattr('r', 'equalto', 'u') | list | length }} {{ m | selectattr('c') | list | length }} {{ m | rejectattr('r', 'eq', 'u') | list | length }} {{ l | select('odd') | list }} {{ l | reject('gt', 1) | list }} {{ m | selectattr('c', 'defined') | list | length }} {{ [0, 1, ''] | select | list }}
{{ d | tojson }} {{ u | tojson }} {{ "a\"b\\\n\t\x01é<>&'" | tojson }} {{ [1.0, 1e20, -0.5, none, true] | tojson }} {{ {} | tojson }} {{ [] | tojson(indent=2) }} {{ u | tojson(ensure_ascii=true) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}
{{ d | tojson(indent=2) }} {{ tools | default([]) | tojson }}
{{ nl | indent }} {{ nl | indent(2, true) }} {{ nl | indent(2, first=true, blank=true) }} {{ '<a href="x">' | e }} {{ s | safe }}
{{ a is defined }} {{ missing is defined }} {{ missing is undefined }} {{ n is none }} {{ s is string }} {{ a is number }} {{ a is integer }} {{ f is float }} {{ yes is boolean }} {{ yes is true }} {{ d is mapping }} {{ l is sequence }} {{ l is iterable }} {{ a is iterable }} {{ a is odd }} {{ a is even }} {{ a is divisibleby 7 }} {{ a is divisibleby(2) }} {{ a is eq 7 }} {{ a is not none }} {{ a is in [7] }} {{ not a is defined }} {{ s is lower }} {{ range is callable }} {{ a is sameas 7 }} {{ yes is false }} {{ a is gt 3 and a is lt 9 }}
{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}
{% for i in [] %}x{% else %}none{% endfor %} {% for i in missing %}x{% else %}none{% endfor %} {% for c in u %}[{{ c }}]{% endfor %} {% for k in d %}{{ k }}{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for (k, v) in d.items() %}{{ k }}{% endfor %} {{ d.keys() | list }} {{ d.values() | list }}
{% for i in l if i > 1 %}{{ i }}{{ loop.index }}{{ loop.length }}{% else %}none{% endfor %} {% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}
{{ range(3) | list }} {{ range(2, 5) | list }} {{ range(9, 2, -3) | list }} {{ range(0) | list }}
{% set x = 1 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }} {% if true %}{% set x = 9 %}{% endif %}{{ x }}
{% set ns = namespace(x=0, y='q') %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.y }}{{ ns.z }} {% set p, q = 1, 'two' %}{{ p }}{{ q }}
{% set body %}in {{ a }}{% endset %}{{ body }} {% set up | upper %}shout{% endset %}{{ up }} {{ dict(x=1, y=[2]) }} {% set z = {'a': {'b': [1, {'c': 2}]}} %}{{ z.a.b[1].c }}
{% macro f(x, y=2, z='!') %}{{ x }}{{ y }}{{ z }}{{ a }}{% endmacro %}{{ f(1) }} {{ f(1, z='?') }} {{ f(x=5, y=6) }} {{ f() }} {{ f('a') | upper }}
{% if a == 1 %}1{% elif a == 7 %}7{% else %}x{% endif %} {% if missing %}m{% endif %}{# comment #}|{#- trimmed -#} | {% raw %}{{ raw }} {% x %}{% endraw %} {% generation %}g{{ a }}{% endgeneration %}
{{ "\u00e9\x41\101\t|" }} {{ 'it''s' }} {{ "\"" }} {{ '\d' }} {{ '}}' }} {{ {'a': {'b': 1}}['a']['b'] }} {{ ('a', 'b')[1] }} {{ (1,)|length }} {{ ()|length }}
{{ x.y }}
{{ missing.y }}
{{ missing + 'a' }}
{{ missing() }}
{{ a.upper() }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 'a' + 1 }}
{{ s | nosuchfilter }}
{{ a is nosuchtest }}
{{ raise_exception('stop') }}
{% for a, b in l %}{% endfor %}
{{ missing < 1 }}
{{ l | tojson(nosuch=1) if false else missing | tojson }}
{{ 'a' < 1 }}
{{ a[
{% if a %}
{% endif %}
{{ a b }}
{% for in l %}{% endfor %}
{{ 'unterminated }}
{% unknown %}
{{ a | }}
{{ (a }}
""".strip("\n").split("\n")

BLANKS = [
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "  {% if true %}  \n x {% endif %} y",
    "x  {%- if true -%}  \n y {%- endif %}\n z", "  {%+ if true %}q{% endif +%}\n r",
    " \t{# c #}\nx", "a {#- c -#} \n b", "{{ 1 }}\n{{ 2 }}\n", "{{- 1 -}} \n {{+2}}",
    "a\r\n{% if true %}\r\nb\r{% endif %}", "x\n\n", "\n\n{{ 1 }}\n\n", "",
    "{% for i in [1,2] %}\n  {{ i }}\n{% endfor %}\n", "{%- raw -%} {{ a }} {%- endraw -%} b",
    "{% raw %}\n {{ a }}\n {% endraw %}\n b", "a{{ '\n' }}   {% set x = 1 %}\n  b",
    "   {{ 1 }}   {% if true %}  a  {% endif %}   b", "{{ 1 -}}\n   {% if true %}a{% endif %}",
    "a\n  {{- 1 }}", "{% if true %}{% if true %}\n\n{% endif %}\n\n{% endif %}x", "a { b % } {",
    "{% if true -%}\n  \n a\n  {%- endif %}\n\n\u3000{%- if true %}\u3000b{% endif %}",
]


def check_each(templates):
    pairs = [(template, CONTEXT) for template in templates]
    for (template, context), (got, answer) in zip(pairs, rendered(pairs), strict=True):
        assert got == reference(template, context), (template, answer)


def test_rules():
    assert sum(reference(rule, CONTEXT) is None for rule in RULES) > 15
    check_each(RULES)


def test_each_expression_of_the_rules():
    """Alone, so that one expression cannot hide behind another's error."""
    import re

    pieces = {p for rule in RULES for p in re.findall(r"\{\{.*?\}\}", rule)}
    check_each(sorted(pieces))


def test_white_space():
    check_each(BLANKS)


def test_errors_say_where():
    pairs = [("{{ 1 }}\n{% if x %}\n {{ a.b.c.d }}{% endif %}", {"x": 1, "a": {}}),
             ("a\n  {{ 'x }}", {}), ("{{ raise_exception('no tools') }}", {})]
    answers = [answer for _, answer in rendered(pairs)]
    assert "line 3, column 8" in answers[0] and "'b' is undefined" in answers[0]
    assert "line 2, column 6" in answers[1]
    assert "no tools" in answers[2]


def test_bounds():
    """Templates that would run or grow without end stop with a sentence."""
    deep = "(" * 5000 + "1" + ")" * 5000
    grow = "{% set ns = namespace(s='xx') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
    nest = "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = [ns.l] %}{% endfor %}"
    spin = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    blocks = "{% if 1 %}" * 5000 + "{% endif %}" * 5000
    chain = "{{ 1" + " + 1" * 5000 + " }}"
    calls = "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}"
    maps = "{{ 'a' | map(" + ", ".join(["'map'"] * 500) + ") | list }}"
    bad = [f"{{{{ {deep} }}}}", grow, nest, spin, blocks, chain, calls, maps,
           "{{ range(10**12) }}", "{{ 'a' * 10**12 }}", "{{ 9999999999 ** 99 }}",
           "{{ -" + "-" * 5000 + "1 }}", "{{ " + "not " * 5000 + "1 }}",
           "{% set ns = namespace() %}{% set ns.x = ns %}",
           "{{ " + "[" * 5000 + "]" * 5000 + " }}", "{{ a" + ".b" * 5000 + " }}"]
    for _, answer in rendered([(template, {"a": {}}) for template in bad]):
        assert answer.startswith("-") and len(answer) > 10, answer
    deep_json = "[" * 100000 + "]" * 100000
    answer = run("render", records=[b"{{ x }}", b'{"x": ' + deep_json.encode() + b"}"])
    assert answer[0].startswith(b"-")
