#!/bin/sh
# Install the Debian packages that tests of windows and pages need, where that is allowed; otherwise
# print the command. The demo and scoring need none of them.
set -eu

packages="xvfb xauth xdotool x11-utils libjack0 libxcb-icccm4 libxcb-keysyms1 libxcb-cursor0
libxkbcommon-x11-0 libegl1 libgl1 libgl1-mesa-dri libglx-mesa0 libglu1-mesa libasound2
fonts-dejavu-core chromium"

command -v dpkg-query >/dev/null 2>&1 || {
  echo "not a Debian system: tests that open a window or a page need Xvfb, Mesa, libjack and Chromium"
  exit 0
}
missing=""
for package in $packages; do
  # libasound2 is libasound2t64 on newer releases; either will do.
  status=$(dpkg-query -W -f '${Status} ' "$package" "${package}t64" 2>/dev/null || true)
  case "$status" in *"install ok installed"*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  run=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  run="sudo"
else
  echo "tests that open a window or a page need more packages; as root: apt-get install$missing"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq
# One at a time where all together fail: a name that this release lacks must not stop the others.
$run apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || for package in $missing; do
  $run apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
    echo "could not install $package; tests that need it will say so"
done
