# What this machine offers; some of the implementations depend on what it has.
$ assay list | grep -vE '^  (sleef|python_stdlib|cuda|cuda_fast_math|torch_cuda)$'
> operators:
>   timestep_sinusoid_h3
> suites:
>   validation   invalid input is rejected with the exact status, nothing written; valid edges pass
>   parity       bytes equal to the provider's replay and to a baseline of the same lineage
>   accuracy     error against the FP64 golden: tolerance, ulp histogram, correctly rounded share
>   invariance   a row's bytes do not depend on batch size, position, neighbours, padding, strides, alignment
>   gradients    VJP against the FP64 golden VJP and the replay; row-local, repeatable
>   memory       every element written, nothing else touched, inputs unchanged, nothing read beyond
>   determinism  the same bytes again: repeats, fresh process, other thread, inputs changed in place
>   audit        no relaxed instruction in the GPU code of the candidate's file
>   timing       interleaved raw samples with floors and roofs; faster than physics is mistrusted
> implementations:
>   cuda_model
>   fast_math
>   libm
>   reference_c
>   template
? 0
$ assay list --json | json_keys
> implementations
> operators
> suites help name
? 0
$ assay list --checks --tier quick | head -n 2
> validation/reject_width_odd                                  validation             required
> validation/reject_width_odd_unchecked                        validation             required
? 0
$ assay list --checks --json | head -n 7
> [
>   {
>     "name": "validation/reject_width_odd",
>     "promise": "validation",
>     "required": true,
>     "suite": "validation"
>   },
? 0
$ assay list --checks --lineage libm --tier full | wc -l | sed 's/[0-9][0-9]*/N/'
> N
? 0
$ mkdir extra && cp "$ASSAY_BUILD/impls/libm.so" extra/mine.so && ASSAY_IMPL_PATH=$PWD/extra assay list | grep mine
>   mine
? 0
# What it can verify; states depend on the machine.
$ assay doctor | cut -c10-33
> certify on the CPU      
> certify on CUDA         
> figures                 
> clean-tree provenance   
> Python adapters         
> outputs past 2^31       
> evidence in this folder 
> quiet timing            
? 0
$ assay doctor | cut -c1-8 | grep -vE '^(yes|no|limited) *$'
? 1
$ assay doctor --json | grep -c '"what"'
> 8
? 0
