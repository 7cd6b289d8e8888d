# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf-plan view: the tool, and its page in headless Chromium (Debian's chromium and
chromium-driver, PyPI's selenium). Screenshots go to AICF_SCREENSHOTS, if it is set."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import EXAMPLES, SOURCE, run_tool

STEP = ["--batch", "6", "--widths", "7,9,3"]
CALLS = 18  # of the digits' plan


def write_page(bench, *flags, name="page.html", code=0):
    path = bench.folder / name
    done = run_tool("aicf-plan", "view", *flags, "-o", path)
    assert done.returncode == code, done.stderr
    return path if code == 0 else done.stderr


@pytest.mark.parametrize("flags, message", [
    (["/nowhere.plan"], "/nowhere.plan"), (["{cut}"], "BadMagic"),
    (["{plan}", "--profile", "/nowhere.json"], "/nowhere.json"),
    (["{plan}", "--profile", "{plan}"], "not a profile: expected an object"),
    (["{plan}", "--with-profile", "{plan}"], "--with"),
    (["{plan}", "--gigaflops", "-1"], "--gigaflops"),
    (["{plan}", "--gigaflops", "nan"], "is not a positive number"),
    (["{plan}", "--profile", "{empty}"], "is empty"),
    (["{plan}", "--profile", "{other}"], "is a plan for cpu"),
    ([], "file is required")])
def test_what_it_refuses(bench, flags, message):
    bench.generate(*STEP)
    plan = bench.compile()
    cut = bench.folder / "cut.plan"
    cut.write_bytes(plan.read_bytes()[:-20])
    (bench.folder / "empty.json").write_text("")
    (bench.folder / "other.json").write_text('{"device": "NVIDIA H200", "kernels": {}}')
    names = {"plan": str(plan), "cut": str(cut), "empty": bench.folder / "empty.json",
             "other": bench.folder / "other.json"}
    assert message in write_page(bench, *[f.format(**names) for f in flags], code=2)
    assert not (bench.folder / "page.html").exists()


def test_it_keeps_its_input(bench):
    bench.generate(*STEP)
    plan = bench.compile()
    before = plan.read_bytes()
    assert "would be overwritten" in write_page(bench, plan, name="step.plan", code=2)
    assert plan.read_bytes() == before


def test_a_page_on_standard_output(bench):
    bench.generate(*STEP)
    done = run_tool("aicf-plan", "view", bench.compile(), "-o", "-")
    assert done.returncode == 0 and done.stdout.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("flags, rates", [
    ((), "{}"), (("--gigabytes-per-second", 10), '{"GB/s":10.0}'),
    (("--gigaflops", 20), '{"GFLOP/s":20.0}')])
def test_a_page_knows_the_rates_that_were_said(bench, flags, rates):
    bench.generate(*STEP)
    assert '"rates":' + rates in write_page(bench, bench.compile(), *flags).read_text()


def test_a_page_that_cannot_be_written(bench):
    bench.generate(*STEP)
    done = run_tool("aicf-plan", "view", bench.compile(), "-o", "/nowhere/page.html")
    assert done.returncode == 2 and "/nowhere" in done.stderr


# In a browser

@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("no chromium with its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--window-size=1400,1300"):
        options.add_argument(flag)
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


class Page:
    """A page in the browser; errors of its scripts fail the test."""

    def __init__(self, browser, path):
        self.browser = browser
        browser.get("file://%s" % path)

    def run(self, script, *arguments):
        return self.browser.execute_script("const panel = window.panels[0];" + script,
                                           *arguments)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".map((e) => e.textContent);", selector)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def check(self):
        assert self.run("return window.pageErrors;") == []
        assert [e for e in self.browser.get_log("browser") if e["level"] == "SEVERE"] == []

    def screenshot(self, name):
        folder = os.environ.get("AICF_SCREENSHOTS")
        if folder:
            os.makedirs(folder, exist_ok=True)
            self.browser.save_screenshot(str(pathlib.Path(folder) / name))


@pytest.fixture
def digits(bench, browser):
    page = Page(browser, write_page(bench, EXAMPLES / "digits.plan"))
    yield page
    page.check()


def test_the_table_has_every_call(digits):
    assert digits.run("return panel.entry.calls.length;") == CALLS
    assert digits.find("span[name=count]").text == "%d of %d" % (CALLS, CALLS)
    assert "softmax_cross_entropy" in digits.texts(".row.body span")
    digits.screenshot("view.png")


def test_search_and_filter(digits):
    search = digits.find("input[type=search]")
    search.send_keys("adam fc1.bias")
    assert digits.find("span[name=count]").text == "1 of %d" % CALLS
    search.clear()
    search.send_keys("model.mlir:13")
    assert digits.run("return panel.shown.map((i) => panel.entry.calls[i].op);") == [
        "gemm", "bias_add, relu", "gemm", "reduce_sum", "adam_step", "adam_step"]
    digits.find("select[name=phase] option[value=backward]").click()
    assert digits.find("span[name=count]").text == "2 of %d" % CALLS


