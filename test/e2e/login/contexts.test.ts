import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ran, type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { type Person, type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { errorOf } from './machine.ts';

/** The contexts of one person, whose account has the same UUID in both. */
const contexts = ['personal', 'team'] as const;
type Context = (typeof contexts)[number];

const names = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5', 'web-6'];
const like = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'ams3'];
const oneByOne = ['--batch-size', '1', '--concurrency', '1'];

let sandbox: Sandbox;
let place: Folders;
let tomas: Person;
let folders: Folders;
beforeAll(async () => {
  place = makeFolders();
  sandbox = await startSandbox(place, ['--no-profile']);
  const person = sandbox.users.find(({ teams }) => teams.length > 0);
  if (person === undefined) throw new Error('the sandbox has no person with a team');
  tomas = person;
});
afterAll(async () => {
  await sandbox.stop();
  place.remove();
});
beforeEach(async () => {
  folders = makeFolders();
  await sandbox.admin('POST', '/_sandbox/reset');
});
afterEach(() => folders.remove());

const options = (): RunOptions => ({ folders, env: sandbox.env });
const teamOf = (context: Context): { team?: string | undefined } =>
  context === 'team' ? { team: tomas.teams[0]?.uuid } : {};

/** Logs in with the consent page answered for this context. */
async function logInAs(context: Context): Promise<void> {
  const script = { mode: 'approve', user: tomas.email, ...teamOf(context) };
  expect((await sandbox.admin('POST', '/_sandbox/consent', script)).status).toBe(200);
  expect((await logIn(options(), ['--scope', 'read write', '--force'])).code).toBe(0);
}

/** Droplets of each name in a context, as the server lists them for a token of that context. */
async function countedIn(context: Context): Promise<readonly number[]> {
  const { body } = await sandbox.admin('POST', '/_sandbox/tokens', { user: tomas.email, ...teamOf(context) });
  const { access_token: token } = body as { readonly access_token: string };
  const answer = await fetch(`${sandbox.base_url}/v2/droplets?per_page=200`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { droplets } = (await answer.json()) as { readonly droplets: readonly { readonly name: string }[] };
  return names.map((name) => droplets.filter((droplet) => droplet.name === name).length);
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
const none = names.map(() => 0);
const once = names.map(() => 1);

async function accessToken(): Promise<string> {
  return (await run(['auth', 'token'], options())).stdout.trim();
}

/** Starts a batch of all names, each of which takes a while, and calls `interfere` once two exist. */
async function batchWith(context: Context, interfere: () => Promise<unknown>): Promise<Ran> {
  const fault = { match: { method: 'POST', path: '/v2/droplets' }, action: 'delay', delay: 250, times: names.length };
  expect((await sandbox.admin('POST', '/_sandbox/faults', fault)).status).toBeLessThan(300);
  const running = start(['droplets', 'create', ...names, ...like, ...oneByOne], options());
  running.child.stdin?.end();
  while (total(await countedIn(context)) < 2) await sleep(30);
  await interfere();
  const ran = await running.ended;
  await sandbox.admin('DELETE', '/_sandbox/faults');
  return ran;
}

const ledgerOf = ({ stderr }: Ran): string => /^ledger: (.+)$/m.exec(stderr)?.[1] ?? '';
const resume = (ledger: string, ...more: readonly string[]): Promise<Ran> =>
  run(['droplets', 'create', '--resume', ledger, ...more], options());

describe.each(contexts)('a batch in the %s context', (context) => {
  const other: Context = context === 'team' ? 'personal' : 'team';

  test('whose session is revoked goes on after a login in the same context only, and creates each name once', async () => {
    await logInAs(context);
    const token = await accessToken();
    const stopped = await batchWith(context, () => sandbox.admin('POST', '/_sandbox/tokens/revoke', { token }));
    expect(stopped.code).not.toBe(0);
    const before = await countedIn(context);
    expect(total(before)).toBeGreaterThanOrEqual(2);
    expect(total(before)).toBeLessThan(names.length);
    const ledger = ledgerOf(stopped);
    expect((await resume(ledger)).code).toBe(4);

    await logInAs(other);
    const refused = await resume(ledger, '-o', 'json');
    expect(refused.code).toBe(4);
    expect(errorOf(refused).exit_code).toBe(4);
    expect([await countedIn(context), await countedIn(other)]).toEqual([before, none]);

    await logInAs(context);
    expect((await resume(ledger)).code).toBe(0);
    expect([await countedIn(context), await countedIn(other)]).toEqual([once, none]);
  });

  test('whose access token expires is refreshed and goes on, and creates each name once', async () => {
    await logInAs(context);
    const token = await accessToken();
    const ran = await batchWith(context, () => sandbox.admin('POST', '/_sandbox/tokens/expire', { token }));
    expect(ran.code).toBe(0);
    expect(await accessToken()).not.toBe(token);
    expect([await countedIn(context), await countedIn(other)]).toEqual([once, none]);
    const status = await run(['auth', 'status', '-o', 'json'], options());
    expect(status.json<{ readonly team_uuid?: string }>().team_uuid).toBe(teamOf(context).team);
  });

  test('after a switch of the context is not resumed; a new batch is of the other context', async () => {
    await logInAs(context);
    const fault = { match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 403, nth: 3 };
    await sandbox.admin('POST', '/_sandbox/faults', fault);
    const stopped = await run(['droplets', 'create', ...names, ...like, ...oneByOne], options());
    expect(stopped.code).toBe(5);
    await sandbox.admin('DELETE', '/_sandbox/faults');
    const before = await countedIn(context);
    expect(total(before)).toBe(2);

    await logInAs(other);
    expect((await resume(ledgerOf(stopped))).code).toBe(4);
    expect([await countedIn(context), await countedIn(other)]).toEqual([before, none]);
    expect((await run(['droplets', 'create', ...names, ...like], options())).code).toBe(0);
    expect([await countedIn(context), await countedIn(other)]).toEqual([before, once]);

    await logInAs(context);
    expect((await resume(ledgerOf(stopped))).code).toBe(0);
    expect([await countedIn(context), await countedIn(other)]).toEqual([once, once]);
  });
});
