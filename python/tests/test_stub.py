"""The stub of the extension module says what the module has: names, members, parameters and defaults."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import slantpath
from slantpath import _native

STUB = ast.parse((Path(slantpath.__file__).parent / "_native.pyi").read_text())
HIDDEN = {"__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__", "__all__"}


def stubbed(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    names: dict[str, ast.stmt] = {}
    for statement in body:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names[name] = statement
            case ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = statement
    return names


def parameters(function: ast.FunctionDef) -> list[tuple[str, Any]]:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = [ast.literal_eval(default) for default in arguments.defaults]
    padded = [inspect.Parameter.empty] * (len(names) - len(defaults)) + defaults
    by_keyword = [
        (argument.arg, inspect.Parameter.empty if default is None else ast.literal_eval(default))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [*zip(names, padded, strict=True), *by_keyword]


def actual_parameters(function: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    return [(name, parameter.default) for name, parameter in inspect.signature(function).parameters.items()]


def without_self(parameters: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [entry for entry in parameters if entry[0] not in {"self", "cls"}]


def test_the_stub_names_what_the_module_has() -> None:
    assert set(stubbed(STUB.body)) == set(vars(_native)) - HIDDEN


def test_functions_have_the_parameters_of_the_stub() -> None:
    for name, statement in stubbed(STUB.body).items():
        if isinstance(statement, ast.FunctionDef):
            assert actual_parameters(getattr(_native, name)) == parameters(statement), name


def test_classes_have_the_members_of_the_stub() -> None:
    for name, statement in stubbed(STUB.body).items():
        if not isinstance(statement, ast.ClassDef):
            continue
        actual = getattr(_native, name)
        members = stubbed(statement.body)
        public = {member for member in vars(actual) if not member.startswith("_")}
        assert {member for member in members if not member.startswith("_")} == public, name
        for member, declared in members.items():
            assert hasattr(actual, member), f"{name}.{member}"
            if not isinstance(declared, ast.FunctionDef) or member.startswith("__"):
                continue
            if isinstance(vars(actual)[member], type(vars(type)["__dict__"])):
                assert ast.unparse(declared.decorator_list[0]) == "property", f"{name}.{member}"
                continue
            found = without_self(actual_parameters(getattr(actual, member)))
            assert found == without_self(parameters(declared)), f"{name}.{member}"


def test_everything_public_is_documented() -> None:
    for name in slantpath.__all__:
        documented = getattr(slantpath, name)
        assert isinstance(documented, str) or documented.__doc__, name
