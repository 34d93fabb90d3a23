#!/usr/bin/env bash
# Strict mode, process substitution, arrays.
set -euo pipefail
attributes=(--size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3)

mapfile -t rows < <(cloudctl droplets create --names-from <(printf '%s\n' 'sql-{01..03}') "${attributes[@]}" \
  -o csv --format Name,ID --no-header)
declare -A id_of
for row in "${rows[@]}"; do
  IFS=, read -r name id <<<"$row"
  id_of[$name]=$id
done
[ "${#id_of[@]}" -eq 3 ]

# What the server has and the first command did not print.
diff <(printf '%s\n' "${!id_of[@]}" | sort) <(cloudctl droplets list 'sql-*' -o json --query '[].name' | jq -r '.[]' | sort)

if cloudctl droplets create sql-01 "${attributes[@]}" -o json >again.json 2>error.json; then
  exit 1
else
  code=$?
fi
for name in "${!id_of[@]}"; do printf '{"name":"%s","id":%s}\n' "$name" "${id_of[$name]}"; done
printf '{"again":%s,"error":%s}\n' "$code" "$(jq -c .error.code error.json)"
