#!/bin/sh
# A live study in rounds: ask, hand the proposals over, wait for their losses, tell.
#
#   study.sh STUDY.toml ROUNDS NAME [N]     N proposals a round (8)
#
# `rounds.py ROUNDS --watch` trains, here or on another machine that shares the folder. Stopped and
# started again, it goes on with the round that was under way.
set -eu
study=$1 rounds=$2 name=$3 n=${4:-8}
round=1
while :; do
  file=$rounds/$name-$(printf %03d "$round")
  if [ ! -f "$file.asked.json" ]; then
    lawsmith ask "$study" -n "$n" --json > "$file.part" || break
    mv "$file.part" "$file.asked.json"
  fi
  until [ -f "$file.told.json" ]; do sleep 0.2; done
  lawsmith tell "$study" "$file.told.json"
  round=$((round + 1))
done
rm -f "$file.part"
lawsmith status "$study"
