#!/usr/bin/env bash
# Installs a build into a scratch prefix and uses it as a stranger would: the program, its implementations, manual page, find_package
# and pkg-config for an adapter of one's own, the packages.
# usage: test_install.sh BUILD_FOLDER        (everything built)
set -euo pipefail
build=$(realpath "${1:?usage: test_install.sh BUILD_FOLDER}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/prefix" "$work/moved" # nothing may depend on the place it was installed to
prefix=$work/moved
unset ASSAY_IMPL_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
cd "$work"
export PATH="$prefix/bin:$PATH"
[ "$(command -v assay)" = "$prefix/bin/assay" ] || fail "another assay is found"
assay list >list.out # files, not pipes: grep -q leaves early, and the writer would fail
for name in libm reference_c fast_math template python_stdlib; do
    grep -qx "  $name" list.out || fail "assay list does not show $name"
done
certify() { # certify IMPL: a quick run that must keep every required promise
    local status=0
    assay certify --op timestep_sinusoid_h3 --impl "$1" --baseline libm --tier quick --allow-dirty --quiet --porcelain --db "$work/x.db" \
        --source "$work" >lines || status=$?
    [ $status -eq 3 ] || { cat lines; fail "$1: exit code $status, not 3 (the tree is unknown)"; }
    ! grep -P '\trequired\t' lines | grep -vP '\tkept\t' || fail "$1: a promise is not kept"
}
certify template
assay selftest --only null_nan --quiet --db "$work/selftest.db" >selftest.out || fail "selftest"
grep -q 'caught=1/1' selftest.out || fail "selftest finds no mutants"

# Files of the package.
man_page=$(find "$prefix" -name assay.1)
grep -q '^\.TH ASSAY' "$man_page" || fail "no manual page"
for file in adapter.h criterion.h; do [ -f "$prefix/include/assay/$file" ] || fail "no $file"; done
for file in README.md PROTOCOL.md DIGEST.md; do [ -n "$(find "$prefix/share/doc" -name $file)" ] || fail "no $file"; done

# A project of `assay new`, by find_package, which must be the installed one, and by pkg-config.
assay new mine >/dev/null
rm -r mine/include # only the installed header is left
cmake -S mine -B mine/build -DCMAKE_PREFIX_PATH="$prefix" >configure.log || { cat configure.log; exit 1; }
grep -q "^assay_DIR:PATH=$prefix/" mine/build/CMakeCache.txt || fail "find_package(assay) found another one"
cmake --build mine/build >build.log || { cat build.log; exit 1; }
certify "$work/mine/build/mine.so"
pc=$(dirname "$(find "$prefix" -name assay.pc)")
export PKG_CONFIG_PATH=$pc
[ "$(realpath "$(pkg-config --variable=program assay)")" = "$prefix/bin/assay" ] || fail "assay.pc: program"
read -ra flags <<<"$(pkg-config --cflags assay)"
cc -O2 -shared -fPIC -ffp-contract=off "${flags[@]}" mine/adapter.c -o by_pkg_config.so -lm
certify "$work/by_pkg_config.so"

# A version that is not there is refused.
printf 'cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(assay 99 REQUIRED)\n' >CMakeLists.txt
! cmake -S . -B wrong -DCMAKE_PREFIX_PATH="$prefix" >wrong.log 2>&1 || fail "find_package(assay 99) succeeds"

# Packages: the tarball holds what was installed, the .deb can be read.
(cd "$build" && cpack -G TGZ -B "$work/packages" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
tar -tzf "$work"/packages/*.tar.gz >files
grep -q '/bin/assay$' files || fail "the tarball has no bin/assay"
if command -v dpkg-shlibdeps >/dev/null; then
    (cd "$build" && cpack -G DEB -B "$work/packages" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
    dpkg-deb --field "$work"/packages/*.deb Depends >depends
    grep -q libsqlite3 depends || fail "the .deb does not depend on SQLite"
    dpkg-deb --contents "$work"/packages/*.deb >files
    grep -q 'usr/bin/assay$' files || fail "the .deb has no usr/bin/assay"
fi
echo "installed, used, packaged"
