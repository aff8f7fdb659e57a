# Shared by ./hbench and tests/run: packages and builds. Sourced from the root of the clone.

# What the program needs, as Debian 12 packages; the README says why each was chosen.
program_packages=(
  g++ cmake ninja-build ccache
  libtorch-dev libopenblas0-pthread libopenmpi-dev openmpi-bin
  libfmt-dev libhwy-dev libsqlite3-dev zlib1g-dev libre2-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libturbojpeg0-dev libpng-dev
  libjs-chart.js gnuplot-nox)

# What tests and benchmarks are built with besides.
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libgloo-dev clang-format-14
  python3-torch python3-torchvision)

say() { echo "hbench: $*" >&2; }

# missing_packages PACKAGE...: those that are not installed, a line each.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || echo "$package"
  done
}

# install_packages PACKAGE...: as root. A name that this distribution does not have is said, and its part is left out: CMake says
# which, or that it cannot do without. Neither a dead mirror nor one that never answers holds one up for long.
install_packages() {
  local apt=(apt-get -o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20) known=() package
  timeout 180 "${apt[@]}" update || return 1
  for package in "$@"; do
    if apt-cache show "$package" > /dev/null 2>&1; then
      known+=("$package")
    else
      say "this distribution has no package $package: what needs it is left out"
    fi
  done
  [ ${#known[@]} = 0 ] ||
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y --no-install-recommends "${known[@]}"
}

# need_packages PACKAGE...: installs the missing ones as root; otherwise prints the one line to run, and ends with 3.
# Where CMAKE_PREFIX_PATH in the environment brings libraries, as on a machine without a network, none is asked for.
need_packages() {
  command -v dpkg-query > /dev/null || return 0  # not Debian: CMake says what it does not find
  local missing log
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ -n "${CMAKE_PREFIX_PATH:-}" ]; then
    say "libraries are looked for in CMAKE_PREFIX_PATH; these packages are not installed: ${missing[*]}"
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    say "packages are missing; run this once, then the same command again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 3
  fi
  say "installing ${missing[*]}"
  log=$(mktemp)
  if ! install_packages "${missing[@]}" > "$log" < /dev/null 2> >(tee -a "$log" | grep '^hbench: ' >&2); then
    tail -n 20 "$log" >&2
    say "the packages could not be installed; the lines above say why"
    exit 3
  fi
  rm -f "$log"
}

# gpu_arguments: CMake's, a line each. With an NVIDIA driver: built for the GPUs here alone, with the LibTorch of the
# torch that python3 has, where that is one for CUDA. Without one nothing could run on a GPU, and CUDA is left out, which
# takes minutes to build, unless HBENCH_WITH_CUDA in the environment says ON or AUTO.
gpu_arguments() {
  local capabilities torch cuda=${HBENCH_WITH_CUDA:-}
  capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | tr -d ' .' | sort -u | paste -sd';') || true
  if ! [[ $capabilities =~ ^[0-9]+(\;[0-9]+)*$ ]]; then
    [ -e /proc/driver/nvidia/version ] || cuda=${cuda:-OFF}
    echo "-DHBENCH_WITH_CUDA=${cuda:-AUTO}"
    return 0
  fi
  echo "-DHBENCH_WITH_CUDA=${cuda:-AUTO}"
  echo "-DHBENCH_CUDA_ARCHITECTURES=$capabilities"
  torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path if torch.version.cuda else "")' 2> /dev/null) || true
  if [ -n "$torch" ]; then
    # Not as a prefix path, which would hide those that CMAKE_PREFIX_PATH in the environment brings.
    echo "-DTorch_DIR=$torch/Torch"
  else
    say "there is a GPU, but python3 has no torch with CUDA, whose LibTorch trains on it: models will train on CPU cores"
    say "  to change that: python3 -m venv DIR && . DIR/bin/activate && pip install torch, remove build/ and start again"
  fi
}

configured() { [ -e "build/$1/build.ninja" ]; }

# differs PRESET CMAKE_ARGUMENT...: whether one of -DNAME=VALUE is not what the folder was configured with.
differs() {
  local cache=build/$1/CMakeCache.txt argument
  shift
  for argument in "$@"; do
    local name=${argument#-D}
    grep -qxE "${name%%=*}:[A-Z]+=${name#*=}" "$cache" || return 0
  done
  return 1
}

# build_progress TERMINAL: of ninja's lines, how far the build is and how long the rest takes at this machine's speed, and
# what went wrong. A line for each twentieth of the build; on a terminal (1) one line that is overwritten.
build_progress() {
  awk -v terminal="$1" 'BEGIN { shown = -1; begin = systime() }
    function left(built, all,   seconds) {
      seconds = (systime() - begin) * (all - built) / built
      if (built < 20 || seconds < 1) return ""
      return seconds < 90 ? sprintf(", about %d s left", seconds + 0.5) : sprintf(", about %d min left", seconds / 60 + 0.5)
    }
    /^\[[0-9]+\/[0-9]+\] / {
      split(substr($1, 2), count, /[\/\]]/)
      now = int((terminal ? 200 : 20) * count[1] / count[2])
      if (now > shown) {
        shown = now
        printf "%shbench: built %d of %d%s%s", terminal ? "\r\033[K" : "", count[1], count[2], left(count[1], count[2]), terminal ? "" : "\n"
        fflush()
      }
      next
    }
    /^ninja: Entering directory/ { next }
    { print (terminal ? "\n" : "") $0; fflush() }
    END { if (terminal) print "" }'
}

# run_ninja FOLDER TARGET
run_ninja() {
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  local terminal=0
  [ ! -t 2 ] || terminal=1
  ninja -C "$1" "$2" 2>&1 | build_progress $terminal >&2
}

# build PRESET TARGET [CMAKE ARGUMENT...]: configures when that was never done, or with other arguments, and builds.
# Quiet when there is nothing to do; one builder at a time.
build() {
  local preset=$1 target=$2 folder=build/$1
  shift 2
  mkdir -p "$folder"
  exec 9> "$folder/.lock"
  flock 9
  if ! configured "$preset" || differs "$preset" "$@"; then
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
    run_ninja "$folder" "$target" || {
      say "the build failed"
      exit 1
    }
  fi
  exec 9>&-
}
