# Shared by ./hbench and tests/run: packages and builds. Sourced from the root of the clone.

# What the program needs, as Debian 12 packages; the README says why each was chosen.
program_packages=(
  g++ cmake ninja-build ccache
  libtorch-dev libopenblas0-pthread libopenmpi-dev openmpi-bin
  libfmt-dev libhwy-dev libsqlite3-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libjs-chart.js gnuplot-nox)

say() { echo "hbench: $*" >&2; }

# need_packages PACKAGE...: installs the missing ones as root; otherwise prints the one line to run, and ends with 3.
need_packages() {
  command -v dpkg-query > /dev/null || return 0  # not Debian: CMake says what it does not find
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    say "packages are missing; run this once, then the same command again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 3
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
      > "$log" 2>&1 < /dev/null; then
    tail -n 20 "$log" >&2
    say "the packages could not be installed; the lines above say why"
    exit 3
  fi
  rm -f "$log"
}

# build PRESET TARGET [CMAKE ARGUMENT...]: configures when that was never done, and builds. Quiet when there is nothing
# to do; one builder at a time.
build() {
  local preset=$1 target=$2 folder=build/$1
  shift 2
  mkdir -p "$folder"
  exec 9> "$folder/.lock"
  flock 9
  if [ ! -e "$folder/build.ninja" ]; then
    local launcher=()
    command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
    say "configuring ($preset)"
    cmake --preset "$preset" "${launcher[@]}" "$@" > "$folder/configure.log" 2>&1 || {
      tail -n 20 "$folder/configure.log" >&2
      say "CMake failed; $folder/configure.log has the rest"
      exit 3
    }
  fi
  if ! ninja -C "$folder" -n "$target" 2> /dev/null | grep -q 'no work to do'; then
    say "building ($preset); the first time takes some minutes"
    local quiet=()
    [ -t 2 ] || quiet=(--quiet)
    CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 ninja -C "$folder" "${quiet[@]}" "$target" >&2 || {
      say "the build failed"
      exit 1
    }
  fi
  exec 9>&-
}
