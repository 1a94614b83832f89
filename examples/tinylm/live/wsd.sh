#!/bin/sh
# The live studies of trunks: several side by side.
#
#   wsd.sh CORPUS FOLDER [STUDY…]     journals and logs come into FOLDER
#
# Without names: whole runs and trunks side by side, first with seed 3, then with seed 4. CORPUS is the
# kernel's, or what `carry.py pack --grid live` took of it. server.py trains all trials. Stopped and
# started again, it goes on. PYTHON and LAWSMITH name other commands than the usual ones, OPTIONS are
# further ones of server.py.
set -eu
corpus=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- "wsd-whole-3 wsd-whole-4" "wsd-trunks-3 wsd-trunks-4"
tinylm=$(cd "$(dirname "$0")/.." && pwd)
shapes="48x2x16 64x3x16 96x3x16 128x4x16 192x4x16 256x5x16"
mkdir -p "$folder/live"
cp "$tinylm/remote.py" "$tinylm/shared.py" "$folder"
export TINYLM_SERVER="$folder/server.socket"
rm -f "$TINYLM_SERVER"

${PYTHON:-python3} "$tinylm/server.py" "$TINYLM_SERVER" --corpus "$corpus" --compile $shapes \
  ${OPTIONS:-} 2>> "$folder/server.log" &
server=$!
trap 'kill $server 2> /dev/null' EXIT
trap 'exit 1' TERM INT
until [ -S "$TINYLM_SERVER" ]; do
  kill -0 $server || exit 1
  sleep 0.2
done

run() {  # studies one after the other
  for name; do
    mkdir -p "$folder/live/$name"
    cp "$tinylm/live/$name/study.toml" "$folder/live/$name"
    ${LAWSMITH:-lawsmith} run "$folder/live/$name/study.toml" >> "$folder/$name.log" 2>&1
  done
}
running="" failed=0
for names; do
  run $names &
  running="$running $!"
done
for process in $running; do
  wait "$process" || failed=1
done
exit $failed
