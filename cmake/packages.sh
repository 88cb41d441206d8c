# Installs the Debian packages of a set of cmake/packages.txt; sourced by ./krepro and .ci/run (bash). Removes nothing,
# starts no service, and asks nothing. Wants: say, stop_with, run_logged (the launcher's), and $root, $log_directory.
# KREPRO_SYSTEM_ROOT replaces "/" for the few files of the system that are touched here; tests set it.

system_root=${KREPRO_SYSTEM_ROOT:-}
policy_file=$system_root/usr/sbin/policy-rc.d
policy_saved=$policy_file.before-krepro
install_lock=$system_root/run/krepro-install.lock
packages_installed=false # true when this call has installed something

am_root() { [[ $(id -u) == 0 ]]; }
has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# package_entries SET: fills entries with lines "ALTERNATIVES GENERATOR" ("-" where every build needs it), and
# entry_names with all package names in them.
package_entries() {
  local set alternatives rest generator
  local -A level=([run]=1 [test]=2 [ci]=3)
  entries=() entry_names=()
  while read -r set alternatives rest; do
    if [[ -z $set || $set == \#* ]] || ((level[${set%%\?*}] > level[$1])); then continue; fi
    generator=-
    if [[ $set == *\?* ]]; then generator=${set#*\?}; fi
    entries+=("$alternatives $generator")
    # shellcheck disable=SC2206 # split into words on purpose
    entry_names+=(${alternatives//|/ })
  done <"$root/cmake/packages.txt"
}

# find_missing SET: fills missing with the entries of which no alternative is installed.
find_missing() {
  local entries entry_names entry alternative alternatives found name state
  local -A installed=()
  package_entries "$1"
  while IFS=: read -r name state; do
    if [[ $state == installed ]]; then installed[$name]=1; fi
  done < <(dpkg-query -W -f '${Package}:${db:Status-Status}\n' "${entry_names[@]}" 2>/dev/null || true)
  missing=()
  for entry in "${entries[@]}"; do
    found=
    alternatives=${entry% *}
    for alternative in ${alternatives//|/ }; do found+=${installed[$alternative]:-}; done
    if [[ -z $found ]]; then missing+=("$entry"); fi
  done
}

# choose_packages: for what is missing, fills chosen (names to install) and unavailable (needed, but unknown to apt).
choose_packages() {
  local entry alternative alternatives names=() pick line name=
  local -A available=()
  for entry in "${missing[@]}"; do
    alternatives=${entry% *}
    # shellcheck disable=SC2206 # split into words on purpose
    names+=(${alternatives//|/ })
  done
  while read -r line; do
    if [[ $line == *: && $line != *\ * ]]; then name=${line%:}; fi
    if [[ $line == Candidate:* && $line != *'(none)' ]]; then available[$name]=1; fi
  done < <(LC_ALL=C apt-cache policy "${names[@]}" 2>/dev/null || true)
  chosen=() unavailable=()
  for entry in "${missing[@]}"; do
    alternatives=${entry% *} pick=
    for alternative in ${alternatives//|/ }; do
      if [[ -z $pick && -n ${available[$alternative]:-} ]]; then pick=$alternative; fi
    done
    if [[ -n $pick ]]; then
      chosen+=("$pick")
    elif [[ $entry == *' -' ]]; then
      unavailable+=("${alternatives%%|*}")
    fi # else: CMake leaves that generator out, and says so
  done
}

# ensure_packages SET: returns when all is there; otherwise installs it, or ends with the line to type.
ensure_packages() {
  local missing chosen unavailable
  if ! has_apt; then
    ensure_tools_without_apt
    return
  fi
  find_missing "$1"
  ((${#missing[@]} > 0)) || return 0
  choose_packages
  # What only an absent generator needs may be unknown to apt: then nothing is left to install.
  ((${#chosen[@]} + ${#unavailable[@]} > 0)) || { am_root && package_lists_are_empty; } || return 0
  am_root || explain_install "${chosen[@]}" "${unavailable[@]}"
  install_packages
}

# explain_install NAME...: for users who may not install.
explain_install() {
  local sudo='' update='' who=', as root'
  if command -v sudo >/dev/null; then sudo='sudo ' who=''; fi
  if ((${#unavailable[@]} > 0)); then update="${sudo}apt-get update && "; fi
  stop_with 3 "$# packages are missing, and only root may install them. Type$who:" \
    "$update${sudo}apt-get install --no-install-recommends --no-remove $*"
}

# No apt: the tools must be there; libraries are found by CMake, which names all that are missing.
ensure_tools_without_apt() {
  local missing=()
  command -v "${CXX:-c++}" >/dev/null || missing+=("a C++20 compiler (${CXX:-c++})")
  command -v cmake >/dev/null || missing+=("cmake 3.25 or later")
  command -v ninja >/dev/null || command -v ninja-build >/dev/null || missing+=("ninja")
  ((${#missing[@]} > 0)) || return 0
  stop_with 3 "this machine has no apt-get, so please install what the build needs:" \
    "missing: $(join_words "${missing[@]}")" \
    "needed besides: pkg-config, fmt, nlohmann-json, CLI11, toml++, hwloc, Boost"
}

join_words() {
  local joined
  printf -v joined '%s, ' "$@"
  printf '%s' "${joined%, }"
}

apt_get=(env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C
  apt-get -q -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=600
  -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold)

# Runs apt-get or dpkg so that a signal does not tear it apart.
run_package_tool() {
  local log=$1 status=0
  shift
  gently=true
  run_logged "$log" "$@" || status=$?
  gently=false
  return "$status"
}

# Installs what was chosen, as root.
install_packages() {
  local updated=false log=$log_directory/packages.log
  mkdir -p "$log_directory"
  : >"$log"
  hold_services
  repair_interrupted_dpkg "$log"
  if ((${#unavailable[@]} > 0)) || package_lists_are_empty; then
    update_package_lists "$log"
    updated=true
    choose_packages
  fi
  if ((${#unavailable[@]} > 0)); then
    stop_with 3 "apt knows no package $(join_words "${unavailable[@]}"): this may be another release than Debian 12." \
      "Install what stands for it here, or add a source that has it; then call this again."
  fi
  if ((${#chosen[@]} > 0)); then
    say_start "installing ${#chosen[@]} packages (once)"
    refuse_to_remove "$log"
    if ! run_package_tool "$log" "${apt_get[@]}" --fix-broken install "${chosen[@]}"; then
      # Package lists that are older than the mirror's name files that are gone.
      $updated || ! grep -qE '404|Failed to fetch|Unable to fetch' "$log" || update_package_lists "$log"
      run_package_tool "$log" "${apt_get[@]}" --fix-broken install "${chosen[@]}" || stop_with_apt_errors "$log"
    fi
    packages_installed=true
    say_end
  fi
  release_services
}

package_lists_are_empty() {
  [[ -z $(find "$system_root/var/lib/apt/lists" -maxdepth 1 -name '*_Packages*' 2>/dev/null || true) ]]
}

update_package_lists() {
  run_package_tool "$1" "${apt_get[@]}" update || stop_with_apt_errors "$1"
}

stop_with_apt_errors() {
  local lines
  mapfile -t lines < <(grep -E '^(E|Err|dpkg): ?' "$1" | tail -n 4)
  stop_with 2 "installing packages failed:" "${lines[@]}" "the whole log: $1"
}

# An interrupted dpkg refuses all further work until it has been told to go on.
repair_interrupted_dpkg() {
  if [[ -n $(dpkg --audit 2>/dev/null || true) || -n $(ls -A "$system_root/var/lib/dpkg/updates" 2>/dev/null || true) ]]; then
    say "finishing a package installation that was interrupted ..."
    # What it cannot configure yet for want of other packages, --fix-broken completes below.
    run_package_tool "$1" env DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold --configure -a || true
  fi
}

# Ends with the line to type where apt would have to remove a package of the user's.
refuse_to_remove() {
  local removed
  if "${apt_get[@]}" -s --fix-broken install "${chosen[@]}" >>"$1" 2>&1; then return 0; fi
  removed=$(LC_ALL=C apt-get -s -y --no-install-recommends install "${chosen[@]}" 2>/dev/null |
    awk '/^Remv / { print $2 }' | paste -s -d ' ' || true)
  [[ -n $removed ]] || stop_with_apt_errors "$1"
  stop_with 3 "the packages that are missing conflict with installed ones, and krepro removes nothing." \
    "This line would remove: $removed" \
    "If that is right for you, type it, and call krepro again:" \
    "apt-get install --no-install-recommends ${chosen[*]}"
}

# Packages must not start servers on a machine that measures: a policy-rc.d says no while the lock is held. Left over
# by a killed call it steps aside by itself, and the next call removes it. What stood there before comes back.
hold_services() {
  mkdir -p "${policy_file%/*}" "${install_lock%/*}"
  exec 8>"$install_lock"
  flock -n 8 || {
    say "waiting for another krepro that installs packages ..."
    flock 8
  }
  restore_policy
  if [[ -e $policy_file || -L $policy_file ]]; then mv "$policy_file" "$policy_saved"; fi
  cat >"$policy_file.new" <<POLICY
#!/bin/sh
# Put here by krepro for as long as it installs packages: no service is started meanwhile.
if ! flock -n '$install_lock' true; then exit 101; fi
if [ -e '$policy_saved' ]; then mv -f '$policy_saved' "\$0" && exec "\$0" "\$@"; fi
rm -f "\$0"
exit 0
POLICY
  chmod 755 "$policy_file.new"
  mv "$policy_file.new" "$policy_file"
  services_held=true
  enabled_before=$(enabled_units)
}

# Also called when the call is interrupted.
release_services() {
  ${services_held:-false} || return 0
  services_held=false
  disable_new_units
  restore_policy
  exec 8>&-
}

restore_policy() {
  if grep -qs 'Put here by krepro' "$policy_file"; then rm -f "$policy_file"; fi
  rm -f "$policy_file.new"
  if [[ -e $policy_saved || -L $policy_saved ]]; then mv "$policy_saved" "$policy_file"; fi
}

enabled_units() {
  find "$system_root/etc/systemd/system" -type l -path '*.wants/*' 2>/dev/null | sort || true
}

# Nor may they start at the next boot: the links that this installation added are what `systemctl disable` would remove.
disable_new_units() {
  local link names=()
  while read -r link; do
    [[ -n $link ]] || continue
    rm -f "$link"
    names+=("${link##*/}")
  done < <(comm -13 <(echo "$enabled_before") <(enabled_units))
  ((${#names[@]} == 0)) || say "not started, and not enabled at boot: $(join_words "${names[@]}")"
}
