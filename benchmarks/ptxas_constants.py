#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does ptxas hand two constants of 64 bits over as one?

    ptxas_constants.py [--arch sm_90]

A kernel calls a function, always with the same two f64 constants, whose low halves are
equal. The function rounds both to f32 and compares with them. Where a kernel has many
values at hand, ptxas 13.0 puts the constants into uniform registers, and from -O2 on it
converts one of them and uses it for both. The table says for each level how many
conversions the code has (2 are right) and, if there is a card, how many elements are wrong.
kernels/graph/CudaElements.cpp never calls a function with two such constants; with a ptxas
whose rows are all right, it could.
"""

import argparse
import array
import ctypes
import pathlib
import struct
import subprocess
import tempfile

LOW, HIGH = -0.5, 1.0
HEAD = """.version 9.0
.target %s
.address_size 64
.func (.param .b32 result) inside(.param .b64 low, .param .b64 high, .param .b32 x)
{
  .reg .pred %%p<3>;
  .reg .f32 %%f<5>;
  .reg .f64 %%d<3>;
  ld.param.f64 %%d1, [low];
  ld.param.f64 %%d2, [high];
  ld.param.f32 %%f1, [x];
  cvt.rn.f32.f64 %%f2, %%d1;
  setp.gtu.f32 %%p1, %%f2, %%f1;
  cvt.rn.f32.f64 %%f3, %%d2;
  setp.ltu.f32 %%p2, %%f3, %%f1;
  or.pred %%p1, %%p1, %%p2;
  selp.f32 %%f4, 0f00000000, 0f3F800000, %%p1;
  st.param.f32 [result], %%f4;
  ret;
}
.visible .entry many(.param .u64 to, .param .u64 from)
{
  .reg .b64 %%a<3>, %%low, %%high;
  .reg .b32 %%t, %%x<%d>, %%y<%d>;
  mov.u32 %%t, %%tid.x;
  ld.param.u64 %%a1, [to];
  ld.param.u64 %%a2, [from];
  mad.wide.u32 %%a1, %%t, 4, %%a1;
  mad.wide.u32 %%a2, %%t, 4, %%a2;
  mov.b64 %%low, %d;
  mov.b64 %%high, %d;
"""
CALL = """  {
  .param .b64 low; .param .b64 high; .param .b32 x; .param .b32 result;
  st.param.b64 [low], %%low; st.param.b64 [high], %%high; st.param.b32 [x], %%x%d;
  call (result), inside, (low, high, x);
  ld.param.b32 %%y%d, [result];
  }
"""


def text(arch, calls):
    bits = [struct.unpack("<q", struct.pack("<d", v))[0] & (1 << 64) - 1
            for v in (LOW, HIGH)]
    each = range(calls)
    return HEAD % (arch, calls, calls, *bits) + "".join(
        ["  ld.global.b32 %%x%d, [%%a2+%d];\n" % (i, 128 * i) for i in each]
        + [CALL % (i, i) for i in each]
        + ["  st.global.b32 [%%a1+%d], %%y%d;\n" % (128 * i, i) for i in each]) \
        + "  ret;\n}\n"


def conversions(cubin):
    """F2F of a uniform register: the low 12 bits of an instruction of 16 bytes."""
    return sum(struct.unpack_from("<Q", cubin, at)[0] & 0xfff == 0xd10
               for at in range(0, len(cubin) - 15, 16))


class Card:
    """Runs the kernel on the first card."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.do("cuInit", 0)
        self.do("cuDeviceGet", ctypes.byref(device), 0)
        self.do("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.do("cuCtxSetCurrent", context)

    def do(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise RuntimeError("%s: CUDA error %d" % (name, code))

    def wrong(self, cubin, calls):
        """How many of the 32 elements of each call are not what they must be."""
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.do("cuModuleLoadData", ctypes.byref(module), cubin)
        self.do("cuModuleGetFunction", ctypes.byref(kernel), module, b"many")
        x = array.array("f", [(i * 7 % 64) / 16 - 2 for i in range(32 * calls)])
        y = array.array("f", [7.0] * len(x))
        to, source = ctypes.c_uint64(), ctypes.c_uint64()
        for pointer in (to, source):
            self.do("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(4 * len(x)))
        address = x.buffer_info()[0], y.buffer_info()[0]
        size = ctypes.c_size_t(4 * len(x))
        self.do("cuMemcpyHtoD_v2", source, ctypes.c_void_p(address[0]), size)
        arguments = (ctypes.c_void_p * 2)(
            *(ctypes.addressof(pointer) for pointer in (to, source)))
        self.do("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
        self.do("cuMemcpyDtoH_v2", ctypes.c_void_p(address[1]), to, size)
        return sum(got != (LOW <= value <= HIGH) for got, value in zip(y, x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="sm_90")
    arch = parser.parse_args().arch
    try:
        card = Card()
    except (OSError, RuntimeError) as error:
        card = None
        print("no card (%s): conversions alone" % error)
    print(subprocess.run(["ptxas", "--version"], capture_output=True, text=True,
                         check=True).stdout.splitlines()[-1])
    print("| calls | level | conversions | wrong elements |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder) / "k.ptx", pathlib.Path(folder) / "k.cubin"
        for calls in (2, 8, 32, 64):
            source.write_text(text(arch, calls))
            for level in range(4):
                subprocess.run(["ptxas", "-arch=" + arch, "-O%d" % level, source, "-o", made],
                               check=True)
                cubin = made.read_bytes()
                print("| %d | -O%d | %d | %s |" % (
                    calls, level, conversions(cubin),
                    "%d of %d" % (card.wrong(cubin, calls), 32 * calls) if card else "?"))


if __name__ == "__main__":
    main()
