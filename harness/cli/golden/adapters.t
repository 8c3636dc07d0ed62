# Files that are not adapters: one line naming the file and the rule, exit code 2, no database.
$ echo hello > text.so && assay certify --op timestep_sinusoid_h3 --impl ./text.so --allow-dirty --quiet
! assay: adapter WORK/text.so: cannot be loaded as a shared library: WORK/text.so: file too short
? 2
$ : > empty.so && assay certify --op timestep_sinusoid_h3 --impl ./empty.so --allow-dirty --quiet
! assay: adapter WORK/empty.so: cannot be loaded as a shared library: WORK/empty.so: file too short
? 2
$ printf '#!/bin/sh\nexit 7\n' > dies && chmod +x dies && assay certify --op timestep_sinusoid_h3 --impl ./dies --allow-dirty --quiet
! assay: adapter WORK/dies: exited with code 7 before its hello (a program must speak harness/PROTOCOL.md)
? 2
$ printf '#!/bin/sh\necho no json; sleep 1\n' > talks && chmod +x talks && assay certify --op timestep_sinusoid_h3 --impl ./talks --allow-dirty --quiet
! assay: adapter WORK/talks: exited with code 0 before its hello (a program must speak harness/PROTOCOL.md)
? 2
$ echo 'int x;' > nosymbol.c && cc -shared -fPIC -o nosymbol.so nosymbol.c && assay certify --op timestep_sinusoid_h3 --impl ./nosymbol.so --allow-dirty --quiet
! assay: adapter WORK/nosymbol.so: symbol assay_adapter missing: an adapter exports it (assay/adapter.h)
? 2
$ printf '#include <assay/adapter.h>\nstatic const assay_adapter_info i = {.abi_version = 7, .struct_bytes = sizeof i, .name = "x", .version = "1"};\nASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &i; }\n' > abi.c && cc -shared -fPIC -I$ASSAY_SOURCE/harness/include -o abi.so abi.c && assay certify --op timestep_sinusoid_h3 --impl ./abi.so --allow-dirty --quiet
! assay: adapter WORK/abi.so: ABI version 7, this build speaks 1
? 2
$ printf '#include <assay/adapter.h>\nstatic const assay_adapter_info i = {.abi_version = 1, .struct_bytes = sizeof i, .name = "x", .version = "1"};\nASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &i; }\n' > noop.c && cc -shared -fPIC -I$ASSAY_SOURCE/harness/include -o noop.so noop.c && assay certify --op timestep_sinusoid_h3 --impl ./noop.so --allow-dirty --quiet
! assay: adapter WORK/noop.so: descriptor: operators must name 1 to 64 operators
? 2
$ printf '#include <signal.h>\n__attribute__((constructor)) static void f(void) { raise(9); }\n' > ctor.c && cc -shared -fPIC -o ctor.so ctor.c && assay certify --op timestep_sinusoid_h3 --impl ./ctor.so --allow-dirty --quiet
! assay: adapter WORK/ctor.so: killed by SIGKILL (Killed)
? 2
$ printf 'import sys\n' > script.py && assay certify --op timestep_sinusoid_h3 --impl ./script.py --allow-dirty --quiet
! assay: adapter WORK/script.py: neither a shared library (.so) nor an executable program (chmod +x?)
? 2
$ mkfifo pipe.so && assay certify --op timestep_sinusoid_h3 --impl ./pipe.so --allow-dirty --quiet
! assay: --impl ./pipe.so: not a regular file
? 2
# A filter that matches nothing, a dirty or unknown tree: refused before anything is written.
$ assay run --op timestep_sinusoid_h3 --impl reference_c --check 'nope/*' --quiet
! assay: the filter matches none of the N checks (assay list --checks shows them)
? 2
$ printf 'static int x;\n' > unused.c && cp "$ASSAY_BUILD/impls/libm.so" mine.so && assay certify --op timestep_sinusoid_h3 --impl ./mine.so --source . --quiet 2>&1 | sed -e 's/^assay: .*tree[^:]*:/assay: TREE:/' -e 's/ (or --source DIR)//'; echo "${PIPESTATUS[0]}"
> assay: TREE: certify needs clean, committed sources (--allow-dirty runs, but can only end incomplete)
> 2
? 0
$ assay prove --op timestep_sinusoid_h3 --impl ./text.so --quiet
! assay: adapter WORK/text.so: cannot be loaded as a shared library: WORK/text.so: file too short
? 2
$ ls | grep -E 'db|report'
? 1
