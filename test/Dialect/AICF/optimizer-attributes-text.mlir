// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that text which is not a field of an optimizer is reported once.

// expected-error @+1 {{expected valid keyword or string}}
func.func private @name() attributes {aicf.optimizer = #aicf.sgd<= 3>}

// -----

// expected-error @+1 {{expected '='}}
func.func private @sign() attributes {aicf.optimizer = #aicf.sgd<lr 3>}

// -----

// expected-error @+1 {{expected attribute value}}
func.func private @number() attributes {aicf.optimizer = #aicf.sgd<lr = "lr", momentum = >}

// -----

// expected-error @+1 {{expected attribute value}}
func.func private @rate() attributes {aicf.optimizer = #aicf.sgd<lr = >}
