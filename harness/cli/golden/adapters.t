# Files that are not adapters: one line naming the file and the rule, exit code 2, no database.
$ echo hello > text.so && assay certify --op timestep_sinusoid_h3 --impl ./text.so --allow-dirty --quiet
$ : > empty.so && assay certify --op timestep_sinusoid_h3 --impl ./empty.so --allow-dirty --quiet
$ printf '#!/bin/sh\nexit 7\n' > dies && chmod +x dies && assay certify --op timestep_sinusoid_h3 --impl ./dies --allow-dirty --quiet
$ printf '#!/bin/sh\necho no json; sleep 1\n' > talks && chmod +x talks && assay certify --op timestep_sinusoid_h3 --impl ./talks --allow-dirty --quiet
$ echo 'int x;' > nosymbol.c && cc -shared -fPIC -o nosymbol.so nosymbol.c && assay certify --op timestep_sinusoid_h3 --impl ./nosymbol.so --allow-dirty --quiet
$ printf '#include <assay/adapter.h>\nstatic const assay_adapter_info i = {.abi_version = 7, .struct_bytes = sizeof i, .name = "x", .version = "1"};\nASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &i; }\n' > abi.c && cc -shared -fPIC -I$ASSAY_SOURCE/harness/include -o abi.so abi.c && assay certify --op timestep_sinusoid_h3 --impl ./abi.so --allow-dirty --quiet
$ printf '#include <assay/adapter.h>\nstatic const assay_adapter_info i = {.abi_version = 1, .struct_bytes = sizeof i, .name = "x", .version = "1"};\nASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &i; }\n' > noop.c && cc -shared -fPIC -I$ASSAY_SOURCE/harness/include -o noop.so noop.c && assay certify --op timestep_sinusoid_h3 --impl ./noop.so --allow-dirty --quiet
$ printf '__attribute__((constructor)) static void f(void) { *(volatile int *)0 = 1; }\n' > ctor.c && cc -shared -fPIC -o ctor.so ctor.c && assay certify --op timestep_sinusoid_h3 --impl ./ctor.so --allow-dirty --quiet
$ ls *.db
