#!/usr/bin/env bash
# check_monitoring.sh SOURCE EXAMPLE: a real Prometheus scrapes the example; the sample rules are valid and fire as
# rules_test.yml says; each query of the sample board returns data.
set -euo pipefail
source=$1 example=$2
work=$(mktemp -d)
pids=()
finish() {
  exec 8>&- || true
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# eventually COMMAND…: succeeds as soon as the command does, fails after a minute.
eventually() {
  local deadline=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

cp "$source/docs/monitoring/holdfast-rules.yml" "$source/tests/metrics/rules_test.yml" "$work"
promtool check rules "$work/holdfast-rules.yml" >"$work/check" || fail "$(cat "$work/check")"
promtool test rules "$work/rules_test.yml" >"$work/check" || fail "$(cat "$work/check")"

# The service ends when its input does.
mkfifo "$work/input"
"$example" 127.0.0.1:0 <"$work/input" >"$work/service" &
pids+=($!)
exec 8>"$work/input"
eventually grep -q 'metrics on port' "$work/service" || fail "the example does not serve"
port=$(sed -n 's/^metrics on port //p' "$work/service")

cat >"$work/prometheus.yml" <<YML
global: {scrape_interval: 500ms}
rule_files: [$work/holdfast-rules.yml]
scrape_configs:
  - job_name: example
    static_configs: [{targets: ["127.0.0.1:$port"]}]
YML

# Prometheus does not say which port it has chosen: it gets one, and another where that is taken.
free_port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
is_ready_or_over() { grep -q 'Server is ready' "$work/log" || ! kill -0 "$server" 2>/dev/null; }
for _ in 1 2 3; do
  address=127.0.0.1:$(free_port)
  prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="$address" \
    >"$work/log" 2>&1 8>&- &
  server=$!
  pids+=("$server")
  eventually is_ready_or_over || break
  if kill -0 "$server" 2>/dev/null; then break; fi
done
grep -q 'Server is ready' "$work/log" || fail "$(cat "$work/log")"

# has_data QUERY: succeeds if the query has a result, and its values are numbers.
has_data() {
  promtool query instant "http://$address" "$1" >"$work/answer" 2>&1 && grep -q '=>' "$work/answer" &&
    ! grep -q 'NaN' "$work/answer"
}
count=0
while IFS= read -r query; do
  query=${query//'$__rate_interval'/1m}
  query=${query//'$group'/.*}
  eventually has_data "$query" || fail "no data for: $query" "$(cat "$work/answer")"
  count=$((count + 1))
done < <(node -e '
  const board = require(process.argv[1]);
  for (const panel of board.panels) for (const target of panel.targets) console.log(target.expr);
' "$source/docs/monitoring/grafana-board.json")
((count >= 10)) || fail "only $count queries in the board"
