// RUN: aicf-opt %s --aicf-hoist-constants --verify-diagnostics
// RUN: not aicf-opt %s --aicf-hoist-constants

// Tests that a plan is not asked to hold more than 64 MB: 64 rows of numbers take
// up to 1 MB each, and a row that is there already takes nothing, nor does one that
// nobody reads.

func.func @f() -> (
    tensor<131072xi64> {aicf.name = "y0"},
    tensor<131071xi64> {aicf.name = "y1"},
    tensor<131070xi64> {aicf.name = "y2"},
    tensor<131069xi64> {aicf.name = "y3"},
    tensor<131068xi64> {aicf.name = "y4"},
    tensor<131067xi64> {aicf.name = "y5"},
    tensor<131066xi64> {aicf.name = "y6"},
    tensor<131065xi64> {aicf.name = "y7"},
    tensor<131064xi64> {aicf.name = "y8"},
    tensor<131063xi64> {aicf.name = "y9"},
    tensor<131062xi64> {aicf.name = "y10"},
    tensor<131061xi64> {aicf.name = "y11"},
    tensor<131060xi64> {aicf.name = "y12"},
    tensor<131059xi64> {aicf.name = "y13"},
    tensor<131058xi64> {aicf.name = "y14"},
    tensor<131057xi64> {aicf.name = "y15"},
    tensor<131056xi64> {aicf.name = "y16"},
    tensor<131055xi64> {aicf.name = "y17"},
    tensor<131054xi64> {aicf.name = "y18"},
    tensor<131053xi64> {aicf.name = "y19"},
    tensor<131052xi64> {aicf.name = "y20"},
    tensor<131051xi64> {aicf.name = "y21"},
    tensor<131050xi64> {aicf.name = "y22"},
    tensor<131049xi64> {aicf.name = "y23"},
    tensor<131048xi64> {aicf.name = "y24"},
    tensor<131047xi64> {aicf.name = "y25"},
    tensor<131046xi64> {aicf.name = "y26"},
    tensor<131045xi64> {aicf.name = "y27"},
    tensor<131044xi64> {aicf.name = "y28"},
    tensor<131043xi64> {aicf.name = "y29"},
    tensor<131042xi64> {aicf.name = "y30"},
    tensor<131041xi64> {aicf.name = "y31"},
    tensor<131040xi64> {aicf.name = "y32"},
    tensor<131039xi64> {aicf.name = "y33"},
    tensor<131038xi64> {aicf.name = "y34"},
    tensor<131037xi64> {aicf.name = "y35"},
    tensor<131036xi64> {aicf.name = "y36"},
    tensor<131035xi64> {aicf.name = "y37"},
    tensor<131034xi64> {aicf.name = "y38"},
    tensor<131033xi64> {aicf.name = "y39"},
    tensor<131032xi64> {aicf.name = "y40"},
    tensor<131031xi64> {aicf.name = "y41"},
    tensor<131030xi64> {aicf.name = "y42"},
    tensor<131029xi64> {aicf.name = "y43"},
    tensor<131028xi64> {aicf.name = "y44"},
    tensor<131027xi64> {aicf.name = "y45"},
    tensor<131026xi64> {aicf.name = "y46"},
    tensor<131025xi64> {aicf.name = "y47"},
    tensor<131024xi64> {aicf.name = "y48"},
    tensor<131023xi64> {aicf.name = "y49"},
    tensor<131022xi64> {aicf.name = "y50"},
    tensor<131021xi64> {aicf.name = "y51"},
    tensor<131020xi64> {aicf.name = "y52"},
    tensor<131019xi64> {aicf.name = "y53"},
    tensor<131018xi64> {aicf.name = "y54"},
    tensor<131017xi64> {aicf.name = "y55"},
    tensor<131016xi64> {aicf.name = "y56"},
    tensor<131015xi64> {aicf.name = "y57"},
    tensor<131014xi64> {aicf.name = "y58"},
    tensor<131013xi64> {aicf.name = "y59"},
    tensor<131012xi64> {aicf.name = "y60"},
    tensor<131011xi64> {aicf.name = "y61"},
    tensor<131010xi64> {aicf.name = "y62"},
    tensor<131009xi64> {aicf.name = "y63"},
    tensor<131072xi64> {aicf.name = "again"}, tensor<2016xi64> {aicf.name = "small"},
    tensor<i64> {aicf.name = "one"}) {
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
  %unused = aicf.iota [131000] {axis = 0, dtype = i64}
  // expected-error @+1 {{'aicf.constant' op brings the constants to 67108872 bytes, the limit of a plan is 67108864}}
  %one = aicf.constant dense<7> : tensor<i64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %again, %small, %one : tensor<131072xi64>, tensor<131071xi64>, tensor<131070xi64>, tensor<131069xi64>, tensor<131068xi64>, tensor<131067xi64>, tensor<131066xi64>, tensor<131065xi64>, tensor<131064xi64>, tensor<131063xi64>, tensor<131062xi64>, tensor<131061xi64>, tensor<131060xi64>, tensor<131059xi64>, tensor<131058xi64>, tensor<131057xi64>, tensor<131056xi64>, tensor<131055xi64>, tensor<131054xi64>, tensor<131053xi64>, tensor<131052xi64>, tensor<131051xi64>, tensor<131050xi64>, tensor<131049xi64>, tensor<131048xi64>, tensor<131047xi64>, tensor<131046xi64>, tensor<131045xi64>, tensor<131044xi64>, tensor<131043xi64>, tensor<131042xi64>, tensor<131041xi64>, tensor<131040xi64>, tensor<131039xi64>, tensor<131038xi64>, tensor<131037xi64>, tensor<131036xi64>, tensor<131035xi64>, tensor<131034xi64>, tensor<131033xi64>, tensor<131032xi64>, tensor<131031xi64>, tensor<131030xi64>, tensor<131029xi64>, tensor<131028xi64>, tensor<131027xi64>, tensor<131026xi64>, tensor<131025xi64>, tensor<131024xi64>, tensor<131023xi64>, tensor<131022xi64>, tensor<131021xi64>, tensor<131020xi64>, tensor<131019xi64>, tensor<131018xi64>, tensor<131017xi64>, tensor<131016xi64>, tensor<131015xi64>, tensor<131014xi64>, tensor<131013xi64>, tensor<131012xi64>, tensor<131011xi64>, tensor<131010xi64>, tensor<131009xi64>, tensor<131072xi64>, tensor<2016xi64>, tensor<i64>
}
