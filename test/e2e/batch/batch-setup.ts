import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { node, type Ran, type Running, type RunOptions, startProgram } from '../../fixtures/cli.ts';
import type { Environment, Folders } from '../../fixtures/folders.ts';
import { testHost } from '../../fixtures/host.ts';
import { type Seed, seedSession } from '../../fixtures/session.ts';
import { sandboxFor } from '../../sandbox/requests.ts';

export const sizeAndImage = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

const defaultAcceleration = 100;
/** The program whose waits can be shortened; it is built before the tests (scripts/build-before-tests.mjs). */
const entry = fileURLToPath(new URL('../../../dist-test/entry.cjs', import.meta.url));

export interface Row {
  readonly name: string;
  readonly status: string;
  readonly id?: number;
  readonly error?: string;
}

/** A sandbox in this process, and a machine that is logged in to it, on which the test build runs. */
export interface BatchSetup {
  readonly sandbox: SandboxServers;
  readonly work: string;
  readonly folders: Folders;
  readonly batches: string;
  start(args: readonly string[], options?: Partial<RunOptions>): Running;
  run(args: readonly string[], options?: Partial<RunOptions> & { readonly stdin?: string }): Promise<Ran>;
  /** Replaces the session. */
  logIn(seed: Seed): Promise<unknown>;
  /** Runs a script; the first error ends it. */
  shell(program: string, script: string, env: Environment): Promise<Ran>;
  /** The test build, as a shell has to write it. */
  readonly command: string;
  /** How many droplets have each name, as the server counts them. */
  counts(names: readonly string[]): readonly number[];
  ids(name: string): readonly number[];
  /** Every droplet of the account. */
  droplets(): readonly { readonly name: string; readonly id: number }[];
}

export interface BatchSetupOptions {
  /** The sandbox of another machine. */
  readonly sandbox?: SandboxServers;
  /** Who is logged in at first; the droplets of this account are counted. */
  readonly seed?: Seed;
  /** Each of the waits takes so much less than in the product. */
  readonly acceleration?: number;
}

export async function setUpBatch(options: BatchSetupOptions = {}): Promise<BatchSetup> {
  const host = testHost();
  const sandbox = options.sandbox ?? (await sandboxFor({ rateLimit: '1000000/h' }));
  const { record } = await seedSession(host, sandbox, options.seed);
  const acceleration = String(options.acceleration ?? defaultAcceleration);
  mkdirSync(host.place.work, { recursive: true });
  const [user] = sandbox.ready.users;
  const account = record.accountUuid ?? user?.uuid ?? '';
  const start: BatchSetup['start'] = (args, options = {}) => {
    const running = startProgram(node, [entry, ...args], {
      folders: host.place,
      limit: 110_000,
      ...options,
      env: { CLOUDCTL_TEST_HASTE: acceleration, ...options.env },
    });
    onTestFinished(() => running.kill('SIGKILL'));
    return running;
  };
  const byName = (): ReadonlyMap<string, readonly number[]> => {
    const ids = new Map<string, number[]>();
    for (const { name, id } of sandbox.world.droplets.of(account)) ids.set(name, [...(ids.get(name) ?? []), id]);
    return ids;
  };
  return {
    sandbox,
    work: host.place.work,
    folders: host.place,
    batches: join(host.place.state, 'batches'),
    start,
    run: (args, options = {}) => {
      const running = start(args, options);
      running.child.stdin?.end(options.stdin ?? '');
      return running.ended;
    },
    logIn: (seed) => seedSession(host, sandbox, seed),
    command: `'${node}' '${entry}'`,
    shell: (program, script, env) => {
      const options = { folders: host.place, limit: 110_000, env: { CLOUDCTL_TEST_HASTE: acceleration, ...env } };
      const running = startProgram(program, ['-euc', script], options);
      running.child.stdin?.end();
      return running.ended;
    },
    counts: (names) => {
      const ids = byName();
      return names.map((name) => ids.get(name)?.length ?? 0);
    },
    ids: (name) => byName().get(name) ?? [],
    droplets: () => sandbox.world.droplets.of(account),
  };
}

