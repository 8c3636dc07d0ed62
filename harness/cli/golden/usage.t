# Wrong use of every command: one line, exit code 2, nothing written.
$ assay
$ assay frobnicate
$ assay certify
$ assay certify --op timestep_sinusoid_h3
$ assay certify --op nope --impl reference_c
$ assay certify --op timestep_sinusoid_h3 --impl nope
$ assay certify --op timestep_sinusoid_h3 --impl ./missing.so
$ assay certify --op timestep_sinusoid_h3 --impl .
$ assay certify --op timestep_sinusoid_h3 --impl ''
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --tier huge
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --device tpu
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --device cuda:0
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --seed -1
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --seed 1x
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --threads 0
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --nonsense
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --op timestep_sinusoid_h3
$ assay certify --op timestep_sinusoid_h3 --impl
$ assay certify --op timestep_sinusoid_h3 --impl reference_c extra
$ assay certify --op timestep_sinusoid_h3 --impl reference_c --allow-dirty --resume latest
$ assay run --op timestep_sinusoid_h3 --impl reference_c --suite nope
$ assay run --op timestep_sinusoid_h3 --impl reference_c --check 'nope/*'
$ assay prove --op nope --impl reference_c
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 0/4
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --shard 5/4
$ assay prove --op timestep_sinusoid_h3 --impl reference_c --against nope
$ assay merge
$ assay merge missing.db --db merged.db
$ assay report
$ assay report latest --db missing.db
$ assay report latest --format pdf
$ assay explain
$ assay verify
$ assay verify missing.db
$ assay verify .
$ assay new
$ assay new 9lives
$ assay new 'a b'
$ assay new mine --directory missing/folder
$ assay list extra
$ assay doctor --nonsense
$ ls
