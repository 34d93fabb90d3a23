import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bin, node, type Ran, startProgram } from '../../fixtures/cli.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type BatchSetup, setUpBatch } from './batch-setup.ts';

interface Script {
  /** A file of the folder `scripts`. */
  readonly file: string;
  /** The command line that runs it. */
  readonly command: readonly string[];
  /** Every droplet that exists afterwards, each once. */
  readonly names: readonly string[];
  /** Changes of the environment; `undefined` removes a variable. */
  readonly env?: Environment;
  /** The script gets its access token from the environment, as in a CI job. */
  readonly token?: boolean;
  /** The number of `ledger:` lines on stderr, one for each program with ndjson that creates several droplets. */
  readonly ledgers: number;
  /** What the script prints besides one object for each droplet. */
  readonly also?: readonly object[];
}

const numbered = (prefix: string, count: number, digits = 1): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at + 1).padStart(digits, '0')}`);

const scripts: readonly Script[] = [
  {
    ...{ file: 'strict.bash', command: ['bash'], ledgers: 1 },
    names: numbered('sql-', 3, 2),
    also: [{ again: 2, error: 'usage' }],
  },
  { file: 'plain.dash', command: ['dash'], names: numbered('app-', 2), ledgers: 0 },
  {
    ...{ file: 'provision.py', command: ['python3'], ledgers: 0 },
    names: Array.from({ length: 12 }, (_, at) => `py-${at}`),
    also: [{ code: 'api_error', exit: 1 }],
  },
  { file: 'Makefile', command: ['make', '-j4', '-f'], names: numbered('mk-', 6), ledgers: 0 },
  { file: 'xargs.sh', command: ['sh'], names: numbered('job-', 16, 2), ledgers: 0 },
  {
    ...{ file: 'cron.sh', command: ['env', '-i', 'PATH=/usr/bin:/bin', 'sh', '-c', 'exec sh "$0" <&-'] },
    ...{ names: numbered('nightly-', 4), ledgers: 1 },
  },
  {
    ...{ file: 'no-home.sh', command: ['sh'], names: numbered('c-', 2), ledgers: 0, token: true },
    env: { HOME: undefined, XDG_RUNTIME_DIR: undefined, DBUS_SESSION_BUS_ADDRESS: undefined, LANG: undefined },
  },
  {
    ...{ file: 'ci.bash', command: ['bash'], names: ['run-7-a', 'run-7-b', 'run-7-c'], ledgers: 0, token: true },
    env: { CI: 'true', RUN_ID: '7' },
  },
  {
    ...{ file: 'head.bash', command: ['bash'], ledgers: 0 },
    names: numbered('head-', 1500, 4),
    also: [{ code: 5 }],
  },
  { file: 'here-document.sh', command: ['dash'], names: numbered('win-', 5), ledgers: 1 },
  { file: 'while-read.sh', command: ['sh'], names: numbered('loop-', 4), ledgers: 0 },
  {
    ...{ file: 'provision.mjs', command: [node], names: numbered('js-', 25, 2), ledgers: 1 },
    also: [{ exit: 2, code: 'usage' }],
  },
];

describe.skipIf(lacks('bash', 'dash', 'python3', 'make', 'xargs', 'jq'))('a script that creates droplets', () => {
  it.each(scripts)('$file', async (script) => {
    const fixture = await setUpBatch();
    const existing = new Set(fixture.droplets().map(({ id }) => id));
    const { code, stdout, stderr } = await runScript(fixture, script);
    const { names, ledgers, also = [] } = script;
    const created = fixture.droplets().filter(({ id }) => !existing.has(id));
    expect({ code, stdout, stderr: stderr.replaceAll(/\/\S+\/(?=[0-9a-f]{12}\.jsonl)/g, '…/') }).toMatchObject({
      code: 0,
    });
    expect(created.map(({ name }) => name).sort()).toEqual([...names].sort());
    const printed = ndjsonObjects(stdout);
    const ids = printed.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids)).toEqual(new Set(created.map(({ id }) => id)));
    expect(printed.filter(({ id }) => id === undefined)).toEqual(also);
    expect(stderr.match(/^ledger: .*\.jsonl$/gm) ?? []).toHaveLength(ledgers);
  });
});

function ndjsonObjects(text: string): readonly { readonly id?: number }[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): { readonly id?: number } => JSON.parse(line));
}

async function runScript({ work, sandbox, folders }: BatchSetup, { file, command, env, token }: Script): Promise<Ran> {
  const path = join(work, file);
  copyFileSync(fileURLToPath(new URL(`scripts/${file}`, import.meta.url)), path);
  const programs = join(work, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'cloudctl'), `#!/bin/sh\nexec '${node}' '${bin}' "$@"\n`);
  chmodSync(join(programs, 'cloudctl'), 0o755);
  const session = token === true ? await tokenVariables(sandbox) : {};
  const [program = '', ...args] = [...command, path];
  const running = startProgram(program, args, {
    folders,
    limit: 110_000,
    env: { PATH: `${programs}:${process.env.PATH}`, ...session, ...env },
  });
  running.child.stdin?.end();
  return running.ended;
}

/** A machine without a stored session or profile. */
async function tokenVariables(sandbox: BatchSetup['sandbox']): Promise<Environment> {
  const { access_token } = await tokenFor(sandbox);
  return {
    CLOUDCTL_ACCESS_TOKEN: access_token,
    CLOUDCTL_BASE_URL: sandbox.ready.base_url,
    CLOUDCTL_CONFIG_DIR: undefined,
    CLOUDCTL_STATE_DIR: undefined,
  };
}
