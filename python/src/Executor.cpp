//===- Executor.cpp - plans and executors for Python ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the C++ API calls a thing, Python calls it too. The GIL is released
// wherever work may take longer than a look-up.
//===----------------------------------------------------------------------===//

#include "aicf/Checkpoint.h"
#include "aicf/PlanView.h"
#include "lib/Base/File.h"
#include "lib/Plan/Extension.h"
#include "python/src/PlanCosts.h"
#include "python/src/Runner.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

namespace aicf::python {
namespace {

using Handle = ExecutorHandle;
using SharedPlan = std::shared_ptr<const Plan>;

std::shared_ptr<Handle> createExecutor(const SharedPlan &plan,
                                       std::shared_ptr<DeviceHandle> device,
                                       const ExecutorOptions &options) {
  std::shared_ptr<Handle> handle = Handle::make();
  handle->executor = check(Executor::create(plan, device->device, options));
  handle->pool = std::make_shared<MemoryPool>(device);
  handle->device = std::move(device);
  return handle;
}

std::string quoted(const std::string &name) { return "\"" + name + "\""; }

/// Whether an entry writes the tensor.
bool isWritten(const Plan &plan, const TensorInfo &tensor) {
  for (const PlanEntry &entry : plan.entries)
    for (const PlanCall &call : entry.calls)
      for (uint32_t value : call.outs)
        if (plan.bufferOf(entry, value).name == tensor.name)
          return true;
  return false;
}

/// The plan's order knows nothing of memory that bound tensors share.
void refuseOverlap(const Handle &handle, const std::string &name,
                   const Handle::Bound &made) {
  for (const auto &[other, bound] : handle.bound)
    if (other != name && (bound.isWritten || made.isWritten) &&
        made.data < bound.data + bound.bytes &&
        bound.data < made.data + made.bytes)
      fail(StatusCode::InvalidArgument, quoted(name), " and ", quoted(other),
           " would share memory, and a step writes one of them");
}

/// A copy: the plan may be exchanged by another thread.
TensorInfo findTensor(Handle &handle, const std::string &name) {
  auto lock = handle.lockPlan();
  return check(handle.executor->find(name));
}

void bind(Handle &handle, const std::string &name, nb::handle array) {
  TensorInfo tensor = findTensor(handle, name);
  bool written = [&] {
    auto lock = handle.lockPlan();
    return isWritten(handle.executor->plan(), tensor);
  }();
  Argument argument;
  importAs(array, tensor.desc, *handle.device, handle.executor->nativeStream(),
           written ? Access::Write : Access::Read, quoted(name), argument);
  bool isHost = argument.space == MemorySpace::Host;
  if (argument.isScalar || isHost != handle.device->isCPU())
    fail(StatusCode::InvalidArgument, quoted(name), " is ",
         argument.isScalar ? "a number" : "on the host", ": only an array on ",
         handle.device->name(), " can be bound");
  uint64_t bytes = tensor.desc.spanBytes();
  Use use(handle);
  Handle::Bound bound{std::move(argument.owner),
                      static_cast<const char *>(argument.data), bytes, written};
  refuseOverlap(handle, name, bound);
  {
    nb::gil_scoped_release release;
    check(
        handle.executor->bind(name, const_cast<void *>(argument.data), bytes));
  }
  handle.bound[name] = std::move(bound);
}

void write(Handle &handle, const std::string &name, nb::handle array) {
  TensorInfo tensor = findTensor(handle, name);
  Argument argument;
  importAs(array, tensor.desc, *handle.device, handle.executor->nativeStream(),
           Access::Read, quoted(name), argument);
  Use use(handle);
  nb::gil_scoped_release release;
  check(handle.executor->write(name, argument.pointer(),
                               tensor.desc.spanBytes(), argument.space));
  if (argument.space == MemorySpace::Device)
    check(handle.executor->sync()); // the caller's memory is free again
}

Array read(const std::shared_ptr<Handle> &handle, const std::string &name) {
  TensorInfo tensor = findTensor(*handle, name);
  auto data = std::make_shared<ArrayData>();
  data->desc = tensor.desc;
  data->device = handle->device;
  data->source = handle;
  data->output = name;
  Use use(*handle);
  nb::gil_scoped_release release;
  check(data->detach());
  return {std::move(data)};
}

/// Zeros of any element type, which NumPy need not have.
void zeroRow(Handle &handle, const std::string &name, uint64_t row) {
  TensorInfo tensor = findTensor(handle, name);
  const uint64_t bytes = tensor.desc.spanBytes();
  const uint64_t rows = tensor.desc.dims[0]; // 0 of a scalar
  if (row >= rows)
    fail(StatusCode::InvalidArgument, quoted(name), " has no row ", row,
         ": it has ", rows, " rows");
  std::vector<uint8_t> all(bytes);
  Use use(handle);
  nb::gil_scoped_release release;
  check(handle.executor->read(name, all.data(), bytes));
  std::fill_n(all.begin() + row * (bytes / rows), bytes / rows, 0);
  check(handle.executor->write(name, all.data(), bytes));
}

nb::dict describeTensor(const TensorInfo &tensor) {
  nb::dict info;
  info["name"] = tensor.name;
  info["role"] = std::string(nameOf(tensor.role));
  info["dtype"] = std::string(nameOf(tensor.desc.dtype));
  info["shape"] = shapeTuple(tensor.desc);
  info["vid"] = tensor.vid;
  info["derived"] = tensor.isDerived();
  info["scratch"] = tensor.isScratch;
  return info;
}

nb::list describeSlots(Handle &handle) {
  Use use(handle);
  nb::list list;
  for (const SlotInfo &slot : handle.executor->slots()) {
    nb::dict info;
    info["entry"] = slot.entry;
    info["buffer"] = slot.buffer;
    info["vid"] = slot.vid;
    info["name"] = slot.name;
    info["segment"] = std::string(nameOf(slot.segment));
    info["offset"] = slot.offset;
    info["bytes"] = slot.bytes;
    info["pointer"] = reinterpret_cast<uintptr_t>(slot.pointer);
    list.append(info);
  }
  return list;
}

nb::list describeTrace(Handle &handle) {
  Use use(handle);
  nb::list list;
  for (const TraceRecord &record : handle.executor->trace()) {
    nb::dict info;
    info["op"] = record.op;
    info["kid"] = record.kid;
    info["in_vids"] = record.inVids;
    info["out_vids"] = record.outVids;
    info["in_types"] = record.inTypes;
    info["out_types"] = record.outTypes;
    info["in_names"] = record.inNames;
    info["out_names"] = record.outNames;
    info["entry"] = record.entry;
    info["stream"] = record.stream;
    info["is_replay"] = record.isReplay;
    info["is_whole_launch"] = record.isWholeLaunch;
    info["start_us"] = record.startMicros;
    info["us"] = record.micros;
    list.append(info);
  }
  return list;
}

nb::dict describeStatistics(Handle &handle) {
  Use use(handle);
  ExecutorStatistics stats = handle.executor->statistics();
  nb::dict info;
  info["persistent_bytes"] = stats.persistentBytes;
  info["io_bytes"] = stats.ioBytes;
  info["temp_bytes"] = stats.tempBytes;
  info["runs"] = stats.runs;
  info["captures"] = stats.captures;
  info["launches"] = stats.launches;
  info["graph_nodes"] = stats.graphNodes;
  return info;
}

ExecutorOptions readOptions(uint64_t seed, bool useInitializers,
                            std::optional<bool> warmup, bool separate,
                            bool poison, bool canary, bool checkIndices,
                            size_t maxCachedGraphs) {
  ExecutorOptions options = ExecutorOptions::fromEnvironment();
  options.seed = seed;
  options.useInitializers = useInitializers;
  options.isWarmup = warmup.value_or(options.isWarmup);
  options.separateAllocations = separate;
  options.poison = poison;
  options.canary = canary;
  options.checkIndices = checkIndices;
  options.maxCachedGraphs = maxCachedGraphs;
  return options;
}

/// A method of Executor that needs nothing of Python.
template <typename... Params>
auto released(Status (Executor::*method)(Params...)) {
  return [method](Handle &handle, std::decay_t<Params>... args) {
    Use use(handle);
    nb::gil_scoped_release release;
    check(((*handle.executor).*method)(args...));
  };
}

} // namespace

void definePlan(nb::module_ &m) {
  nb::class_<Plan>(m, "Plan", "A verified plan.")
      .def_static(
          "load",
          [](const std::string &path) {
            nb::gil_scoped_release release;
            return std::make_shared<Plan>(check(Plan::load(path)));
          },
          nb::arg("path"),
          "Reads and verifies a plan file. Raises InvalidPlanError, "
          "FileNotFoundError, FileError.")
      .def_static(
          "parse",
          [](nb::bytes bytes) {
            return std::make_shared<Plan>(check(
                Plan::parse({reinterpret_cast<const uint8_t *>(bytes.c_str()),
                             bytes.size()})));
          },
          nb::arg("data"), "Verifies a plan file's bytes.")
      .def(
          "append",
          [](Plan &plan, const Plan &more) {
            nb::gil_scoped_release release;
            return std::make_shared<Plan>(check(appendEntries(plan, more)));
          },
          nb::arg("more"),
          "A plan with the entries of another one behind its own. Raises "
          "InvalidArgumentError (they share a tensor or a name that is not the "
          "same), InvalidPlanError.")
      .def(
          "serialize",
          [](Plan &plan, bool withDebug) {
            std::vector<uint8_t> bytes = plan.serialize(withDebug);
            return nb::bytes(bytes.data(), bytes.size());
          },
          nb::arg("with_debug") = true, "The plan file's bytes.")
      .def(
          "batches_per_update",
          [](Plan &plan, const std::string &entry, uint32_t given) {
            return check(plan.batchesPerUpdate(entry, given));
          },
          nb::arg("entry"), nb::arg("given") = 0,
          "How many batches make an update of an entry; 0: it accumulates, but "
          "a plan before 3.1 does not say, nor does `given`. Raises "
          "InvalidArgumentError (no such entry, or `given` is another number "
          "than the plan's).")
      .def(
          "output_form",
          [](Plan &plan, const std::string &name) {
            const PlanEntry *entry = plan.findEntry(name);
            if (!entry)
              fail(StatusCode::InvalidArgument, "the plan has no entry \"",
                   name, "\"");
            return std::string(nameOf(entry->outputForm));
          },
          nb::arg("entry"),
          "How a program gets the outputs: \"tensor\", \"tuple\", \"dict\", "
          "\"tensor_and_dict\" or \"unknown\".")
      .def_prop_ro("device",
                   [](Plan &p) { return std::string(nameOf(p.device)); })
      .def_prop_ro("entries",
                   [](Plan &p) {
                     std::vector<std::string> names;
                     for (const PlanEntry &entry : p.entries)
                       names.push_back(entry.name);
                     return names;
                   })
      .def(
          "persistent",
          [](Plan &p) {
            nb::list list;
            for (const TensorInfo &tensor : p.tensors())
              list.append(describeTensor(tensor));
            return list;
          },
          "Params, states, hypers and constants: dicts of name, role, dtype, "
          "shape, ...",
          nb::sig("def persistent(self) -> list[dict[str, typing.Any]]"))
      .def(
          "io",
          [](Plan &p, const std::string &name) {
            const PlanEntry *entry = p.findEntry(name);
            if (!entry)
              fail(StatusCode::InvalidArgument, "the plan has no entry \"",
                   name, "\"");
            nb::list list;
            for (const TensorInfo &tensor : p.tensors(*entry))
              list.append(describeTensor(tensor));
            return list;
          },
          nb::arg("entry"), "Inputs and outputs of an entry, likewise.",
          nb::sig("def io(self, entry: str) -> list[dict[str, typing.Any]]"))
      .def(
          "dump",
          [](Plan &p, bool lifetimes) { return dumpPlan(p, lifetimes); },
          nb::arg("lifetimes") = false, "Readable tables, as aicf-plan dump.")
      .def(
          "json", [](Plan &p) { return dumpPlanAsJson(p); },
          "The same content as JSON.")
      .def("costs", &planCosts,
           "What each call costs: dicts of entry, op, kid, flops, bytes.",
           nb::sig("def costs(self) -> list[dict[str, typing.Any]]"))
      .def("memory", &planMemory, "Bytes of the segments, in all and by entry.",
           nb::sig("def memory(self) -> dict[str, typing.Any]"));
}

/// (plan, title, profile) of one or two.
using TitledPlan = std::tuple<SharedPlan, std::string, std::string>;

std::string viewTitled(const std::vector<TitledPlan> &plans,
                       double bytesPerSecond, double flopsPerSecond) {
  std::vector<ViewedPlan> viewed;
  for (const auto &[plan, title, profile] : plans)
    viewed.push_back({plan.get(), title, profile});
  nb::gil_scoped_release release;
  return check(viewPlans(viewed, {bytesPerSecond, flopsPerSecond}));
}

/// Bytes, or text as UTF-8.
static void writeFile(const std::string &path, nb::object content) {
  nb::bytes bytes =
      nb::isinstance<nb::str>(content)
          ? nb::steal<nb::bytes>(PyUnicode_AsUTF8String(content.ptr()))
          : nb::cast<nb::bytes>(content);
  Span<const uint8_t> data(reinterpret_cast<const uint8_t *>(bytes.c_str()),
                           bytes.size());
  nb::gil_scoped_release release;
  check(writeFileAtomically(path, data));
}

void defineExecutor(nb::module_ &m) {
  m.def("write_file", &writeFile, nb::arg("path"), nb::arg("content"),
        nb::sig("def write_file(path: str, content: str | bytes) -> None"),
        "Replaces a file by a new one at once; what is not a regular file is "
        "written into. Raises OSError.");
  m.def("view_plans", &viewTitled, nb::arg("plans"),
        nb::arg("bytes_per_second"), nb::arg("flops_per_second"),
        nb::sig("def view_plans(plans: Sequence[tuple[Plan, str, str]], "
                "bytes_per_second: float, flops_per_second: float) -> str"),
        "The page of one plan or two: of each a title and what aicf-run "
        "--profile wrote.");
  nb::class_<Handle>(m, "Executor",
                     "Runs the entries of a plan: include/aicf/Executor.h.")
      .def_static(
          "create",
          [](std::shared_ptr<Plan> plan, std::shared_ptr<DeviceHandle> device,
             uint64_t seed, bool useInitializers, std::optional<bool> warmup,
             bool separate, bool poison, bool canary, bool checkIndices,
             size_t maxCachedGraphs) {
            return createExecutor(plan, std::move(device),
                                  readOptions(seed, useInitializers, warmup,
                                              separate, poison, canary,
                                              checkIndices, maxCachedGraphs));
          },
          nb::arg("plan"), nb::arg("device"), nb::kw_only(),
          nb::arg("seed") = 0, nb::arg("use_initializers") = true,
          nb::arg("warmup") = nb::none(),
          nb::arg("separate_allocations") = false, nb::arg("poison") = false,
          nb::arg("canary") = false, nb::arg("check_indices") = false,
          nb::arg("max_cached_graphs") = 8)
      .def("bind", &bind, nb::arg("name"), nb::arg("array"),
           nb::sig("def bind(self, name: str, array: typing.Any) -> None"))
      .def("prepare", released(&Executor::prepare))
      .def(
          "extend",
          [](Handle &h, std::shared_ptr<Plan> plan) {
            Use use(h);
            nb::gil_scoped_release release;
            std::unique_lock<std::shared_mutex> lock(h.planMutex);
            check(h.executor->extend(std::move(plan)));
          },
          nb::arg("plan"),
          "Goes on with a plan that has more; what is there stays.")
      .def("write", &write, nb::arg("name"), nb::arg("array"),
           nb::sig("def write(self, name: str, array: typing.Any) -> None"))
      .def("read", &read, nb::arg("name"))
      .def("zero_row", &zeroRow, nb::arg("name"), nb::arg("row"),
           "Zeros in row `row` of the first dimension of a tensor.")
      .def(
          "check_read",
          [](Handle &h, const std::string &name, const std::string &entry) {
            Use use(h);
            check(h.executor->checkRead(name, entry));
          },
          nb::arg("name"), nb::arg("entry"))
      .def(
          "find",
          [](Handle &h, const std::string &name) {
            return describeTensor(findTensor(h, name));
          },
          nb::arg("name"),
          nb::sig("def find(self, name: str) -> dict[str, typing.Any]"))
      .def(
          "run",
          [](Handle &h, const std::string &entry) {
            Use use(h);
            nb::gil_scoped_release release;
            check(h.executor->run(entry));
          },
          nb::arg("entry"), "Runs an entry once, eagerly.")
      .def(
          "run_graph",
          [](Handle &h, const std::string &entry, uint32_t steps) {
            Use use(h);
            nb::gil_scoped_release release;
            check(h.executor->run(GraphKey{entry, steps}));
          },
          nb::arg("entry"), nb::arg("steps") = 1,
          "One launch of a graph of `steps` runs; captures it if needed.")
      .def(
          "capture",
          [](Handle &h, const std::string &entry) {
            Use use(h);
            nb::gil_scoped_release release;
            check(h.executor->capture(entry));
          },
          nb::arg("entry"))
      .def(
          "replay",
          [](Handle &h, const std::string &entry, uint64_t n) {
            Use use(h);
            runInterruptibly(*h.executor, n, [&](uint64_t) {
              return h.executor->replay(entry, 1);
            });
          },
          nb::arg("entry"), nb::arg("n") = 1)
      .def("reset_graphs", released(&Executor::resetGraphs))
      .def("reset_state", released(&Executor::resetState))
      .def("sync", released(&Executor::sync))
      .def("trace_enable", released(&Executor::enableTrace), nb::arg("enabled"))
      .def("trace_get", &describeTrace,
           nb::sig("def trace_get(self) -> list[dict[str, typing.Any]]"))
      .def(
          "trace_json",
          [](Handle &h) {
            Use use(h);
            return traceToChromeJson(h.executor->trace(),
                                     h.executor->device().description());
          },
          "The trace in Chrome's format, which Perfetto opens.")
      .def(
          "profile_json",
          [](Handle &h) {
            Use use(h);
            return traceToProfileJson(h.executor->trace(),
                                      h.executor->device().description());
          },
          "What each kernel took for each problem, as aicf-run --profile writes it.")
      .def("slots", &describeSlots,
           nb::sig("def slots(self) -> list[dict[str, typing.Any]]"))
      .def("statistics", &describeStatistics,
           nb::sig("def statistics(self) -> dict[str, int]"))
      .def(
          "save_checkpoint",
          [](Handle &h, const std::string &directory,
             const FileMetadata &metadata) {
            Use use(h);
            nb::gil_scoped_release release;
            check(saveCheckpoint(*h.executor, directory, metadata));
          },
          nb::arg("directory"), nb::arg("metadata") = FileMetadata())
      .def(
          "load_checkpoint",
          [](Handle &h, const std::string &directory) {
            Use use(h);
            FileMetadata metadata;
            {
              nb::gil_scoped_release release;
              check(loadCheckpoint(*h.executor, directory, nullptr, &metadata));
            }
            return metadata;
          },
          nb::arg("directory"), "Returns the metadata of the file.")
      .def_prop_ro("device", [](Handle &h) { return h.device; })
      .def_prop_ro("plan", [](Handle &h) {
        auto lock = h.lockPlan();
        return Plan(h.executor->plan());
      });
  defineRunner(m);
}

} // namespace aicf::python