/** Another machine of the same account: a state folder of its own, with an access token instead of the session. */
export async function anotherMachine(setup: BatchSetup, name = 'another-machine'): Promise<Environment> {
  const { code, stdout, stderr } = await setup.run(['auth', 'token']);
  if (code !== 0) throw new Error(`auth token ended with ${code}: ${stderr}`);
  return {
    CLOUDCTL_STATE_DIR: join(setup.work, name),
    CLOUDCTL_ACCESS_TOKEN: stdout.trim(),
    CLOUDCTL_BASE_URL: setup.sandbox.ready.base_url,
  };
}

/** A file of names, and how the program is told of it. */
export function namesFile({ work }: BatchSetup, names: readonly string[]): readonly string[] {
  const path = join(work, 'names.txt');
  writeFileSync(path, `${names.join('\n')}\n`);
  return ['--names-from', path];
}

/** The ledger a run printed: in a line on stderr, or in its JSON rows. */
export function ledgerOf(text: string): string {
  const path = /^ledger: (.+)$/m.exec(text)?.[1] ?? /"ledger": ?"([^"]+)"/.exec(text)?.[1];
  if (path === undefined) throw new Error(`no ledger was printed:\n${text}`);
  return path;
}

export interface Ended {
  readonly rows: readonly Row[];
  readonly runs: number;
  readonly code: number | null;
}

export interface CompleteOptions {
  /** After how many milliseconds a run is killed, if it is. */
  readonly kill?: (run: number) => number | undefined;
  readonly runs?: number;
}

/** Runs a batch and resumes it until exit 0, or until so many runs were made. */
export async function runUntilComplete(
  setup: BatchSetup,
  first: readonly string[],
  { kill = () => undefined, runs = 12 }: CompleteOptions = {},
): Promise<Ended> {
  let words = ['droplets', 'create', ...first];
  for (let run = 1; ; run++) {
    const running = setup.start([...words, '--timeout', '1s', '-o', 'ndjson']);
    running.child.stdin?.end();
    const after = kill(run);
    if (after !== undefined) {
      await running.waitFor('stderr', /^ledger: /m);
      await sleep(after);
      running.kill('SIGKILL');
    }
    const ran = await running.ended;
    if (ran.code === 0 || (run === runs && ran.signal === null))
      return { rows: ndjsonRows(ran.stdout), runs: run, code: ran.code };
    words = ['droplets', 'create', '--resume', ledgerOf(ran.stderr)];
  }
}

export function ndjsonRows(text: string): readonly Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Row => JSON.parse(line));
}

/** Numbers from 0 to 1 that are the same for a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What can go wrong with a creation, each in the way a network does it. */
export const creationFaults: readonly Pick<FaultSpec, 'action' | 'delay' | 'status'>[] = [
  { action: 'delay', delay: 1_500 },
  { action: 'status', status: 500 },
  { action: 'status', status: 503 },
  { action: 'drop_before_commit' },
  { action: 'commit_then_drop' },
  { action: 'half_body' },
  { action: 'bad_json' },
  { action: 'html_502' },
  { action: 'redirect_307' },
  { action: 'reset' },
  { action: 'slow_drip', delay: 1 },
  { action: 'rate_limit' },
];

/** Lets faults meet some of the next so many creations. */
export function addRandomFaults(
  { sandbox }: BatchSetup,
  faults: readonly Pick<FaultSpec, 'action' | 'delay' | 'status'>[],
  { times, among, chance }: { readonly times: number; readonly among: number; readonly chance: () => number },
): void {
  for (let at = 0; at < times; at++) {
    const fault = faults[Math.floor(chance() * faults.length)];
    if (fault === undefined) continue;
    const nth = 1 + Math.floor(chance() * among);
    sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, nth, ...fault });
  }
}
