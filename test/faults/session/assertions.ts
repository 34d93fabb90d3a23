import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Secret } from '../../../src/base/secret.ts';
import type { LoggedRequest } from '../../../src/sandbox/request-log.ts';
import type { Ran, Running } from '../../fixtures/cli.ts';
import { processesOf } from '../../fixtures/processes.ts';
import { type FaultFixture, leaksOf, type RunOptions } from './fault-fixture.ts';

/** The ends that a session may come to. */
export type SessionEnd = 'usable' | 'needs_login' | 'busy';

/** Whoever was interrupted: the next command is run as a person would run it. */
export async function runNextCommand(fixture: FaultFixture, more: RunOptions = {}): Promise<SessionEnd> {
  const ran = await fixture.run(['actions', 'list', '-o', 'json'], more);
  return endOf(ran);
}

export function endOf(ran: Ran): SessionEnd {
  if (ran.code === 0) {
    expect(Array.isArray(ran.json())).toBe(true);
    return 'usable';
  }
  const code = errorOf(ran);
  if (code === 'needs_login' && ran.code === 4) return code;
  if (code === 'busy' && ran.code === 1) return code;
  throw new Error(`neither usable nor needs_login nor busy: exit ${ran.code ?? ran.signal}\n${ran.stderr}`);
}

/** The code of the error that a command with `-o json` printed. */
export function errorOf({ stderr }: Ran): string | undefined {
  const line = stderr.split('\n').findLast((text) => text.startsWith('{"error"')) ?? stderr.slice(stderr.indexOf('{'));
  try {
    const { error }: { readonly error?: { readonly code?: string } } = JSON.parse(line);
    return error?.code;
  } catch {
    return undefined;
  }
}

/** Refreshes the server carried out. */
export function refreshCommits(fixture: FaultFixture): readonly LoggedRequest[] {
  return fixture.refreshes().filter(({ status, committed }) => status === 200 && committed !== false);
}

/**
 * What must hold whatever happened: each commit of the server is in the store as one generation, but for `lost` of them, so
 * what is stored is what the server takes at the next refresh; the generation never fell (the fixture looks at each read); and
 * no secret is in any file or output.
 */
export async function expectInvariants(
  fixture: FaultFixture,
  { lost = 0 }: { readonly lost?: number } = {},
): Promise<void> {
  const item = await fixture.item();
  expect(item?.gen).toBe(1 + refreshCommits(fixture).length - lost);
  if (lost === 0) expect(fateOf(fixture, item?.refreshToken)).toMatch(/^(valid|expired)$/);
  expectNoSecretLeaked(fixture);
}

/** What the server thinks of the pair of this refresh token: `expired` is its access token alone. */
function fateOf({ sandbox: { world } }: FaultFixture, refreshToken: Secret | undefined): string {
  const pair = world.grants.pairByRefreshToken(refreshToken?.reveal() ?? '');
  return pair === undefined ? 'unknown' : world.grants.pairState(pair);
}

/** No secret is in a file beside the record, in an output, or in the log of the server. */
export function expectNoSecretLeaked(fixture: FaultFixture): void {
  const log = JSON.stringify(fixture.sandbox.requests());
  for (const secret of fixture.secrets) {
    expect(secret.length).toBeGreaterThanOrEqual(20);
    expect(leaksOf(fixture, secret)).toEqual([]);
    expect(log.includes(secret)).toBe(false);
    expect(fixture.printed.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(secret))).toEqual([]);
  }
}

/** No secret is in the arguments or the environment of any living process, but for the client secret, which the person gave so. */
export function expectNoSecretInProcesses(fixture: FaultFixture): void {
  const seen = processesOf(fixture.folders);
  expect(seen.length).toBeGreaterThan(0);
  for (const secret of fixture.secrets) {
    if (secret === fixture.sandbox.ready.client_secret) continue;
    const showing = seen.filter(({ argv, environment }) =>
      [...argv, ...environment].some((text) => text.includes(secret)),
    );
    expect(showing).toEqual([]);
  }
}

/** Kills the program by its own hand at a point. */
export async function killedAt(
  fixture: FaultFixture,
  point: string,
  words = list,
  more: RunOptions = {},
): Promise<void> {
  const ran = await fixture.run(words, { ...more, env: { ...more.env, CLOUDCTL_TEST_KILL_AT: point } });
  if (ran.signal !== 'SIGKILL') throw new Error(`${point} was not reached: exit ${ran.code}\n${ran.stderr}`);
}

export const list: readonly string[] = ['actions', 'list', '-o', 'json'];

/** Starts the program and waits until it has stopped itself at a point. */
export async function stoppedAt(
  fixture: FaultFixture,
  point: string,
  words = list,
  more: RunOptions = {},
): Promise<Running> {
  const running = fixture.start(words, { ...more, env: { ...more.env, CLOUDCTL_TEST_STOP_AT: point } });
  void running.ended.then(
    (ran) => fixture.printed.push(ran),
    () => undefined,
  );
  await until(() => stateOf(running.pid) === 'T', `the program to stop at ${point}`, running);
  return running;
}

/** T is stopped. */
function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s*(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

export async function until(holdsNow: () => boolean, what: string, running?: Running): Promise<void> {
  for (let left = 3_000; !holdsNow(); left--) {
    if (left === 0 || (running !== undefined && running.child.exitCode !== null))
      throw new Error(`waited in vain for ${what}\n${running?.printed().stderr ?? ''}`);
    await after(20);
  }
}
