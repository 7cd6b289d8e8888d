//===- OpCall.cpp - op_call and the low-level graph calls -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Arrays are used where they are: nothing is copied, results are written in
// place. A graph holds the arrays of its calls.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rules.h"
#include "python/src/Arrays.h"

#include <cstring>

namespace aicf::python {
namespace {

/// A stream of one's own; while it captures, the arrays of what is recorded.
struct StreamHandle {
  std::shared_ptr<DeviceHandle> device;
  std::unique_ptr<Stream> stream;
  std::vector<Owner> recorded;
};

struct GraphHandle {
  std::shared_ptr<DeviceHandle> device;
  std::unique_ptr<Graph> graph;
  std::vector<Owner> arrays;
};

/// A device's streams and graphs, for one thread; waited for without the GIL.
class DeviceLock {
public:
  explicit DeviceLock(DeviceHandle &device) {
    nb::gil_scoped_release release;
    lock = std::unique_lock<std::mutex>(device.mutex);
  }

private:
  std::unique_lock<std::mutex> lock;
};

OpKind parseKind(const std::string &name) {
  for (size_t i = 0; i < kNumOpKinds; ++i)
    if (infoOf(static_cast<OpKind>(i)).name == name && !name.empty())
      return static_cast<OpKind>(i);
  fail(StatusCode::InvalidArgument, "no primitive is called \"", name,
       "\": the page 'Primitives and bodies' of the docs lists them");
}

double readNumber(nb::handle value, const std::string &what) {
  if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr()))
    fail(StatusCode::DTypeMismatch, what, " is not a number");
  double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred())
    throw nb::python_error();
  return number;
}

/// A field's number as its blob has it.
FieldValue readField(const FieldInfo &field, nb::handle value,
                     const std::string &what) {
  if (field.format == 'd')
    return FieldValue(readNumber(value, what));
  if (!PyLong_Check(value.ptr()))
    fail(StatusCode::DTypeMismatch, what, " is not an int");
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow)
    fail(StatusCode::InvalidArgument, what, " does not fit into 64 bits");
  return FieldValue(int64_t(number));
}

std::vector<uint8_t> encodeFields(OpKind kind, nb::dict given,
                                  const std::vector<TensorDesc> &operands) {
  const OpInfo &info = infoOf(kind);
  std::vector<uint8_t> blob(info.attrBytes);
  for (size_t i = 0; i < info.numFields; ++i) {
    const FieldInfo &field = info.fields[i];
    std::string name(field.name), what = std::string(info.name) + ": " + name;
    FieldValue value;
    if (given.contains(name.c_str())) {
      value = readField(field, given[name.c_str()], what);
    } else {
      auto standard = fieldDefault(kind, i, operands);
      if (!standard)
        fail(StatusCode::InvalidArgument, what,
             " is missing, and it has no default");
      value = *standard;
    }
    encodeField(field, value, blob);
  }
  for (auto [key, unused] : given) {
    std::string name = nb::cast<std::string>(nb::str(key));
    bool isKnown = false;
    for (size_t i = 0; i < info.numFields; ++i)
      isKnown |= info.fields[i].name == name;
    if (!isKnown)
      fail(StatusCode::InvalidArgument, info.name, " has no attr \"", name,
           "\"");
  }
  return blob;
}

TensorView importOne(nb::handle array, DeviceHandle &device, void *nativeStream,
                     Access access, const std::string &name,
                     std::vector<Owner> &owners) {
  Argument argument;
  importAny(array, device, nativeStream, access, name, argument);
  if ((argument.space == MemorySpace::Host) != device.isCPU())
    fail(StatusCode::InvalidArgument, name, " is on the host, expected ",
         device.name());
  owners.push_back(std::move(argument.owner));
  return {const_cast<void *>(argument.data), argument.desc};
}

std::vector<TensorView> importList(nb::sequence arrays, DeviceHandle &device,
                                   void *nativeStream, Access access,
                                   const char *what,
                                   std::vector<Owner> &owners) {
  std::vector<TensorView> views;
  size_t i = 0;
  for (nb::handle array : arrays) {
    std::string name = std::string(what) + " " + std::to_string(i++);
    if (array.is_none()) {
      views.push_back({nullptr, TensorDesc::absent()});
      continue;
    }
    views.push_back(
        importOne(array, device, nativeStream, access, name, owners));
  }
  return views;
}