def test_sorting(digits):
    def column(n):
        return digits.run("return [...document.querySelectorAll('.row.body')].sort((a, b) =>"
                          "parseFloat(a.style.top) - parseFloat(b.style.top))"
                          ".map((r) => r.children[%d].textContent);" % n)
    digits.browser.find_element("xpath", "//span[text()='FLOPs']").click()
    assert column(4)[:2] == ["gemm", "gemm"]
    digits.browser.find_element("xpath", "//span[text()='operation']").click()
    assert column(4) == sorted(column(4))


def test_a_click_on_a_call_and_on_a_tensor(digits):
    digits.find(".row.body[data-call='2']").click()
    details = digits.find(".details").text
    assert "gemm_f32_blas_v0" in details and "forward" in details
    digits.find(".details dd button").click()  # what it reads
    assert "written by" in digits.find(".details").text
    digits.run("panel.pickCall(15, true);")
    assert "adam_step" in digits.find(".details svg").get_attribute("textContent")


def test_a_click_and_a_hover_in_the_charts(digits):
    from selenium.webdriver import ActionChains
    canvas = digits.find("canvas")
    half = canvas.size["width"] / 2, canvas.size["height"] / 2
    ActionChains(digits.browser).move_to_element_with_offset(
        canvas, 10 - half[0], 10 - half[1]).perform()
    tip = digits.find("#tip")
    assert tip.is_displayed() and "32x64xf32" in tip.text and "written by" in tip.text
    ActionChains(digits.browser).move_to_element_with_offset(
        canvas, 10 - half[0], 10 - half[1]).click().perform()
    assert "lives" in digits.find(".details").text
    digits.find("select[name=segment] option[value=persistent]").click()
    assert "fc0.weight.exp_avg" in digits.run(
        "return panel.arena.tensors().map(([t]) => t.name);")


def test_memory_that_is_held_for_another_stream(bench, browser):
    bench.generate(*STEP)
    page = Page(browser, write_page(bench, bench.compile("step", "--streams=2")))
    held = page.run("return panel.entry.tensors.map((t, i) => [t, i])"
                    ".filter(([t]) => t.held > t.last).map(([t, i]) => i);")
    assert held
    page.run("panel.pickTensor(arguments[0]);", held[0])
    assert "its memory is held to call" in page.find(".details").text
    page.check()


def test_zoom(digits):
    assert digits.run("panel.range.zoom(5, 0.5); return panel.range.last - panel.range.first;"
                      ) < CALLS
    assert digits.run("panel.range.set(0, %d); return panel.range.last;" % CALLS) == CALLS


def test_two_plans_with_times(bench, browser):
    source = (SOURCE / "examples/digits/model.mlir").read_text()
    plans = []
    for name, text in (("old", source), ("new", source.replace("aicf.relu", "aicf.gelu"))):
        (bench.folder / (name + ".mlir")).write_text(text)
        plans.append(bench.compile(name))
    profile = bench.folder / "old.json"
    done = run_tool("aicf-run", plans[0], "--input", "x=32x64xf32=0.5", "--input",
                    "labels=32xi32=1", "--set", "lr=0.1", "--steps", 5, "--profile", profile)
    assert done.returncode == 0, done.stderr
    page = Page(browser, write_page(bench, plans[0], "--with", plans[1], "--profile", profile,
                                    "--gigabytes-per-second", 10))
    assert page.texts(".panel strong") == ["old.plan", "new.plan"]
    assert "- call 1: %0 = bias_add(t17, fc0.bias) {axis=-1}; t17 = relu(%0)" in page.find("#difference pre").text
    assert page.run("return panel.entry.calls.every((c) => c.us > 0 && panel.bound(c) > 0);")
    assert page.run("return window.panels[1].entry.calls.every((c) => c.us === null);")
    widths = "return [0, 1, 2].map((i) => panel.range.x(i + 1, 900) - panel.range.x(i, 900));"
    assert len(set(page.run(widths))) > 1, "as wide as their time"
    page.run("panel.range.set(0, panel.range.count);")
    assert page.run("return panel.range.call(panel.range.x(4.5, 900), 900);") \
        == pytest.approx(4.5)
    page.find("select[name=width] option[value=call]").click()
    assert page.run(widths) == pytest.approx([900 / CALLS] * 3)
    shares = page.run("return document.querySelectorAll('.row.body span[style]').length;")
    assert shares > CALLS, "bars behind bytes and times"
    page.screenshot("view-two.png")
    page.check()


MODEL = """
import sys
import aicf
from aicf import nn


class Model(nn.Module):
    def __init__(self):
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


step = aicf.compile_step(
    Model(), lambda m, x, y: aicf.losses.cross_entropy(m(x), y), aicf.optim.AdamW(1e-3),
    {"x": (16, 6), "y": ((16,), "i32")})
step.save(sys.argv[1])
"""


@pytest.fixture
def layers(bench, browser):
    pytest.importorskip("aicf", reason="no Python package")
    (bench.folder / "model.py").write_text(MODEL)
    subprocess.run([sys.executable, bench.folder / "model.py", bench.folder / "step.plan"],
                   check=True)
    page = Page(browser, write_page(bench, bench.folder / "step.plan"))
    yield page
    page.check()


