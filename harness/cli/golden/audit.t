# The verdict is about instructions, not about names or flags; exit codes 0 exact or none, 1 relaxed, 2 not readable, 3 unknown.
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/exact.ptx"
> ptx compute_80 at byte 104: exact, 2 functions (2 exact, 0 relaxed, 0 unknown)
> VERDICT exact  no relaxed instruction among 15
? 0
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/relaxed.ptx"
> ptx compute_80 at byte 0: relaxed, 8 functions (1 exact, 7 relaxed, 0 unknown)
>   relaxed  fast_sine
>     approximate  sin.approx.f32 2
>     approximate  cos.approx 1
>   relaxed  fast_exp
>     approximate  ex2.approx.f32 1
>   relaxed  fast_log
>     approximate  lg2.approx.f32 1
>   relaxed  fast_division
>     approximate  div.full.f32 1
>     approximate  rcp.approx.f32 1
>   relaxed  fast_root
>     approximate  sqrt.approx.f32 1
>   relaxed  flushed
>     flushed      add.ftz.f32 1
>   relaxed  fast_helper
>     approximate  tanh.approx.f32 1
> VERDICT relaxed  fast_sine (compute_80): sin.approx.f32, 2 times
? 1
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/unknown.ptx"
> ptx compute_80 at byte 0: unknown, 1 functions (0 exact, 0 relaxed, 1 unknown)
>   unknown  raw_power
>     undecided    ex2.approx.ftz.f32 1
> VERDICT unknown  raw_power (compute_80): ex2.approx.ftz.f32, 1 times
? 3
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/exact.ptx" --kernel exact_exp
> ptx compute_80 at byte 104: exact, 2 functions (2 exact, 0 relaxed, 0 unknown)
>   exact    exact_exp
>     instructions 12, fused 2, open 1, rounded 0
>     library      ex2.approx.ftz.f32 1
> VERDICT exact  exact_exp
? 0
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/relaxed.ptx" --kernel clean
> ptx compute_80 at byte 0: relaxed, 8 functions (1 exact, 7 relaxed, 0 unknown)
>   exact    clean
>     instructions 2, fused 1, open 0, rounded 0
> VERDICT exact  clean
? 0
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/relaxed.ptx" --kernel no_such
! assay: --kernel no_such: no function of that name among 8 in the device code
? 2
$ assay audit "$ASSAY_SOURCE/harness/core/ptx/relaxed.ptx" --json | json_keys
> code functions kind offset reason sm verdict
> file
> reason
> verdict
? 0
# A library of the host has none.
$ assay audit "$ASSAY_BUILD/impls/libm.so"
> VERDICT none  no device code
? 0
$ printf 'P\355U\272\001\000\020\000\377\000\000\000\000\000\000\000' > cut; assay audit cut
! assay: cut: fat binary at byte 0: it is longer than the rest of the file
? 2
$ assay audit missing
! assay: missing: No such file or directory
? 2
$ assay audit .
! assay: .: Is a directory
? 2
$ assay audit
! assay: audit: needs FILE (assay audit --help)
? 2
