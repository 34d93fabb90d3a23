import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildShareSchemaSql } from '../../../../src/shared-store/postgresql-schema.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareMachines } from './share-fixture.ts';

/** Whoever owns the server changes rows behind the functions. */
let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
  await server.query(buildShareSchemaSql());
});
afterAll(() => server?.stop());

async function joinedMachine() {
  const url = `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres`;
  const fixture = await shareMachines(url);
  const host = await fixture.first();
  await fixture.login(host);
  expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
  const share = fixture.keysOf(host).split('.')[1] ?? '';
  const change = (set: string) => server.query(`UPDATE cloudctl_share.session SET ${set} WHERE share = '${share}'`);
  const refreshes = () =>
    fixture.sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token').length;
  return { fixture, host, share, change, refreshes };
}

const statusOf = async (host: TestHost) =>
  (await runCloudctl(host, ['auth', 'share', 'status', '-o', 'json'])).json<Record<string, unknown>>();

describe('a row that was changed in the server', () => {
  it.each([
    ['another epoch', 'epoch = epoch + 1'],
    ['another generation', 'gen = gen + 1'],
    ['another session', "sid = 'ffffffffffffffff', epoch = epoch + 1"],
    ['another record', "record = 'AAAA', gen = gen + 1"],
  ])('%s: it is damaged, nothing is sent with it, and the access token of the copy works', async (_name, set) => {
    const { host, change, refreshes } = await joinedMachine();
    await change(set);
    expect(await statusOf(host)).toMatchObject({ state: 'damaged' });
    const refreshed = await runCloudctl(host, ['auth', 'refresh', '-o', 'json']);
    expect(refreshed.error()).toMatchObject({ code: 'not_logged_in' });
    expect(refreshes()).toBe(0);
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
    // A logout replaces the row.
    expect((await runCloudctl(host, ['auth', 'logout'])).code).toBe(0);
    expect(await statusOf(host)).toMatchObject({ state: 'no_session' });
  });

  it('an epoch of 15 digits: login and logout leave the row, and the session goes on after it was deleted', async () => {
    const { host, share, change } = await joinedMachine();
    await change("epoch = 999999999999999, record = 'AAAA'");
    const login = ['auth', 'login', '--with-token', '--force', '-o', 'json'];
    const { out: stdin } = await runCloudctl(host, ['auth', 'token', '--cached']);
    expect((await runCloudctl(host, login, { stdin })).error()).toMatchObject({ exit_code: 6 });
    expect((await runCloudctl(host, ['auth', 'logout', '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect(await statusOf(host)).toMatchObject({ state: 'damaged', epoch: 999_999_999_999_999 });
    await server.query(`DELETE FROM cloudctl_share.session WHERE share = '${share}'`);
    expect((await runCloudctl(host, ['auth', 'status', '--check'])).code).toBe(0);
    expect(await statusOf(host)).toMatchObject({ state: 'session' });
  });

  it('the record of another share is damaged, also with its labels', async () => {
    const [one, other] = [await joinedMachine(), await joinedMachine()];
    await one.change(
      `(epoch, sid, gen, kid, record) = (SELECT epoch, sid, gen, kid, record FROM cloudctl_share.session WHERE share = '${other.share}')`,
    );
    expect(await statusOf(one.host)).toMatchObject({ state: 'unknown_key' });
    await one.change(`kid = '${one.fixture.keysOf(one.host).split('.')[2]?.slice(0, 8)}'`);
    expect(await statusOf(one.host)).toMatchObject({ state: 'damaged' });
  });

  it('a deleted row, and an older one, are repaired by a machine that knows better', async () => {
    const { host, share, change } = await joinedMachine();
    const [before] = await server.query(`SELECT gen, record FROM cloudctl_share.session WHERE share = '${share}'`);
    expect((await runCloudctl(host, ['auth', 'refresh'])).code).toBe(0);
    await change(`gen = ${String(before?.gen)}, record = '${String(before?.record)}'`);
    expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
    expect(await statusOf(host)).toMatchObject({ generation: 2, copy: 'same', state: 'session' });
    await server.query(`DELETE FROM cloudctl_share.session WHERE share = '${share}'`);
    expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
    expect(await statusOf(host)).toMatchObject({ generation: 2, copy: 'same', state: 'session' });
  });
});
