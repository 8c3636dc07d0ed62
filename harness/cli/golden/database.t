# Databases that are not ours, damaged, or out of reach: one line, exit code 2, the file untouched.
$ : > empty.db && assay report latest --db empty.db
$ head -c 5000 /dev/zero | tr '\0' x > garbage.db && cp garbage.db before && assay certify --op timestep_sinusoid_h3 --impl reference_c --db garbage.db --allow-dirty --quiet; cmp garbage.db before && echo untouched
$ sqlite3 other.db 'CREATE TABLE t(x); INSERT INTO t VALUES(1);' && cp other.db before && assay certify --op timestep_sinusoid_h3 --impl reference_c --db other.db --allow-dirty --quiet; cmp other.db before && echo untouched
$ assay verify other.db
$ assay run --op timestep_sinusoid_h3 --impl reference_c --tier quick --check 'determinism/*' --db good.db --quiet > /dev/null; echo $?
$ head -c 40000 good.db > short.db && assay verify short.db
$ assay report latest --db short.db
$ assay verify good.db > /dev/null; echo $?
$ assay report 99 --db good.db
$ assay report nope --db good.db
$ assay explain nope --db good.db
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db missing/folder/x.db --allow-dirty --quiet
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --db . --allow-dirty --quiet
$ ls
