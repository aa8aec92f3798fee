"""Mapping tables: what each MindSpore name becomes, read from YAML, validated row by row.

A row answers for one public name; other names of the same object reach it through the aliases. The module
is pure but for `load`, which reads the files once for a process.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ms2torch.errors import UserError

TABLES = Path(__file__).parent / "mapping_tables"
# The roots of the two packages that a port must not need.
PACKAGES = ("mindspore", "hyper_parallel")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one MindSpore name becomes; the README and docs/tables describe each field."""

    to: str | None = None
    signature: str | None = None
    rename: dict[str, str] = {}
    drop: dict[str, list[Any]] = {}
    adapt: list[str] = []
    call: str | None = None
    value: str | None = None
    type: str | None = None
    base: str | None = None
    # For a method: the calls, by their arguments, that mean the same on torch and are left alone.
    same: str | None = None
    returns: str | None = None
    attr: bool = False
    unique: bool = False
    module: bool = False
    unsupported: str | None = None
    evidence: str = ""
    note: str | None = None
    # Set by the loader: the canonical name, and the file and line that hold the row.
    name: str = ""
    where: str = ""

    @property
    def as_value(self) -> str | None:
        """Target where the name is used as a value: an alias, a callback, an element of a list."""
        return self.value or self.to

    @property
    def as_type(self) -> str | None:
        """Target in an annotation, an isinstance test, a match pattern."""
        return self.type or self.to or self.value

    @property
    def as_base(self) -> str | None:
        """Target where the name is the base of a class."""
        return self.base or self.to or self.value

    @property
    def parameters(self) -> tuple[Parameter, ...] | None:
        """MindSpore's parameters, or None where the row gives no signature."""
        return None if self.signature is None else parse_signature(self.signature)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a signature; `default` is source text, None where the argument is required."""

    name: str
    kind: str  # "positional", "either", "keyword", "*", "**"
    default: str | None = None


@functools.cache
def parse_signature(text: str) -> tuple[Parameter, ...]:
    """Parameters of `(a, b=1, *, c)`; raises SyntaxError for text that is no signature."""
    made = ast.parse(f"def f{text.strip()}: pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    args = made.args
    found: list[Parameter] = []
    plain = [(a, "positional") for a in args.posonlyargs] + [(a, "either") for a in args.args]
    required = len(plain) - len(args.defaults)
    for i, (arg, kind) in enumerate(plain):
        default = ast.unparse(args.defaults[i - required]) if i >= required else None
        found.append(Parameter(arg.arg, kind, default))
    if args.vararg:
        found.append(Parameter(args.vararg.arg, "*"))
    for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Parameter(arg.arg, "keyword", ast.unparse(value) if value is not None else None))
    if args.kwarg:
        found.append(Parameter(args.kwarg.arg, "**"))
    return tuple(found)


def template_fields(template: str) -> list[str]:
    """Names of the placeholders of a call template, in order."""
    return [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]


@dataclass(frozen=True)
class Tables:
    """All rows by canonical name, and the aliases that lead to it."""

    rows: Mapping[str, Row]
    names: Mapping[str, str]
    modules: Mapping[str, str]
    digest: str
    # method or attribute name -> its row, for names that exist on no foreign type
    unique: Mapping[str, Row] = field(default_factory=dict)
    # class -> method name -> row
    methods: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)

    def canonical(self, name: str) -> str:
        """The one name of the object that `name` stands for; `name` itself where nothing is known of it."""
        if name in self.rows:
            return name
        if name in self.names:
            return self.names[name]
        for head, rest in heads(name):
            if head in self.modules:
                moved = self.modules[head] + rest
                return self.names.get(moved, moved)
            if rest and head in self.names:
                return self.names[head] + rest
        return name

    def find(self, name: str) -> tuple[Row, str] | None:
        """The row for the longest head of a dotted name that has one, with the rest (`.SUM` or "")."""
        full = self.canonical(name)
        if full in self.rows:
            return self.rows[full], ""
        for head, rest in heads(full):
            row = self.rows.get(head)
            if row is not None:
                # A namespace says nothing of the names in it.
                return None if row.module else (row, rest)
        return None

    def method(self, owner: str, name: str) -> Row | None:
        """The row of a method or attribute of a class such as `mindspore.Tensor`."""
        return self.methods.get(owner, {}).get(name)


def heads(name: str) -> Iterator[tuple[str, str]]:
    """(`a.b`, `.c`), (`a`, `.b.c`) of `a.b.c`: shorter and shorter heads, after the whole name."""
    end = len(name)
    while end > 0:
        yield name[:end], name[end:]
        end = name.rfind(".", 0, end)


def owner_and_method(name: str) -> tuple[str, str]:
    """`mindspore.Tensor` and `astype` of `mindspore.Tensor.astype`."""
    owner, _, method = name.rpartition(".")
    return owner, method


def is_method(name: str) -> bool:
    """Whether the name is that of a class' member: its owner's last part starts with a capital."""
    owner, _ = owner_and_method(name)
    last = owner.rpartition(".")[2].lstrip("_")
    return bool(last) and last[0].isupper()


def _row(key: str, value: Any, file: str, line: int, evidence: str) -> Row:
    where = f"{file}:{line}"
    if isinstance(value, str):
        value = {"to": value}
    if not isinstance(value, dict):
        raise UserError(f"{where}: the row {key} is neither a target nor a mapping of fields")
    if "name" in value or "where" in value:
        raise UserError(f"{where}: the row {key} may not set name or where")
    try:
        row = msgspec.convert(value, Row)
    except msgspec.ValidationError as error:
        raise UserError(f"{where}: the row {key} is wrong: {error}") from None
    row = msgspec.structs.replace(row, name=key, where=where, evidence=row.evidence or evidence)
    problem = _problem(row)
    if problem:
        raise UserError(f"{where}: the row {key} is wrong: {problem}")
    return row


def _problem(row: Row) -> str | None:
    """What is wrong with a row that has the right types, or None."""
    if not row.evidence:
        return "it has no evidence, and its file gives none"
    if not any((row.to, row.call, row.value, row.type, row.base, row.unsupported)) and not row.returns:
        return "it says neither what the name becomes nor why it cannot"
    if (row.rename or row.drop or row.adapt or row.call) and row.signature is None and not row.attr:
        return "rename, drop, adapt and call need a signature"
    names: set[str] = {"self"}
    if row.signature is not None:
        try:
            names |= {p.name for p in parse_signature(row.signature)}
        except SyntaxError:
            return f"{row.signature!r} is no signature"
    if row.same is not None:
        try:
            parse_signature(row.same)
        except SyntaxError:
            return f"{row.same!r} is no signature"
    unknown = (set(row.rename) | set(row.drop) | set(row.adapt)) - names
    if unknown:
        return f"its signature has no {', '.join(sorted(unknown))}"
    if row.adapt and not row.as_value:
        return "adapt needs a value form to fall back on"
    if row.call:
        fields = template_fields(row.call)
        if len(fields) != len(set(fields)):
            return "its call repeats a placeholder, which would evaluate the argument twice"
        if set(fields) - names:
            return f"its call names {', '.join(sorted(set(fields) - names))}, which the signature lacks"
        try:
            ast.parse(row.call.format_map(dict.fromkeys(fields, "x")), mode="eval")
        except (SyntaxError, ValueError):
            return f"{row.call!r} is no expression"
    return None


def read_rows(text: str, file: str) -> list[Row]:
    """Rows of one table file; raises UserError with file and line for a bad one."""
    loader = yaml.CSafeLoader(text)
    try:
        node = loader.get_single_node()
        top = {} if node is None else {key.value: value for key, value in node.value}
        unknown = set(top) - {"namespace", "evidence", "rows"}
        if unknown or "rows" not in top:
            raise UserError(
                f"{file}:1: a table holds namespace, evidence and rows; found {', '.join(sorted(top))}"
            )
        space = loader.construct_object(top["namespace"]) if "namespace" in top else ""
        evidence = loader.construct_object(top["evidence"]) if "evidence" in top else ""
        made: list[Row] = []
        seen: dict[str, int] = {}
        for key_node, value_node in top["rows"].value:
            line = key_node.start_mark.line + 1
            key = str(key_node.value)
            if key in seen:
                raise UserError(f"{file}:{line}: the row {key} stands already on line {seen[key]}")
            seen[key] = line
            name = ".".join(part for part in (space, key) if part)
            made.append(_row(name, loader.construct_object(value_node, deep=True), file, line, evidence))
        return made
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{file}:{line}: not YAML: {error.problem}") from None
    finally:
        loader.dispose()


def build(rows: list[Row], names: Mapping[str, str], modules: Mapping[str, str], digest: str = "") -> Tables:
    """Tables from rows and aliases; raises UserError where two rows speak of the same object."""
    plain = Tables({}, names, modules, digest)
    by_name: dict[str, Row] = {}
    for row in rows:
        name = plain.canonical(row.name)
        if is_method(row.name):
            owner, method = owner_and_method(row.name)
            name = f"{plain.canonical(owner)}.{method}"
        if name in by_name:
            raise UserError(
                f"{row.where}: {row.name} is the same object as {by_name[name].name} at {by_name[name].where}"
            )
        by_name[name] = msgspec.structs.replace(row, name=name)
    methods: dict[str, dict[str, Row]] = {}
    unique: dict[str, Row] = {}
    for name, row in by_name.items():
        if not is_method(name):
            continue
        owner, method = owner_and_method(name)
        methods.setdefault(owner, {})[method] = row
        if row.unique:
            other = unique.setdefault(method, row)
            if (other.to, other.call, other.attr) != (row.to, row.call, row.attr):
                raise UserError(f"{row.where}: the name {method} is unique, but {other.where} says otherwise")
    return Tables(by_name, names, modules, digest, unique, methods)


def read_aliases(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """(alias -> canonical name, alias module -> canonical module) of an aliases file."""
    data = yaml.load(text, yaml.CSafeLoader) or {}
    names = {alias: name for name, aliases in (data.get("names") or {}).items() for alias in aliases}
    return names, dict(data.get("modules") or {})


@functools.cache
def load(folder: Path = TABLES, extra: tuple[Path, ...] = ()) -> Tables:
    """All tables of a folder and of further files; raises UserError for a bad one."""
    digest = hashlib.sha256()
    rows: list[Row] = []
    names: dict[str, str] = {}
    modules: dict[str, str] = {}
    for path in [*sorted(folder.glob("*.yaml")), *extra]:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror}); name a table file") from None
        digest.update(f"{path.name}\0{text}\0".encode())
        if path.name.startswith("aliases"):
            more_names, more_modules = read_aliases(text)
            names |= more_names
            modules |= more_modules
        else:
            rows += read_rows(text, str(path) if path in extra else path.name)
    return build(rows, names, modules, digest.hexdigest())
