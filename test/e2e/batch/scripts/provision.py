"""subprocess with captured pipes: the rows are JSON, and so is the error."""
import json
import subprocess
import sys

attributes = ["--size", "s-1vcpu-1gb", "--image", "ubuntu-24-04-x64"]


def create(names, region):
    command = ["cloudctl", "droplets", "create", "--names-from", "-", "--region", region, "-o", "json"]
    return subprocess.run(command + attributes, input="\n".join(names), capture_output=True, text=True)


created = create([f"py-{n}" for n in range(12)], "nyc3")
if created.returncode != 0 or created.stderr != "":
    sys.exit(f"exit {created.returncode}: {created.stderr}")
rows = json.loads(created.stdout)
assert all(row["ledger"].endswith(".jsonl") for row in rows)

refused = create(["py-refused"], "atlantis")
error = json.loads(refused.stderr)["error"]
assert error["exit_code"] == refused.returncode
assert [row["status"] for row in json.loads(refused.stdout)] == ["failed"]

for row in rows:
    print(json.dumps({"name": row["name"], "id": row["id"]}))
print(json.dumps({"code": error["code"], "exit": refused.returncode}))
