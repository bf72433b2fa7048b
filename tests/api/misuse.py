#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""misuse.py ALIASES OUTPUT.c VALUES.c... HEADER.h...

Writes the table of public functions that misuse.c calls with invalid arguments. What an
argument must be follows from the header: its type, and the words of its @param, after the
commands of ALIASES, which is a part of a Doxyfile, are replaced by what they stand for.

- A pointer is REQUIRED, unless its @param says what NULL means.
- A count whose @param says ">= 1" must not be 0.
- A call that asks for its workspace has no arrays, outputs and callbacks, but structs with counts
  (VIEWS: without their arrays) and objects.
- A `const double *` or `const float *` must be finite, unless its @param mentions NaN,
  infinities or arguments that extrapolate.

A valid argument comes from the first of these that exists:

- make_FUNCTION_PARAMETER(), make_TYPE_PARAMETER() or make_TYPE() in VALUES.c, where TYPE is
  spelled as in make_const_double();
- for an opaque struct: the function that makes it, with valid arguments, and then
  prepare_TYPE() of VALUES.c if there is one;
- for a struct with an _init() function: that; for another one that begins with struct_size:
  zeros and its size;
- for an output: a block filled with a pattern.

before_FUNCTION() and after_FUNCTION() of VALUES.c prepare and restore the process."""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"(/\*\*(?:(?!\*/).)*\*/)\s*TSANOM_API\s+([^;{}]*?)\b(tsanom_\w+)\s*"
                      r"\(([^;{}]*)\)\s*;", re.S)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\n\} \w+;", re.S)
FIELD = re.compile(r"^\s*([\w ]+?[ *]+(?:const \*)?)(\w+)(\[\w+\])?;[ \t]*(/\*\*<.*?\*/)?",
                   re.M | re.S)
ALIAS = re.compile(r'^ALIASES \+= "(\w+)(?:\{\d\})?=(.*)"$', re.M)
VALUE = re.compile(r"^(?:static [\w ]*?|[A-Z]+_[A-Z]+\()(\w+)[(,)]", re.M)
KINDS = {"size_t": "SIZE", "int32_t": "INT32", "tsanom_status": "INT32", "uint32_t": "UINT32",
         "uint64_t": "UINT64", "double": "REAL"}
MEMBERS = {"POINTER": "pointer", "SIZE": "size", "INT32": "int32", "UINT32": "uint32",
           "UINT64": "uint64", "REAL": "real"}
NULL_IS_ALLOWED = re.compile(r"NULL(?! if|\s+if)(?!.{0,3}is NULL)")
VIEWS = {"tsanom_series", "tsanom_series_f32", "tsanom_roughset_table", "tsanom_spmd_data",
         "tsanom_optics_ordering"}
ANY_NUMBER = re.compile(r"NaN|infinit|extrapolate|may overflow")


def without_aliases(text, aliases):
    """The text of a header with the text of each alias in its place."""
    def expanded(match):
        value = aliases[match[1]].replace("^^", " ")
        for i, argument in enumerate((match[2] or "").split(","), 1):
            value = value.replace(f"\\{i}", argument)
        return value
    return re.sub(rf"@({'|'.join(aliases)})\b(?:{{([^}}]*)}})?", expanded, text)


def doc_text(comment):
    return re.sub(r"\s+", " ", re.sub(r"^\s*\*", "", comment.strip("/* "), flags=re.M))


def doc_parameters(comment):
    """name -> text of each @param."""
    found = {}
    for part in re.split(r"@(?=param|retval|return|copydoc|copydetails|note)", doc_text(comment)):
        match = re.match(r"param(?:\[[\w,]+\])?\s+([\w,]+)\s+(.*)", part)
        for name in match[1].split(",") if match else []:
            found[name] = match[2]
    return found


class Parameter:
    def __init__(self, text):
        text = re.sub(r"\bstruct ", "", " ".join(text.split()))
        if "(*" in text:
            sys.exit(f"misuse.py: give a name to the type of '{text}'")
        self.name = re.search(r"(\w+)$", text)[1]
        self.type = text[:-len(self.name)].strip()
        self.base = self.type.replace("const", "").replace("*", "").strip()
        self.stars = self.type.count("*")
        self.const = self.type.startswith("const")
        self.doc = ""

    def spelled(self):
        hidden = 0 if self.base in KINDS and not self.const else 1
        return ("const_" if self.const else "") + self.base + "_pointer" * (self.stars - hidden)


class Api:
    """What the headers declare."""

    def __init__(self, headers, aliases):
        self.functions, self.structs, self.docs = {}, {}, {}
        self.callbacks, self.without_isa = set(), set()
        for header in headers:
            text = without_aliases(Path(header).read_text(), aliases)
            code = COMMENT.sub("", text)
            self.callbacks |= set(re.findall(r"typedef \w+ (tsanom_\w+)\(", code))
            self.callbacks |= set(re.findall(r"typedef \w+ \(\*(tsanom_\w+)\)", code))
            for match in STRUCT.finditer(text):
                self.structs[match[1]] = FIELD.findall(re.sub(r"/\*\*(?!<).*?\*/", "", match[2],
                                                              flags=re.S))
            for comment, result, name, arguments in FUNCTION.findall(text):
                comment = comment[comment.rindex("/**"):]
                arguments = COMMENT.sub("", arguments).strip()
                parameters = [Parameter(a) for a in arguments.split(",") if a != "void"]
                self.functions[name] = (" ".join(result.split()), parameters)
                self.docs[name] = comment
                if re.search(r"threads, isa\W+and\W+workspace\W+of\W+exec\W+are\W+not\W+used", text):
                    self.without_isa.add(name)
        for name, (_, parameters) in self.functions.items():
            docs = self.doc_of(name)
            for p in parameters:
                p.doc = docs.get(p.name, "")

    def doc_of(self, name):
        copied = re.search(r"@copy(?:doc|details) (\w+)", self.docs[name])
        docs = self.doc_of(copied[1]) if copied else {}
        docs.update(doc_parameters(self.docs[name]))
        for parameter, text in docs.items():
            other = re.search(r"\bas (?:of|in|for) (\w+)\(\)", text)
            if re.search(r"\bas (?:of|for) the call", text):
                other = re.search(r"(\w+)", self.call_of(name))
            if other and other[1] in self.docs and other[1] != name:
                docs[parameter] = text + " " + self.doc_of(other[1]).get(parameter, "")
        return docs

    def call_of(self, query):
        """The function whose memory a query is about."""
        stem = re.sub(r"_(workspace|size)$", "", query)
        return stem if stem in self.docs else stem + "_init"

    def is_opaque(self, p):
        return (p.base.startswith("tsanom_") and p.base not in self.structs
                and p.base not in self.callbacks and p.stars > 0)

    def is_versioned(self, base):
        """Whether the struct begins with its size."""
        return any(field == "struct_size" for _, field, *_ in self.structs.get(base, []))

    def maker_of(self, base):
        """The function that makes an opaque struct."""
        makers = [n for n, (_, ps) in self.functions.items()
                  if ps and ps[-1].base == base and ps[-1].stars == 2]
        for suffix in ("_learn", "_create", "_open", "_load", "_init"):
            for name in makers:
                if name.endswith(suffix):
                    return name
        sys.exit(f"misuse.py: no function makes a {base}: its last parameter must be {base} **")

    def destroyer_of(self, name):
        """The function that destroys what `name` makes."""
        parameters = self.functions[name][1]
        if not parameters or parameters[-1].stars != 2 or (
                name.endswith("_init") and name != "tsanom_record_init"):
            return None
        destroyers = [other for other, (result, ps) in self.functions.items()
                      if result == "void" and len(ps) == 1
                      and ps[0].base == parameters[-1].base]
        return max(destroyers, key=lambda other: other.endswith("_destroy"), default=None)


class Table:
    """The C file."""

    def __init__(self, api, values):
        self.api, self.missing = api, []
        self.values = set(VALUE.findall(values))
        self.names = [n for n, (_, ps) in api.functions.items() if ps]
        self.destroyers = {api.destroyer_of(name) for name in self.names}
        self.makers, self.text = {}, []
        self.results = {p.base for n, (_, ps) in api.functions.items() if not n.endswith("_init")
                        for p in ps if p.stars == 1 and not p.const}

    def traits(self, p, function):
        traits = []
        if p.name == "struct_size" or (p.name, p.type) == ("bytes", "size_t"):
            return ["IS_BYTES"]
        if p.stars == 0:
            return ["AT_LEAST_1"] if re.search(r">= 1\b", p.doc) else []
        if self.api.functions[function][0] == "tsanom_status":
            traits.append("OPTIONAL" if NULL_IS_ALLOWED.search(p.doc) else "REQUIRED")
        if p.const and p.base not in self.results:
            traits.append("IS_CONST")
        if p.const and p.stars == 1 and not ANY_NUMBER.search(p.doc):
            traits += {"double": ["SAMPLES"], "float": ["SAMPLES_F32"]}.get(p.base, [])
        if p.const and p.base in VIEWS:
            traits.append("IS_VIEW")
        elif self.may_miss(p):
            traits.append("MAY_MISS")
        traits += {"const tsanom_exec *": ["IS_EXEC"], "void *": ["IS_MEMORY"],
                   "const char *": ["IS_TEXT"]}.get(p.type, [])
        if p.type == "void *" and p.name == "object":
            traits.remove("IS_MEMORY")
        elif p.type == "void *" and p.name != "memory":
            traits = ["OPTIONAL"]
        if p.base == "tsanom_exec" and re.search(r"only its alloc|the allocator is copied", p.doc):
            traits[traits.index("IS_EXEC")] = "IS_ALLOCATOR"
        if p.base == "tsanom_exec" and (
                function in self.api.without_isa
                or re.search(r"of which (only the fault is|allocator and fault are) used", p.doc)):
            traits.append("IGNORES_ISA")
        if p.stars == 2 and self.api.is_opaque(p):
            traits.append("IS_OBJECT_OUT")
        return traits

    def may_miss(self, p):
        """Whether it is an array, an output or a callback."""
        if (p.type == "const tsanom_exec *" or p.name == "object"
                or self.api.is_opaque(p) and p.stars == 1):
            return False
        fields = self.api.structs.get(p.base, [])
        if not p.const:  # an output may tell the counts of its arrays
            return not any(field.endswith("_count") for _, field, *_ in fields)
        return not (self.api.is_versioned(p.base) or any("*" in kind for kind, *_ in fields))

    def object_maker(self, p):
        maker, name = self.api.maker_of(p.base), f"object_{p.base}"
        if name not in self.makers:
            prepare = f"prepare_{p.base}" if f"prepare_{p.base}" in self.values else "NULL"
            self.makers[name] = (f"static value {name}(void) {{\n  return (value){{.pointer = "
                                 f"make_object(&functions[{self.names.index(maker)}], {prepare})"
                                 f"}};\n}}\n")
        return name

    def block_maker(self, p):
        init = f"{p.base}_init"
        has_init = p.stars == 1 and init in self.api.functions
        versioned = p.stars == 1 and self.api.is_versioned(p.base)
        size = f"16 * sizeof({p.base})" if p.base in self.api.structs else "4096"
        name, made, call = f"block_{p.base}", f"take({size})", ""
        if p.stars == 2:
            name, made = "block_pointer", "take(sizeof(void *))"
        elif has_init:
            made = f"take_struct(sizeof({p.base}))"
            call = f"  (void){init}(made, sizeof({p.base}));\n"
        elif versioned:
            made = f"take_struct(sizeof({p.base}))"
            call = (f"  memset(made, 0, sizeof({p.base}));\n"
                    f"  *(size_t *)made = sizeof({p.base});\n")
        self.makers[name] = (f"static value {name}(void) {{\n  void *made = {made};\n{call}"
                             f"  return (value){{.pointer = made}};\n}}\n")
        return name

    def size_maker(self, base):
        name = f"size_of_{base}"
        self.makers[name] = (f"static value {name}(void) {{\n"
                             f"  return (value){{.size = sizeof({base})}};\n}}\n")
        return name

    def maker(self, p, function):
        if p.type == "const tsanom_exec *":
            return "make_exec"
        if p.name == "struct_size":
            return self.size_maker(self.api.functions[function][1][0].base)
        for name in (f"make_{function}_{p.name}", f"make_{p.spelled()}_{p.name}",
                     f"make_{p.spelled()}"):
            if name in self.values:
                return name
        if self.api.is_opaque(p) and p.stars == 1:
            return self.object_maker(p)
        has_init = (f"{p.base}_init" in self.api.functions
                    or p.stars == 1 and self.api.is_versioned(p.base))
        if p.stars and (not p.const or has_init) and p.base not in self.api.callbacks:
            return self.block_maker(p)
        self.missing.append(f"no valid '{p.type} {p.name}' for {function}(): "
                            f"add make_{p.spelled()}() or make_{function}_{p.name}() to "
                            "misuse_values.c or misuse_structs.c")
        return "NULL"

    def structure(self, p, function):
        if any(q.name == "struct_size" for q in self.api.functions[function][1]):
            return "NULL"
        if not p.const and p.base == "tsanom_speedup_event":
            return "NULL"  # an output
        return f"&structure_{p.base}" if p.base in self.api.structs and p.stars == 1 else "NULL"

    def add_structures(self):
        used = {p.base for _, ps in self.api.functions.values() for p in ps if p.stars == 1
                if not p.doc.startswith("the caller's struct")}
        for name, fields in self.api.structs.items():
            if name not in used:
                continue
            self.text.append(f"static const field fields_{name}[] = {{")
            for kind, field, array, comment in fields:
                kind = " ".join(kind.split())
                kind = "POINTER" if kind.endswith("*") else KINDS.get(kind)
                if kind and not array and field != "struct_size":
                    reserved = str("must be 0" in comment).lower()
                    self.text.append(f'    {{"{field}", offsetof({name}, {field}), IS_{kind}, '
                                     f"{reserved}}},")
            versioned = str(any(f[1] == "struct_size" for f in fields)).lower()
            self.text.append(f'    {{"", 0, 0, false}}}};\n'
                             f"static const structure structure_{name} = {{sizeof({name}), {versioned}, fields_{name}, "
                             f"sizeof fields_{name} / sizeof *fields_{name} - 1}};")

    def add_function(self, name):
        result, parameters = self.api.functions[name]
        arguments, rows = [], []
        for i, p in enumerate(parameters):
            kind = "POINTER" if p.stars else KINDS.get(p.base)
            if p.base in self.api.callbacks:
                kind = "POINTER"
            if not kind:
                sys.exit(f"misuse.py: unknown type '{p.type}' of {name}({p.name})")
            member = f"v[{i}].{MEMBERS[kind]}"
            if p.base in self.api.callbacks:
                member = f"({p.base} *)(uintptr_t){member}"
            arguments.append(member)
            rows.append(f'    {{"{p.name}", IS_{kind}, {" | ".join(self.traits(p, name)) or 0}, '
                        f"{self.structure(p, name)}, {self.maker(p, name)}}},")
        call = f"{name}({', '.join(arguments)})"
        status = result == "tsanom_status"
        body = f"return {call};" if status else f"(void){call};\n  return 0;"
        self.text.append(f"static tsanom_status call_{name}(const value *v) {{\n  {body}\n}}\n"
                         f"static const parameter parameters_{name}[] = {{")
        self.text += rows + ["};"]

    def function_row(self, name):
        hooks = [f"{hook}_{name}" if f"{hook}_{name}" in self.values else "NULL"
                 for hook in ("before", "after")]
        destroyer = self.api.destroyer_of(name)
        result = self.api.functions[name][0]
        status = str(result == "tsanom_status").lower()
        destroys = str(name in self.destroyers).lower()
        return (f'    {{"{name}", call_{name}, parameters_{name}, '
                f"sizeof parameters_{name} / sizeof *parameters_{name}, "
                f"{status}, {destroys}, "
                f"{', '.join(hooks)}, {'destroy_' + name if destroyer else 'NULL'}}},")

    def write(self):
        self.add_structures()
        for name in self.names:
            self.add_function(name)
            destroyer = self.api.destroyer_of(name)
            if destroyer:
                self.text.append(f"static void destroy_{name}(void *made) {{\n"
                                 f"  {destroyer}(made);\n}}")
        rows = [self.function_row(name) for name in self.names]
        if self.missing:
            sys.exit("misuse.py: " + "\nmisuse.py: ".join(self.missing))
        return "\n".join([*self.makers.values(), *self.text, "const function functions[] = {",
                          *rows, "};", "const size_t function_count = "
                          "sizeof functions / sizeof *functions;", ""])


def main():
    aliases, output, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    values = [file for file in files if file.endswith(".c")]
    headers = [file for file in files if file.endswith(".h")]
    aliases = dict(ALIAS.findall(Path(aliases).read_text()))
    table = Table(Api(sorted(headers), aliases), "".join(Path(file).read_text() for file in values))
    includes = "".join(f'#include "{file}"\n' for file in values)
    Path(output).write_text(includes + table.write())


if __name__ == "__main__":
    main()
