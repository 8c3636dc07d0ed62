# The last of 255 shards is small: 1.0 and -0.0.
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
! assay: prove timestep_sinusoid_h3, candidate libm
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db --quiet --json
> {
>   "complete": false,
>   "differing": null,
>   "files_changed": false,
>   "outputs": 512,
>   "outside": 0,
>   "root": "HASH",
>   "root_differs": false,
>   "run": "RUN",
>   "run_id": 2,
>   "tiles": 2,
>   "tiles_differing": 0,
>   "verdict": "incomplete"
> }
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db --quiet --accuracy
> ROOT HASH  outputs=512 differing=- outside=0 coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db --quiet --resume 1
! assay: --resume 1: the run is already finished
? 2
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db --quiet --resume 9
! assay: 'a.db' has no run '9'
? 2
$ assay verify a.db
> a.db: 3 runs, N rows, 0 problems
? 0
$ assay report 1 --db a.db | head -n 3
> # ? incomplete: timestep\_sinusoid\_h3, prove of libm
> 
> **nothing was promised: the run has no required promise**
? 0
# The same root from another number of threads and another implementation of the same bits.
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db a.db --quiet --threads 1 | cut -d' ' -f 2- | cut -d' ' -f 2-4; sqlite3 a.db 'SELECT count(DISTINCT root) FROM digest_tree'
>  outputs=512 differing=-
> 1
? 0
# Against a root, a database, an implementation, itself.
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against $(sqlite3 a.db 'SELECT root FROM digest_tree WHERE run_id = 1')
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against $(sqlite3 a.db 'SELECT upper(root) FROM digest_tree WHERE run_id = 1')
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against $(printf %064d 0)
> checks failed: 1, not judged: 0 (assay report RUN shows them)
> the root is not HASH
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 1
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against a.db
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 255/255 --db d.db --quiet --against a.db
> checks failed: 1, not judged: 0 (assay report RUN shows them)
> 1 of 2 tiles differ from a.db, the first is tile 16256
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 1
$ assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 255/255 --db d.db --against libm
> checks failed: 1, not judged: 0 (assay report RUN shows them)
> ROOT HASH  outputs=512 differing=48 coverage=partial run=RUN
! assay: prove timestep_sinusoid_h3, candidate fast_math
! fail parity/tiles_016256: 48 of 512 outputs differ, at most 1 ulp; first at input 0x3f800000 channel 6: 0x3f4be4a9, want 0x3f4be4aa
!   reproduce: assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 255/255 --db d.db --against libm
? 1
$ assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 255/255 --db d.db --quiet --against libm --json
> {
>   "complete": false,
>   "differing": 48,
>   "files_changed": false,
>   "outputs": 512,
>   "outside": 0,
>   "root": "HASH",
>   "root_differs": false,
>   "run": "RUN",
>   "run_id": 7,
>   "tiles": 2,
>   "tiles_differing": 0,
>   "verdict": "refused"
> }
? 1
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against libm
> checks failed: 0, not judged: 1 (assay report RUN shows them)
> ROOT HASH  outputs=512 differing=0 coverage=partial run=RUN
? 3
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db d.db --quiet --against libm --resume 1
! assay: --resume 1: the run is already finished
? 2
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 1/255 --db d.db --quiet --against a.db
! assay: --against a.db: holds no digest tree of timestep_sinusoid_h3 that covers these 64 tiles
? 2
$ assay verify d.db
> d.db: 8 runs, N rows, 0 problems
? 0
# Parts of a domain are no proof of the whole.
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 1/2 --segments 1 --db b.db --quiet
> ROOT HASH  outputs=1073741824 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db last.db --quiet
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 255/255 --db c.db --quiet
> ROOT HASH  outputs=512 differing=- coverage=partial run=RUN
? 0
$ assay merge b.db last.db --db merged.db
! assay: tiles 64..16255 of 16258 are missing, between run 1 (RUN) of 'b.db' and run 1 (RUN) of 'last.db'
? 2
$ assay merge a.db last.db --db merged.db 2>&1 | sed -E 's/run [0-9]+/run N/; s/ has .*//'
> assay: the shards have different promises: run N (RUN) of 'a.db'
? 0
$ assay merge b.db c.db --db merged.db
! assay: the shards have different candidate binaries: run 1 (RUN) of 'b.db' has 'HASH', run 1 (RUN) of 'c.db' has 'HASH'
? 2
$ assay merge b.db --db b.db
! assay: tiles 64..16257 of 16258 are missing, between run 1 (RUN) of 'b.db' and the end
? 2
# What was not judged has no digest, no root and nothing that a tree could equal.
$ printf '%s\n' '#include <assay/adapter.h>' 'static assay_status f(const assay_call *c) { return (void)c, ASSAY_UNSUPPORTED; }' 'static const assay_operator o = {.name = "timestep_sinusoid_h3", .forward = f};' 'static const assay_adapter_info i = {ASSAY_ABI_VERSION, sizeof i, "idle", "1", .operators = &o, .operator_count = 1};' 'ASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &i; }' | cc -shared -fPIC -I $ASSAY_SOURCE/harness/include -x c - -o idle.so
? 0
$ assay prove --op timestep_sinusoid_h3 --impl ./idle.so --shard 255/255 --db e.db --quiet; sqlite3 e.db 'SELECT count(*) FROM digest_tree; SELECT count(*) FROM digest_tile'
> checks failed: 0, not judged: 1 (assay report RUN shows them)
> ROOT none  outputs=0 differing=- coverage=partial run=RUN
> 0
> 0
? 0
$ assay prove --op timestep_sinusoid_h3 --impl ./idle.so --shard 255/255 --db e.db --quiet --against a.db
> checks failed: 0, not judged: 2 (assay report RUN shows them)
> ROOT none  outputs=0 differing=- coverage=partial run=RUN
? 3
# A run that was interrupted is resumed as what it was: the same shard, the same comparison, the same files.
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 1/2 --segments 4 --db i.db --quiet & pid=$!; until [ -n "$(sqlite3 -readonly i.db 'SELECT 1 FROM check_start LIMIT 1' 2>&1 | grep 1)" ]; do sleep 0.05; done; kill -9 $pid; wait $pid 2>/dev/null
? 137
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 2/2 --segments 4 --db i.db --quiet --resume latest
! assay: --resume 1: that run proves another operator or shard, or against something else
? 2
$ assay prove --op timestep_sinusoid_h3 --impl libm --shard 1/2 --segments 4 --db i.db --quiet --resume latest --accuracy
! assay: --resume 1: that run proves another operator or shard, or against something else
? 2
$ assay prove --op timestep_sinusoid_h3 --impl fast_math --shard 1/2 --segments 4 --db i.db --quiet --resume latest
! assay: --resume 1: that run was started with another candidate binary or another baseline
? 2
# A full disk in the middle: what was recorded stays, the run is resumed to the root of an undisturbed one.
$ assay prove --op timestep_sinusoid_h3 --impl libm --segments 4 --db full.db --quiet & pid=$!; until [ -n "$(sqlite3 -readonly full.db 'SELECT 1 FROM digest_tile LIMIT 1' 2>&1 | grep 1)" ]; do sleep 0.05; done; prlimit --fsize=4096 --pid $pid; wait $pid
! assay: evidence database 'full.db': the disk reports an input/output error; finished checks are intact as far as the disk kept them (while committing)
? 4
$ assay verify full.db
> full.db: 1 runs, N rows, 0 problems
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --segments 4 --db full.db --quiet --resume latest
> ROOT HASH  outputs=4294967296 differing=- coverage=partial run=RUN
? 0
$ assay prove --op timestep_sinusoid_h3 --impl libm --segments 4 --db full.db --quiet; sqlite3 full.db 'SELECT count(DISTINCT root) FROM digest_tree'
> ROOT HASH  outputs=4294967296 differing=- coverage=partial run=RUN
> 1
? 0
$ assay verify full.db
> full.db: 2 runs, N rows, 0 problems
? 0
$ (ulimit -f 64; assay prove --op timestep_sinusoid_h3 --impl libm --shard 255/255 --db small.db --quiet)
! assay: arena of N bytes: ftruncate: File too large
? 4
$ ls
> a.db
> b.db
> c.db
> d.db
> e.db
> full.db
> i.db
> idle.so
> last.db
? 0