void callOp(const std::string &name, nb::sequence ins, nb::sequence outs,
            nb::dict attrs, const std::string &kid,
            std::shared_ptr<DeviceHandle> device, StreamHandle *stream,
            nb::object workspace) {
  if (stream && stream->device != device)
    fail(StatusCode::InvalidArgument,
         "the stream belongs to another device object");
  OpKind kind = parseKind(name);
  Stream &queue = stream ? *stream->stream : *device->stream;
  std::vector<Owner> owners;
  void *native = queue.nativeHandle();
  auto operands = importList(ins, *device, native, Access::Read,
                             (name + ": operand").c_str(), owners);
  auto results = importList(outs, *device, native, Access::Write,
                            (name + ": result").c_str(), owners);
  TensorView scratch;
  if (!workspace.is_none())
    scratch = importOne(workspace, *device, native, Access::Write,
                        name + ": workspace", owners);
  std::vector<TensorDesc> descs;
  for (const TensorView &view : operands)
    descs.push_back(view.desc);
  std::vector<uint8_t> blob = encodeFields(kind, attrs, descs);
  DeviceLock lock(*device);
  if (queue.isCapturing()) // no queue of a call's own does
    stream->recorded.insert(stream->recorded.end(), owners.begin(),
                            owners.end());
  nb::gil_scoped_release release;
  check(opCall(*device->device, kind, operands, results, infoOf(kind).schema,
               blob, queue, kid, scratch));
  if (!queue.isCapturing()) // the arrays are the caller's again
    check(queue.synchronize());
}

} // namespace

void defineOpCall(nb::module_ &m) {
  nb::class_<StreamHandle>(m, "Stream", "A queue of calls that can capture.")
      .def_prop_ro("device", [](StreamHandle &s) { return s.device; })
      .def_prop_ro("is_capturing",
                   [](StreamHandle &s) { return s.stream->isCapturing(); });
  nb::class_<GraphHandle>(m, "Graph", "Calls that were recorded.")
      .def_prop_ro(
          "num_calls",
          [](GraphHandle &g) { return g.graph ? g.graph->numCalls() : 0; })
      .def_prop_ro("num_nodes", [](GraphHandle &g) {
        return g.graph ? g.graph->numNodes() : 0;
      });

  m.def(
      "op_call", &callOp, nb::arg("kind"), nb::arg("ins"), nb::arg("outs"),
      nb::arg("attrs"), nb::arg("kid"), nb::arg("device"),
      nb::arg("stream") = nb::none(), nb::arg("workspace") = nb::none(),
      "resolve + launch of one primitive; see aicf.op_call.",
      nb::sig("def op_call(kind: str, ins: typing.Sequence[typing.Any], outs: "
              "typing.Sequence[typing.Any], attrs: dict[str, float], kid: str,"
              " device: Device, stream: Stream | None = None, workspace: "
              "typing.Any = None) -> None"));
  m.def(
      "graph_stream",
      [](std::shared_ptr<DeviceHandle> device) {
        auto stream = std::make_unique<StreamHandle>();
        stream->stream = check(device->device->createStream());
        stream->device = std::move(device);
        return stream;
      },
      nb::arg("device"), nb::sig("def graph_stream(device: Device) -> Stream"),
      "A stream that can capture.");
  m.def(
      "graph_begin",
      [](StreamHandle &stream) {
        DeviceLock lock(*stream.device);
        check(stream.stream->beginCapture());
        stream.recorded.clear();
      },
      nb::arg("stream"), "From here on calls on `stream` are recorded.");
  m.def(
      "graph_end",
      [](StreamHandle &stream) {
        DeviceLock lock(*stream.device);
        auto graph = std::make_unique<GraphHandle>();
        graph->graph = check(stream.stream->endCapture());
        graph->device = stream.device;
        graph->arrays = std::move(stream.recorded);
        stream.recorded.clear();
        return graph;
      },
      nb::arg("stream"), nb::sig("def graph_end(stream: Stream) -> Graph"),
      "Ends recording.");
  m.def(
      "graph_launch",
      [](GraphHandle &graph, StreamHandle &stream) {
        DeviceLock lock(*stream.device);
        if (!graph.graph)
          fail(StatusCode::FailedState, "the graph was reset");
        if (graph.device != stream.device)
          fail(StatusCode::InvalidArgument,
               "the graph and the stream belong to different device objects");
        nb::gil_scoped_release release;
        check(stream.stream->launch(*graph.graph));
        check(stream.stream->synchronize());
      },
      nb::arg("graph"), nb::arg("stream"), "Runs what was recorded.");
  m.def(
      "graph_reset",
      [](GraphHandle &graph) {
        DeviceLock lock(*graph.device);
        graph.graph.reset();
        graph.arrays.clear();
      },
      nb::arg("graph"), "Frees a graph; a second time does nothing.");
}

} // namespace aicf::python
