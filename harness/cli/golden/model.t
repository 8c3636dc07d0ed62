# CUDA's functions on this CPU: single answers, and wrong use.
$ assay model expf 1 0x3f000000 nan inf -- -104 -87.4 -0.0
> expf(3f800000) = 402df854    1 -> 2.71828175
> expf(3f000000) = 3fd3094c    0.5 -> 1.64872122
> expf(7fc00000) = 7fffffff    nan -> nan
> expf(7f800000) = 7f800000    inf -> inf
> expf(c2d00000) = 00000000    -104 -> 0
> expf(c2aecccd) = 00782140    -87.4000015 -> 1.10321874e-38
> expf(80000000) = 3f800000    -0 -> 1
? 0
$ assay model sinf 0x80000001 1e30
> sinf(80000001) = 80000001    -1.40129846e-45 -> -1.40129846e-45
> sinf(7149f2ca) = bf4a89b0    1.00000002e+30 -> -0.791163445
? 0
$ assay model cosf --json 0x4048f5c3
> [
>   {
>     "x": "4048f5c3",
>     "y": "bf7fffeb"
>   }
> ]
? 0
$ assay model ex2f 0.5
> ex2f(3f000000) = 3fb504f3    0.5 -> 1.41421354
? 0
$ assay model --help
> usage: assay model [options] FUNCTION [VALUE...]
> 
> CUDA's expf, sinf and cosf on this CPU: answers, or the digest of all 2^32
> 
> FUNCTION is expf, sinf or cosf of CUDA 13.0 (no fast math, no flush to zero) as an sm_90 GPU answers,
> or ex2f, the instruction inside expf. A VALUE is a bit pattern (0x3f800000) or a number; negative numbers follow a --.
> Anyone with a GPU can compare: hash the 2^32 answers in the order of the inputs' bit patterns.
> 
> options:
>       --sha256                       the SHA-256 of all 2^32 answers, inputs 0x00000000 upwards, little-endian words
>       --threads N                    threads that compute (default: processors)
>       --json                         print as JSON
>   -q, --quiet                        no progress
>   -h, --help                         this text
? 0
$ assay model
! assay: model: needs FUNCTION [VALUE...] (assay model --help)
? 2
$ assay model tanf 1
! assay: tanf: no such function; there are: expf sinf cosf ex2f
? 2
$ assay model expf
! assay: model expf: need either values or --sha256
? 2
$ assay model expf 1 --sha256
! assay: model expf: need either values or --sha256
? 2
$ assay model expf 1x
! assay: 1x: need a bit pattern such as 0x3f800000 or a number
? 2
$ assay model expf 0x123456789
! assay: 0x123456789: an FP32 bit pattern has at most 8 hex digits
? 2
$ assay model expf ''
! assay: : need a bit pattern such as 0x3f800000 or a number
? 2
$ assay model expf --sha256 --threads 0
! assay: --threads 0: need a whole number from 1 to 256
? 2
