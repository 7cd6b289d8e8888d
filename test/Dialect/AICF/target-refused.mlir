// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{#aicf.target: device is 'tpu', expected cpu or cuda}}
func.func private @f() attributes {aicf.target = #aicf.target<tpu>}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @f() attributes {aicf.target = #aicf.target}

// -----

// expected-error @+1 {{#aicf.target: no profile of cuda is named "cpu", known are h200, h100, a100, rtx4090}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, costs = "cpu">}

// -----

// expected-error @+1 {{#aicf.target: no profile of cpu is named 3 : i64, known are cpu}}
func.func private @f() attributes {aicf.target = #aicf.target<cpu, costs = 3>}

// -----

// expected-error @+1 {{#aicf.target: math is "fast", expected "f32" or "tf32"}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, math = "fast">}

// -----

// expected-error @+1 {{#aicf.target: math is 32 : i64, expected "f32" or "tf32"}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, math = 32>}

// -----

// expected-error @+1 {{#aicf.target: math stands twice}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, math = "f32", math = "f32">}

// -----

// expected-error @+1 {{#aicf.target: unknown field "sms", expected costs, math, or a number that `aicf-plan costs` prints}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, sms = 3>}

// -----

// expected-error @+1 {{#aicf.target: "multiprocessors" is -2 : i64, expected a whole number from -1 to 1073741824}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, multiprocessors = -2>}

// -----

// expected-error @+1 {{#aicf.target: "multiprocessors" is "many", expected a whole number from -1 to 1073741824}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, multiprocessors = "many">}

// -----

// expected-error @+1 {{#aicf.target: "cached_bytes" is 1099511627777 : i64, expected a whole number from -1 to 1099511627776}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, cached_bytes = 1099511627777>}

// -----

// expected-error @+1 {{#aicf.target: "multiprocessors" is 1073741825 : i64, expected a whole number from -1 to 1073741824}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, multiprocessors = 1073741825>}

// -----

// expected-error @+1 {{expected integer value}}
func.func private @f() attributes {aicf.target = #aicf.target<cuda, multiprocessors = 1.5>}
