# Shared by ./run and ./test; sourced with the root of the repository as working directory.

say() { printf '%s\n' "holdfast: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# packages_of GROUP...: the packages of these groups in scripts/packages.txt.
packages_of() {
  local group
  for group in "$@"; do
    sed -n "s/^$group  *\([^ #]*\).*/\1/p" scripts/packages.txt
  done
}

as_root() {
  if ((EUID == 0)); then
    env "$@"
  else
    sudo env "$@"
  fi
}

# apt-get has no option to wait for the lock of its lists as it has for dpkg's: wait here.
apt_update() {
  local deadline=$((SECONDS + 300)) output
  until output=$(as_root DEBIAN_FRONTEND=noninteractive apt-get -q update </dev/null 2>&1); do
    if [[ $output != *"Could not get lock"* ]] || ((SECONDS > deadline)); then
      # Not the end: the lists of an earlier update may do.
      printf '%s\n' "$output" >&2
      return
    fi
    sleep 2
  done
}

# install_packages GROUP...: installs what is missing of these groups; silent when nothing is.
install_packages() {
  local package installed output missing=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: taking it that these are installed:" $(packages_of "$@")
    return
  fi
  # It fails when it has never heard of one of them, which is an answer too.
  installed=$(dpkg-query -W -f='${Package}=${db:Status-Status}\n' $(packages_of "$@") 2>/dev/null) || true
  for package in $(packages_of "$@"); do
    if [[ $'\n'$installed$'\n' != *$'\n'"$package=installed"$'\n'* ]]; then missing+=("$package"); fi
  done
  if ((${#missing[@]} == 0)); then return; fi

  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "missing: ${missing[*]}. Install them, or run this as root or where there is sudo."
  fi
  say "installing ${missing[*]}"
  apt_update
  if ! output=$(as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
    install --no-install-recommends "${missing[@]}" </dev/null 2>&1); then
    printf '%s\n' "$output" >&2
    die "could not install ${missing[*]}"
  fi
}

# install_node_modules SOURCE FOLDER: what SOURCE/package.json lists, into FOLDER; silent when it is there.
install_node_modules() {
  local source=$1 folder=$2 output
  if [[ -d $folder/node_modules ]] && cmp -s "$source/package-lock.json" "$folder/package-lock.json"; then
    return
  fi
  say "fetching what $source/package.json lists"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$source/package.json" "$source/package-lock.json" "$folder"
  if ! output=$(cd "$folder" && npm ci --no-audit --no-fund </dev/null 2>&1); then
    printf '%s\n' "$output" >&2
    rm -rf "$folder"
    die "could not fetch the packages that $source/package.json lists"
  fi
}

# install_node_packages: the stand-in for MongoDB.
install_node_packages() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then install_packages node; fi
  install_node_modules tests/support/mongodb build/node
}

# install_browser: the browser that tests the page of `holdfast serve`, and what drives it.
install_browser() {
  install_packages browser
  install_node_modules apps/holdfast/tests/page build/page
}

# build PRESET [TARGET...]: configures and builds these targets, else all; silent when everything is up to
# date.
build() {
  local preset=$1 log=build/$1/configure.log
  shift
  local command=(cmake --build --preset "$preset")
  if (($# > 0)); then command+=(--target "$@"); fi
  mkdir -p "build/$preset"
  # Always: ninja does not notice a change to CMakePresets.json.
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    die "could not configure the preset $preset"
  fi
  if [[ $("${command[@]}" -- -n 2>/dev/null) == *"no work to do"* ]]; then return; fi
  say "building $preset in build/$preset"
  "${command[@]}" --parallel "$(nproc)" >&2 || die "could not build $preset"
}

# run_ctest PRESET [CTEST-ARGUMENT...]: runs the tests that are built.
run_ctest() {
  local preset=$1
  shift
  # ThreadSanitizer does not start where the kernel randomises addresses more than it knows of.
  local wrapper=()
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then wrapper=(setarch -R); fi
  # More than there are cores: many tests wait for a time to pass. Under a sanitizer they compute more.
  local jobs=$(($(nproc) * 2))
  [[ $preset == release ]] || jobs=$(($(nproc) + 1))
  "${wrapper[@]}" ctest --preset "$preset" -j "$jobs" "$@"
}