def test_layers_have_their_names(layers):
    """In the table, in temps, and in the details."""
    cells = layers.run("return [...document.querySelectorAll('.row.body')].map((r) =>"
                       "[r.children[3].textContent, r.children[10].textContent]);")
    assert ["body.0", "model.py:13:0"] in cells and ["head", "model.py:13:0"] in cells
    labels = layers.run("return panel.entry.tensors.filter((t) => t.segment === 'temp')"
                        ".map((t) => t.label);")
    assert {"body.0 relu", "head gemm"} < set(labels)
    assert not any(re.match(r"t\d+$", label) for label in labels)
    layers.find(".row.body[data-call='1']").click()
    assert "body.0" in layers.find(".details").text
    layers.find("input[type=search]").send_keys("head")
    assert 0 < layers.run("return panel.shown.length;") < layers.run(
        "return panel.entry.calls.length;")


def test_calls_by_layer(layers):
    layers.find("select[name=group] option[value=layer]").click()
    groups = layers.run("return panel.shown.map((g) => [g.layer, g.calls.length]);")
    assert {"body.0", "head", ""} <= {name for name, _ in groups}
    assert sum(count for _, count in groups) == layers.run(
        "return panel.entry.calls.length;")
    flops = layers.run("return [panel.shown.reduce((s, g) => s + g.flops, 0),"
                       "panel.entry.calls.reduce((s, c) => s + c.times * c.flops, 0)];")
    assert flops[0] == flops[1]
    layers.find(".row.group").click()
    opened = layers.run("return panel.shown.filter((g) => typeof g === 'number').length;")
    assert opened == groups[0][1]
    layers.find(".row.group").click()
    assert layers.run("return panel.shown.length;") == len(groups)
    layers.run("panel.pickCall(panel.entry.calls.length - 1, true);")
    assert layers.run("return document.querySelectorAll('.row.picked').length;") == 1
    layers.screenshot("view-layers.png")


@pytest.mark.parametrize("location, layer, place", [
    ("fc0 at /src/model.py:5:0", "fc0", "model.py:5:0"),
    ("0 at model.py:5:0", "0", "model.py:5:0"),
    ("/src/look at this/model.py:5:0", "", "model.py:5:0"),
    ("model.mlir:3:1", "", "model.mlir:3:1"), ("", "", "")])
def test_what_a_location_says(digits, location, layer, place):
    assert digits.run("return [layerOf(arguments[0]), placeOf(arguments[0])];", location) \
        == [layer, place]


def test_a_dark_page(digits):
    digits.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        assert digits.run("return themed('paper');") == "#1b202a"
        assert digits.run("return getComputedStyle(document.body).color;") \
            == "rgb(228, 232, 239)"
        digits.screenshot("view-dark.png")
    finally:
        digits.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_names_are_texts(bench, browser):
    """A tensor, an entry and a file named to break out."""
    hostile = "</script><img src=x onerror=pageErrors.push(1)>"
    text = (SOURCE / "examples/digits/model.mlir").read_text()
    (bench.folder / "step.mlir").write_text(text.replace("fc0.weight", hostile))
    plan = bench.compile()
    renamed = plan.rename(bench.folder / "<b>bold<'b>.plan")
    page = Page(browser, write_page(bench, renamed))
    assert any(hostile in t for t in page.run("return panel.entry.tensors.map((t) => t.name);"))
    page.run("panel.pickTensor(panel.entry.tensors.findIndex((t) => t.name.includes('img')));")
    assert hostile in page.find(".details").text
    assert page.run("return document.querySelectorAll('img, b').length;") == 0
    page.check()


def test_ten_thousand_calls(bench, browser):
    bench.generate("--batch", "8", "--layers", "1300", "--width", "16")
    page = Page(browser, write_page(bench, bench.compile()))
    count = page.run("return panel.entry.calls.length;")
    assert count > 10000
    # Of all rows those in sight are made.
    assert page.run("return document.querySelectorAll('.row.body').length;") < 60
    page.run("panel.pickCall(arguments[0], true);", count - 2)
    page.browser.execute_async_script("setTimeout(arguments[0], 200);")
    assert page.run("return document.querySelectorAll('.row.body.picked').length;") == 1
    page.check()


def test_the_package_writes_the_same_page(bench):
    aicf = pytest.importorskip("aicf", reason="no Python package")
    plan = EXAMPLES / "digits.plan"
    path = write_page(bench, plan)
    own = aicf.load(plan).view(bench.folder / "own.html")
    same = path.read_text().replace('"title":"digits.plan"', '"title":"train_step, evaluate"')
    assert pathlib.Path(own).read_text() == same
    with pytest.raises(aicf.errors.InvalidArgumentError, match="aicf-run --profile"):
        aicf.load(plan).view(bench.folder / "own.html", profile=path)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="no plan"):
        aicf.load(plan).view(bench.folder / "own.html", other=3)
