# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts switches into Python modules, when they are imported.

The parts of the conditions of `if`, `if ... else`, comprehensions and functions that
return bool have two mutants each, as in C++: never and always. What stands before
`or` where a value is wanted has one, in which it is None. A handler of exceptions has
one, in which it raises them again. Not looked at: loops, `assert`, TYPE_CHECKING.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

import switches
from switches import ALWAYS, NEVER, Mutant


class Switches(ast.NodeTransformer):
    """Changes a module's tree; its mutants are in `mutants`."""

    def __init__(self, name, first):
        self.name, self.next, self.mutants = name, first, []
        self.returns_bool = [False]

    def switch(self, function, node, changes, arguments=()):
        number, self.next = self.next, self.next + 2
        for offset, change in enumerate(changes):
            self.mutants.append(Mutant(number + offset, self.name, node.lineno,
                                       ast.unparse(node).split("\n")[0], change))
        call = ast.Call(ast.Name("__aicf_%s__" % function, ast.Load()),
                        [ast.Constant(number), *arguments], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def condition(self, node):
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(v) for v in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        if isinstance(node, ast.Constant) or "TYPE_CHECKING" in ast.dump(node):
            return node
        original = ast.fix_missing_locations(node)
        made = self.switch("condition", original, (NEVER, ALWAYS))
        made.args.append(self.visit(node))
        return made

    def visit_If(self, node):
        node.test = self.condition(node.test)
        node.body = [self.visit(s) for s in node.body]
        node.orelse = [self.visit(s) for s in node.orelse]
        return node

    def visit_IfExp(self, node):
        node.test = self.condition(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_comprehension(self, node):
        node.iter = self.visit(node.iter)
        node.ifs = [self.condition(i) for i in node.ifs]
        return node

    def visit_BoolOp(self, node):
        if isinstance(node.op, ast.And):
            return self.generic_visit(node)
        first = []
        for value in node.values[:-1]:
            made = self.switch("value", value, ("None",))
            made.args.append(self.visit(value))
            first.append(made)
        node.values = first + [self.visit(node.values[-1])]
        return node

    def visit_FunctionDef(self, node):
        self.returns_bool.append(isinstance(node.returns, ast.Name)
                                 and node.returns.id == "bool")
        node.body = [self.visit(s) for s in node.body]
        self.returns_bool.pop()
        return node

    def visit_Return(self, node):
        if node.value is not None:
            node.value = self.condition(node.value) if self.returns_bool[-1] \
                else self.visit(node.value)
        return node

    def visit_ExceptHandler(self, node):
        test = self.switch("is_off", node, ("raises again",))
        node.body = [self.visit(s) for s in node.body]
        again = ast.If(test, [ast.Raise()], [])
        node.body.insert(0, ast.fix_missing_locations(ast.copy_location(again, node)))
        return node


def instrument(name, text, first):
    """The changed tree of a module, its mutants, and the next free number."""
    worker = Switches(name, first)
    tree = worker.visit(ast.parse(text))
    return tree, worker.mutants, worker.next


#: The mutant that is on, and the record of what is reached.
on = int(os.environ.get("AICF_MUTANT", -1))
record = None


def condition(number, value):
    value = bool(value)
    if record is not None:
        record[number if value else number + 1] = 1
    return value if on not in (number, number + 1) else on == number + 1


def value_of(number, value):
    if record is not None and value:
        record[number] = 1
    return None if on == number else value


def is_off(number):
    if record is not None:
        record[number] = 1
    return on == number


class Finder(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports the modules in `numbers` (by file below the package's folder) with
    switches; where the folder is, sys.path says as always."""

    def __init__(self, package, numbers):
        self.package, self.numbers = package, numbers

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] != self.package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.origin and spec.origin.endswith(".py"):
            file = name.replace(".", "/") + (
                "/__init__" if spec.submodule_search_locations else "") + ".py"
            if file in self.numbers:
                spec.loader = Loader(name, spec.origin, file, self.numbers[file])
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name, path, file, first):
        super().__init__(name, path)
        self.file, self.first = file, first

    def get_code(self, fullname):
        text = self.get_data(self.path).decode()
        return compile(instrument(self.file, text, self.first)[0], self.path, "exec",
                       dont_inherit=True)

    def exec_module(self, module):
        module.__dict__.update(__aicf_condition__=condition, __aicf_value__=value_of,
                               __aicf_is_off__=is_off)
        super().exec_module(module)


def install(package, numbers):
    """From now on modules of `package` are imported with switches; `numbers` has each
    file's first number."""
    global record
    if "AICF_MUTANT_RECORD" in os.environ:
        record = switches.open_record(os.environ["AICF_MUTANT_RECORD"])
    sys.meta_path.insert(0, Finder(package, numbers))
