// RUN: aicf-opt %s --aicf-hoist-constants --verify-diagnostics

// Tests that a plan is not asked to hold more than 64 MB: 64 rows of numbers take
// up to 1 MB each, and a row that is there already takes nothing.

func.func @f() -> (tensor<131072xi64> {aicf.name = "y"}) {
  %0 = aicf.iota [131072] {axis = 0, dtype = i64}
  %1 = aicf.iota [131071] {axis = 0, dtype = i64}
  %2 = aicf.iota [131070] {axis = 0, dtype = i64}
  %3 = aicf.iota [131069] {axis = 0, dtype = i64}
  %4 = aicf.iota [131068] {axis = 0, dtype = i64}
  %5 = aicf.iota [131067] {axis = 0, dtype = i64}
  %6 = aicf.iota [131066] {axis = 0, dtype = i64}
  %7 = aicf.iota [131065] {axis = 0, dtype = i64}
  %8 = aicf.iota [131064] {axis = 0, dtype = i64}
  %9 = aicf.iota [131063] {axis = 0, dtype = i64}
  %10 = aicf.iota [131062] {axis = 0, dtype = i64}
  %11 = aicf.iota [131061] {axis = 0, dtype = i64}
  %12 = aicf.iota [131060] {axis = 0, dtype = i64}
  %13 = aicf.iota [131059] {axis = 0, dtype = i64}
  %14 = aicf.iota [131058] {axis = 0, dtype = i64}
  %15 = aicf.iota [131057] {axis = 0, dtype = i64}
  %16 = aicf.iota [131056] {axis = 0, dtype = i64}
  %17 = aicf.iota [131055] {axis = 0, dtype = i64}
  %18 = aicf.iota [131054] {axis = 0, dtype = i64}
  %19 = aicf.iota [131053] {axis = 0, dtype = i64}
  %20 = aicf.iota [131052] {axis = 0, dtype = i64}
  %21 = aicf.iota [131051] {axis = 0, dtype = i64}
  %22 = aicf.iota [131050] {axis = 0, dtype = i64}
  %23 = aicf.iota [131049] {axis = 0, dtype = i64}
  %24 = aicf.iota [131048] {axis = 0, dtype = i64}
  %25 = aicf.iota [131047] {axis = 0, dtype = i64}
  %26 = aicf.iota [131046] {axis = 0, dtype = i64}
  %27 = aicf.iota [131045] {axis = 0, dtype = i64}
  %28 = aicf.iota [131044] {axis = 0, dtype = i64}
  %29 = aicf.iota [131043] {axis = 0, dtype = i64}
  %30 = aicf.iota [131042] {axis = 0, dtype = i64}
  %31 = aicf.iota [131041] {axis = 0, dtype = i64}
  %32 = aicf.iota [131040] {axis = 0, dtype = i64}
  %33 = aicf.iota [131039] {axis = 0, dtype = i64}
  %34 = aicf.iota [131038] {axis = 0, dtype = i64}
  %35 = aicf.iota [131037] {axis = 0, dtype = i64}
  %36 = aicf.iota [131036] {axis = 0, dtype = i64}
  %37 = aicf.iota [131035] {axis = 0, dtype = i64}
  %38 = aicf.iota [131034] {axis = 0, dtype = i64}
  %39 = aicf.iota [131033] {axis = 0, dtype = i64}
  %40 = aicf.iota [131032] {axis = 0, dtype = i64}
  %41 = aicf.iota [131031] {axis = 0, dtype = i64}
  %42 = aicf.iota [131030] {axis = 0, dtype = i64}
  %43 = aicf.iota [131029] {axis = 0, dtype = i64}
  %44 = aicf.iota [131028] {axis = 0, dtype = i64}
  %45 = aicf.iota [131027] {axis = 0, dtype = i64}
  %46 = aicf.iota [131026] {axis = 0, dtype = i64}
  %47 = aicf.iota [131025] {axis = 0, dtype = i64}
  %48 = aicf.iota [131024] {axis = 0, dtype = i64}
  %49 = aicf.iota [131023] {axis = 0, dtype = i64}
  %50 = aicf.iota [131022] {axis = 0, dtype = i64}
  %51 = aicf.iota [131021] {axis = 0, dtype = i64}
  %52 = aicf.iota [131020] {axis = 0, dtype = i64}
  %53 = aicf.iota [131019] {axis = 0, dtype = i64}
  %54 = aicf.iota [131018] {axis = 0, dtype = i64}
  %55 = aicf.iota [131017] {axis = 0, dtype = i64}
  %56 = aicf.iota [131016] {axis = 0, dtype = i64}
  %57 = aicf.iota [131015] {axis = 0, dtype = i64}
  %58 = aicf.iota [131014] {axis = 0, dtype = i64}
  %59 = aicf.iota [131013] {axis = 0, dtype = i64}
  %60 = aicf.iota [131012] {axis = 0, dtype = i64}
  %61 = aicf.iota [131011] {axis = 0, dtype = i64}
  %62 = aicf.iota [131010] {axis = 0, dtype = i64}
  %63 = aicf.iota [131009] {axis = 0, dtype = i64}
  %again = aicf.iota [131072] {axis = 0, dtype = i64}
  %small = aicf.iota [2016] {axis = 0, dtype = i64}
  // expected-error @+1 {{'aicf.constant' op is one constant too many: they have 67108872 bytes, the limit of a plan is 67108864}}
  %one = aicf.constant dense<7> : tensor<i64>
  return %0 : tensor<131072xi64>
}
