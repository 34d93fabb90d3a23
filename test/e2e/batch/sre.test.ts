import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { lacks } from '../../fixtures/needs.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type BatchSetup, setUpBatch } from './batch-setup.ts';
import { programFolder } from './scripts-page.ts';

/** A script of an SRE, and what is true when it has ended. */
interface Script {
  readonly title: string;
  readonly text: string;
  /** The droplets that it creates; each exists exactly once. */
  readonly names: readonly string[];
  /** What it prints on stdout; by default nothing. */
  readonly stdout?: string | RegExp;
  /** What standard error contains. */
  readonly stderr: readonly (string | RegExp)[];
  readonly faults?: readonly Omit<FaultSpec, 'match'>[];
  readonly shell?: string;
  /** Needs mounts of its own. */
  readonly mounts?: true;
  /** How often the whole script runs. */
  readonly runs?: number;
}

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at + 1}`);
const like = '--size s-1vcpu-1gb --image ubuntu-24-04-x64';

const scripts: readonly Script[] = [
  {
    title: 'cron without HOME',
    text: `env -i PATH="$PATH" CLOUDCTL_CONFIG_DIR="$CLOUDCTL_CONFIG_DIR" CLOUDCTL_STATE_DIR="$CLOUDCTL_STATE_DIR" \
      CLOUDCTL_TEST_HASTE=100 cloudctl droplets create 'cron-{1..4}' ${like} --if-exists skip --retry-for 1m <&- >cron.log`,
    names: numbered('cron-', 4),
    stderr: [/^ledger: \//],
    runs: 2,
  },
  {
    title: 'cron without HOME and without folders',
    text: `code=0
      env -i PATH="$PATH" cloudctl --profile sandbox-of-cron droplets list || code=$?
      echo "$code"
      env -i PATH="$PATH" CLOUDCTL_CONFIG_DIR="$CLOUDCTL_CONFIG_DIR" CLOUDCTL_STATE_DIR="$CLOUDCTL_STATE_DIR" \
        cloudctl --profile default droplets list >/dev/null`,
    names: [],
    stdout: '2\n',
    stderr: ['HOME is not set', 'CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR'],
  },
  {
    title: 'a full disk below standard output',
    text: `for words in "create full-1 full-2 ${like}" list 'delete full-* --yes'; do
        set -f
        code=0
        cloudctl droplets $words -o json >/dev/full || code=$?
        echo "$code"
      done`,
    names: [],
    stdout: '7\n7\n7\n',
    stderr: ['"output"'],
  },
  {
    title: 'SIGHUP',
    text: `cloudctl droplets create 'hup-{1..40}' ${like} --concurrency 1 -o json --ledger hup.jsonl >rows.json &
      while ! grep -q created hup.jsonl 2>/dev/null; do sleep 0.1; done
      kill -HUP $!
      code=0
      wait $! || code=$?
      echo "$code"
      cloudctl droplets create --ledger hup.jsonl -o json >rows.json`,
    names: numbered('hup-', 40),
    faults: [{ action: 'delay', delay: 1_000, times: 3 }],
    stdout: '129\n',
    stderr: ['"cancelled"'],
  },
  {
    title: 'timeout -k',
    text: `code=0
      timeout -k 5 3 cloudctl droplets create 'slow-{1..40}' ${like} --ledger slow.jsonl --concurrency 1 -o json >rows.json || code=$?
      echo "$code"
      cloudctl droplets create --ledger slow.jsonl --retry-for 1m -o json >rows.json`,
    names: numbered('slow-', 40),
    faults: [{ action: 'delay', delay: 1_000, times: 3 }],
    stdout: '124\n',
    stderr: ['"cancelled"', '--resume'],
  },
  {
    title: 'a tmpfs that fills up',
    text: `mkdir small
      mount -t tmpfs -o size=16k tmpfs small
      code=0
      cloudctl droplets create 'full-{1..300}' ${like} --ledger small/b.jsonl -o json >rows.json || code=$?
      echo "$code"
      mount -o remount,size=4m small
      cloudctl droplets create --ledger small/b.jsonl --retry-for 1m -o json >rows.json`,
    names: numbered('full-', 300),
    mounts: true,
    stdout: '5\n',
    stderr: ['ENOSPC'],
  },
  {
    title: 'xargs -P',
    text: `seq -f 'job-%g' 1 12 | xargs -P 4 -n 3 cloudctl droplets create ${like} -o json >rows.json`,
    names: numbered('job-', 12),
    stderr: [],
  },
  {
    title: 'make -j3 with one ledger',
    text: `code=0
      make -s -k -j3 -f make.txt || code=$?
      [ "$code" -eq 0 ] || [ "$code" -eq 2 ]
      make -s -f make.txt one`,
    names: numbered('mk-', 6),
    faults: [{ action: 'delay', delay: 300, times: 2 }],
    stderr: [],
  },
  {
    title: 'every night with --if-exists skip',
    text: `cloudctl droplets create 'night-{1..3}' ${like} --if-exists skip --retry-for 1m -o json >rows.json
      cloudctl droplets create 'night-{1..5}' ${like} --if-exists skip --retry-for 1m -o json --query "[].status" | jq -c .`,
    names: numbered('night-', 5),
    stdout: `${JSON.stringify(['skipped', 'skipped', 'skipped', 'created', 'created'])}\n${JSON.stringify(Array(5).fill('skipped'))}\n`,
    stderr: [],
    runs: 2,
  },
  {
    title: 'two machines',
    text: `code=0
      CLOUDCTL_STATE_DIR=$PWD/one cloudctl droplets create 'm-{1..40}' ${like} --batch-id release/42 --concurrency 1 -o json >one.json || code=$?
      echo "$code"
      CLOUDCTL_STATE_DIR=$PWD/two cloudctl droplets create 'm-{1..40}' ${like} --batch-id release/42 -o json >two.json`,
    names: numbered('m-', 40),
    faults: [{ action: 'status', status: 403, nth: 2 }],
    stdout: '5\n',
    stderr: ['"batch_partial"'],
  },
  {
    title: 'names from external JSON',
    text: `printf '{"names":"x-1,x-2,x-3"}' | jq -r '.names | split(",")[]' |
      cloudctl droplets create --names-from - ${like} -o json | jq -c 'map({(.name): .status}) | add'`,
    names: numbered('x-', 3),
    stdout: '{"x-1":"created","x-2":"created","x-3":"created"}\n',
    stderr: [],
  },
  {
    title: 'a read-only file system',
    text: `mkdir fixed
      mount -t tmpfs tmpfs fixed
      mount -o remount,ro fixed
      code=0
      CLOUDCTL_STATE_DIR=$PWD/fixed cloudctl droplets create 'ro-{1..3}' ${like} -o json || code=$?
      echo "$code"
      CLOUDCTL_STATE_DIR=$PWD/state cloudctl droplets create 'ro-{1..3}' ${like} -o json >rows.json`,
    names: numbered('ro-', 3),
    mounts: true,
    stdout: /^[17]\n$/,
    stderr: ['EROFS'],
  },
  {
    title: 'a closed pipe',
    text: `set +e
      cloudctl droplets create 'pipe-{1..200}' ${like} --ledger pipe.jsonl --concurrency 1 -o ndjson | head -1 >first.txt
      echo "\${PIPESTATUS[0]}"
      cloudctl droplets create --ledger pipe.jsonl --retry-for 1m -o json >rows.json`,
    names: numbered('pipe-', 200),
    faults: [{ action: 'delay', delay: 100, times: 20 }],
    shell: 'bash',
    stdout: /^[57]\n$/,
    stderr: ['--resume'],
  },
];

const makefile = `all: one two three
one two three:
\t@cloudctl droplets create 'mk-{1..6}' ${like} --ledger make.jsonl -o json >$@.json
.PHONY: all one two three
`;

async function runScript(setup: BatchSetup, { text, shell = 'sh', mounts }: Script, path: string): Promise<Ran> {
  const session = {
    CLOUDCTL_ACCESS_TOKEN: (await tokenFor(setup.sandbox)).access_token,
    CLOUDCTL_BASE_URL: setup.sandbox.ready.base_url,
  };
  const env = { PATH: `${path}:${process.env.PATH}`, ...(text.includes('CLOUDCTL_STATE_DIR=$PWD') ? session : {}) };
  if (mounts === undefined) return setup.shell(shell, text, env);
  writeFileSync(join(setup.work, 'script.sh'), text);
  return setup.shell('sh', 'exec unshare -m sh -eu script.sh', env);
}

describe.skipIf(lacks('bash', 'make', 'xargs', 'jq', 'timeout', 'unshare'))('a script of an SRE', () => {
  it.each(scripts)('$title', async (script) => {
    // Mounts need root, as CI has it.
    if (script.mounts && process.getuid?.() !== 0) return;
    const setup = await setUpBatch();
    const path = programFolder(setup);
    writeFileSync(join(setup.work, 'make.txt'), makefile);
    for (const fault of script.faults ?? [])
      setup.sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, ...fault });
    const ran: Ran[] = [];
    for (let run = 0; run < (script.runs ?? 1); run++) {
      ran.push(await runScript(setup, script, path));
      expect(setup.counts(script.names), ran.at(-1)?.stderr).toEqual(script.names.map(() => 1));
    }
    const stderr = ran.map((one) => one.stderr).join('');
    const stdout = ran.map((one) => one.stdout).join('');
    expect(
      ran.map(({ code }) => code),
      stderr,
    ).toEqual(ran.map(() => 0));
    if (script.stdout instanceof RegExp) expect(stdout).toMatch(script.stdout);
    else expect(stdout).toBe(script.stdout ?? '');
    for (const text of script.stderr) expect(stderr).toMatch(text);
    if (script.title.startsWith('make'))
      for (const code of stderr.match(/"code": *"\w+"/g) ?? []) expect(code).toContain('busy');
    else if (script.stderr.length === 0) expect(stderr).toBe('');
  });
});

it.each([[400], [403]])('a refresh that is refused with %i before anything was sent is exit 4', async (status) => {
  const setup = await setUpBatch({ seed: { record: { expiresAt: 1 } } });
  setup.sandbox.faults.add({ match: { grant_type: 'refresh_token' }, action: 'status', status, times: 100 });
  const ran = await setup.run(['droplets', 'create', 'r-{1..40}', ...like.split(' '), '-o', 'json']);
  expect(ran.code, ran.stderr).toBe(4);
  expect(setup.sandbox.requests('POST /v2/droplets')).toEqual([]);
});
