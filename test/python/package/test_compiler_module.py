# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf._compiler itself: what the tracer gives it, and what it refuses. Each error names
the line that was given, and the function can go on after it."""

import re

import pytest

import aicf
from aicf._compiler import AttributeText, DTypeName, Elements, Module

HERE = ("f.py", 7)
OUTPUT = {"aicf.name": "y"}
INPUT = {"aicf.role": "input", "aicf.name": "x"}


@pytest.fixture
def module():
    """With a function whose value 0 is a tensor<3xf32>."""
    module = Module()
    module.begin_function("f", *HERE)
    assert module.add_argument([3], "f32", INPUT, *HERE) == (0, (3,), "f32")
    return module


def refuses(call, message, line=HERE):
    """Whether CompileError has the message, at the line, and no other one."""
    with pytest.raises(aicf.CompileError) as caught:
        call()
    (said,) = caught.value.diagnostics
    assert (said.filename, said.lineno) == line
    assert message in said.message


def finish(module, value=0):
    module.end_function([(value, OUTPUT)], {})
    assert module.text().count("func.func") == 1


def test_types_and_shapes_of_arguments(module):
    refuses(lambda: module.add_argument([3], "f31", {}, *HERE),
            '"f31" is not an element type, expected f16, bf16, f32')
    refuses(lambda: module.add_argument([3, 0], "f32", {}, *HERE),
            "a dimension is 0, expected 1 or more")
    with pytest.raises(aicf.CompileError, match="in attribute '<'"):
        module.add_argument([1], "f32", {"a": AttributeText("<")}, *HERE)
    finish(module)


@pytest.mark.parametrize("attributes, message", [
    ({"dtype": DTypeName("f8")}, '"f8" is not an element type'),
    ({"dtype": AttributeText("[")}, "in attribute '['"),
    ({"dtype": AttributeText("f8")}, "in attribute 'f8'"),
    ({"dtype": Elements([3], "f8", bytes(4))}, '"f8" is not an element type'),
    ({"dtype": Elements([3], "f32", bytes(8))},
     "the elements have 8 bytes, expected 12 for 'tensor<3xf32>'"),
    ({}, "requires attribute 'dtype'")])
def test_attributes(module, attributes, message):
    with pytest.raises(aicf.CompileError) as caught:
        module.emit("aicf.cast", [0], attributes, *HERE)
    said = caught.value.diagnostics
    assert any(message in d.message and (d.filename, d.lineno) == HERE for d in said), said
    finish(module)


def test_elements_are_one_or_all(module):
    for data, value in ((bytes(4), "dense<0.000000e+00>"),
                        (bytes.fromhex("0000803f" "00000040" "00004040"),
                         "dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>")):
        module.emit("aicf.constant", [], {"value": Elements([3], "f32", data)}, *HERE)
        assert Elements([3], "f32", data).bytes == len(data)
    finish(module, 2)
    assert "dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>" in module.text()
    assert "dense<0.000000e+00>" in module.text()


def test_operands(module):
    for operands in ([1], [[0, 1]], [2**40]):
        refuses(lambda operands=operands: module.emit("aicf.relu", operands, {}, *HERE),
                "there is no value")
    refuses(lambda: module.emit("aicf.nothing", [0], {}, *HERE),
            'there is no op "aicf.nothing"')
    with pytest.raises(aicf.CompileError, match="operand"):
        module.emit("aicf.relu", [0, 0], {}, *HERE)
    with pytest.raises(aicf.CompileError):  # known to MLIR when it is verified alone
        module.emit("aicf.pad", [0], {"axis": 5, "low": 1, "high": 1}, *HERE)
    assert module.emit("aicf.relu", [0], {}, *HERE) == [(1, (3,), "f32")]
    finish(module, 1)
    assert module.text().count("= aicf.") == 1


def test_optional_operands_have_segments(module):
    module.add_argument([4, 3], "f32", {"aicf.role": "param", "aicf.name": "W"}, *HERE)
    module.add_argument([2, 3], "f32", {"aicf.role": "input", "aicf.name": "z"}, *HERE)
    module.emit("aicf.linear", [2, 1, None], {}, *HERE)
    finish(module, 3)
    assert "aicf.relu" not in module.text()
    assert "operandSegmentSizes" not in module.text()


def test_what_is_right_is_not_blamed(module):
    """Attributes are read before operands."""
    for dtype in (DTypeName("f16"), AttributeText("f16")):
        refuses(lambda: module.emit("aicf.cast", [9], {"dtype": dtype}, *HERE),
                "there is no value 9")
    finish(module)


def test_absent_operands_of_several_kinds(module):
    """Such an op says how many each kind has."""
    module.add_argument([], "f32", dict(INPUT, **{"aicf.name": "lr"}), *HERE)
    results = module.emit("aicf.sgd_step", [0, 0, 1, None, 1, None], {}, *HERE)
    assert [shape for _, shape, _ in results] == [(3,), (3,)]
    finish(module, 2)
    assert "aicf.sgd_step %arg0, %arg0, %arg1 inv_scale" in module.text()


def test_nothing_is_added_outside_of_a_function():
    module = Module()
    for call in (lambda: module.add_argument([3], "f32", {}, *HERE),
                 lambda: module.emit("aicf.relu", [0], {}, *HERE),
                 lambda: module.begin_map([0], *HERE)):
        refuses(call, "no function is open")
    refuses(lambda: module.end_function([], {}), "no function is open", ("", 0))
    refuses(lambda: module.end_map(0), "no map is open", ("", 0))
    module.abandon_function()
    module.abandon_map()
    assert not module.erase_function("f")


def test_functions_end_one_by_one(module):
    refuses(lambda: module.begin_function("g", *HERE), 'function "f" is not finished')
    refuses(lambda: module.end_function([(9, {})], {}), "there is no value 9")
    refuses(lambda: module.end_function([(0, {"a": DTypeName("f8")})], {}), '"f8"')
    refuses(lambda: module.end_function([(0, OUTPUT)], {"a": DTypeName("f8")}), '"f8"')
    module.end_function([(0, OUTPUT)], {})
    refuses(lambda: module.begin_function("f", *HERE),
            'there is an entry "f" already')
    module.begin_function("g", *HERE)
    module.abandon_function()  # and its name is free
    module.begin_function("g", *HERE)
    module.add_argument([3], "f32", INPUT, *HERE)
    module.end_function([(0, OUTPUT)], {})
    assert module.erase_function("g") and not module.erase_function("g")
    assert "@g" not in module.text() and "@f" in module.text()


def test_a_function_is_verified(module):
    with pytest.raises(aicf.CompileError):
        module.end_function([(0, {"aicf.optimizer": 3})], {"function_type": 3})


def test_maps(module):
    (element,) = module.begin_map([0], *HERE)
    assert element == (1, (), "f32")
    refuses(lambda: module.begin_map([0], *HERE), "a map inside a map is not possible")
    refuses(lambda: module.emit("aicf.relu", [0], {}, *HERE),
            "a map computes from elements of its operands")
    refuses(lambda: module.end_map(0), "a map computes from elements of its operands")
    (half,) = module.emit("aicf.scale", [1], {"factor": 0.5}, *HERE)
    assert module.end_map(half[0]) == (3, (3,), "f32")
    refuses(lambda: module.end_map(2), "no map is open", ("", 0))
    refuses(lambda: module.emit("aicf.relu", [half[0]], {}, *HERE),
            "an element of a map is known in the map's function only")
    module.begin_map([0], *HERE)
    refuses(lambda: module.end_function([(0, OUTPUT)], {}), "a map is open")
    module.abandon_map()
    module.abandon_map()
    refuses(lambda: module.begin_map([9], *HERE), "there is no value 9")
    finish(module, 3)
    assert module.text().count("aicf.map") == 1


def test_a_map_is_verified(module):
    module.add_argument([4], "f32", dict(INPUT, **{"aicf.name": "z"}), *HERE)
    module.begin_map([0, 1], *HERE)
    refuses(lambda: module.end_map(2), "operand 1 is 'tensor<4xf32>', expected the shape")
    finish(module)


def test_loops(module):
    run, carried = module.begin_repeat(3, [0], *HERE)
    assert (run[1:], carried[1:]) == (((), "i64"), ((3,), "f32"))
    refuses(lambda: module.begin_repeat(3, [0], *HERE), "inside of a map or of another loop")
    module.begin_map([carried[0]], *HERE)
    refuses(lambda: module.end_repeat([0]), "a map is open", ("", 0))
    module.abandon_map()
    (next_value,) = module.emit("aicf.relu", [carried[0]], {}, *HERE)
    refuses(lambda: module.end_function([(0, OUTPUT)], {}), "a loop is open")
    (result,) = module.end_repeat([next_value[0]])
    assert result[1:] == ((3,), "f32")
    refuses(lambda: module.end_repeat([0]), "no loop is open", ("", 0))
    refuses(lambda: module.begin_repeat(3, [99], *HERE), "there is no value 99")
    refuses(lambda: module.end_function([(carried[0], OUTPUT)], {}),
            "is known in a map or a loop only")
    finish(module, result[0])
    assert module.text().count("aicf.repeat") == 1


def test_a_loop_is_abandoned_with_its_function(module):
    module.begin_repeat(3, [0], *HERE)
    module.abandon_repeat()
    module.abandon_repeat()
    with pytest.raises(aicf.CompileError, match="repeat expects a non-empty block"):
        finish(module)
    module.abandon_function()
    assert "aicf.repeat" not in module.text()


def test_locations(module):
    module.emit("aicf.relu", [0], {}, "g.py", 8)
    module.emit("aicf.relu", [1], {}, "g.py", 9, "layers.0")
    module.emit("aicf.relu", [2], {}, "", 0)
    finish(module, 3)
    text = module.text(with_locations=True)
    places = dict(re.findall(r"(#loc\w*) = loc\((.*)\)", text))
    ops = [places[name] for name in re.findall(r"aicf.relu .* loc\((#loc\w*)\)", text)]
    inner = re.fullmatch(r'"layers.0"\((#loc\w*)\)', ops[1])[1]
    assert (ops[0], places[inner], ops[2]) == ('"g.py":8:0', '"g.py":9:0', "unknown")
    assert "loc(" not in module.text()


def test_stages(module):
    module.emit("aicf.relu", [0], {}, *HERE)
    finish(module, 1)
    for stage in ("traced", "aicf", "aicf_rt", "plan"):
        lowered, said = module.lower("target=cpu", stage)
        text = lowered.text()
        assert not said
        assert ("aicf.relu" in text) == (stage in ("traced", "aicf"))
        assert ('kernel = "relu_f32_v0"' in text) == (stage in ("aicf_rt", "plan"))
        assert ("aicf_rt.plan" in text) == (stage == "plan")
    assert module.text() == module.lower("", "traced")[0].text()  # untouched
    for options, target in (("", "cpu"), ("target=cuda math=tf32", 'cuda, math = "tf32"'),
                            ("target=cuda costs=a100", 'cuda, costs = "a100"')):
        assert "aicf.target = #aicf.target<%s>" % target in \
            module.lower(options, "aicf")[0].text()
    with pytest.raises(aicf.CompileError, match='no profile of cpu is named "a100", '
                                                'known are cpu'):
        module.lower("costs=a100", "plan")
    with pytest.raises(ValueError, match='"object" is not a stage: expected traced, aicf'):
        module.lower("", "object")
    with pytest.raises(aicf.CompileError, match='options "no-such=1": '):
        module.lower("no-such=1", "plan")
    with pytest.raises(aicf.CompileError):
        module.lower("", "traced")[0].plan()
    assert module.lower("target=cpu", "plan")[0].plan()[4:8] == b"AICF"


def test_remarks_are_asked_for(module):
    for _ in range(2):
        (value,) = module.emit("aicf.relu", [0], {}, *HERE)
        module.emit("aicf.scale", [value[0]], {"factor": 2.0}, *HERE)
    finish(module, 4)
    _, said = module.lower("target=cpu", "plan", remarks=True)
    assert {severity for severity, *_ in said} == {"remark"}
    assert not module.lower("target=cpu", "plan")[1]


def test_text_that_is_parsed():
    assert Module.parse("module {}").text() == "module {\n}\n\n"
    with pytest.raises(aicf.CompileError) as caught:
        Module.parse("module {", "f.mlir")
    assert caught.value.diagnostics[0].filename == "f.mlir"
