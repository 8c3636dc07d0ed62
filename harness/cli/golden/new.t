# A new project is a working adapter.
$ assay new mine
> mine/ is a working adapter. Next:
>   cd mine && cmake -B build && cmake --build build
>   assay certify --op timestep_sinusoid_h3 --impl build/mine.so --baseline libm --report report --allow-dirty
? 0
$ find mine -type f | LC_ALL=C sort
> mine/.gitignore
> mine/CMakeLists.txt
> mine/README.md
> mine/adapter.c
> mine/include/assay/adapter.h
? 0
$ cc -O2 -shared -fPIC -ffp-contract=off -Imine/include mine/adapter.c -o mine/mine.so -lm
? 0
$ assay certify --op timestep_sinusoid_h3 --impl mine/mine.so --baseline libm --tier quick --allow-dirty --quiet --porcelain --source . > lines
? 3
$ grep -v '^promise.timing' lines | cut -f 1-4 | sed '/^verdict/s/ the tree.*//; s/^verdict.incomplete.*/verdict incomplete/'
> promise	validation	kept	required
> promise	parity	kept	required
> promise	accuracy	kept	required
> promise	invariance	kept	required
> promise	gradient_accuracy	kept	required
> promise	gradient_parity	kept	required
> promise	gradient_invariance	kept	required
> promise	memory	kept	required
> promise	determinism	kept	required
> promise	cross_lineage_parity	not_verified	optional
> verdict incomplete
? 0
$ assay new mine
! assay: new: mine: File exists
? 2
$ assay new other --directory missing/folder
! assay: new: missing/folder: No such file or directory
? 2
$ assay new other --directory lines
! assay: new: lines: File exists
? 2
$ assay new other --directory elsewhere > /dev/null && ls elsewhere
> CMakeLists.txt
> README.md
> adapter.c
> include
? 0
# A disk that fills up leaves nothing half-written.
$ (ulimit -f 4; assay new third)
! assay: new: third/adapter.c: File too large
? 2
$ ls
> assay.db
> elsewhere
> lines
> mine
? 0
