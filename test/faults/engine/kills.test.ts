import { setTimeout as after } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { objectsOn, ownersOn, startSource, startTarget, subscriptionsOn } from '../../db/engine/servers.ts';
import { start } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import type { Ready } from '../../fixtures/sandbox.ts';

/** `npm run test:engine -- --kills 50 --kills-down 20`. */
const kills = Number(process.env.CLOUDCTL_TEST_KILLS ?? 5);
const killsDown = Number(process.env.CLOUDCTL_TEST_KILLS_DOWN ?? 2);

/** Two servers, and sandboxes in front of the target that share a state folder. */
async function prepareServers() {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const [source, target] = await Promise.all([startSource(), startTarget()]);
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const state = `${folders.work}/state`;
  const words = ['sandbox', 'start', '-o', 'json', '--port', '0', '--api-port', '0', '--state', state];
  const open = async () => {
    const running = start(words, { folders, env: { CLOUDCTL_CLUSTER_ORDERS: url }, limit: 120_000 });
    const [line] = await running.waitFor('stdout', /^\{.*\}$/m, 60_000).catch((error: unknown) => {
      throw new Error(`it did not start: ${running.printed().stderr}`, { cause: error });
    });
    const ready: Ready = JSON.parse(line);
    const issued = await fetch(`${ready.admin_url}/_sandbox/tokens`, {
      method: 'POST',
      headers: { 'x-admin-token': ready.admin_token },
      body: JSON.stringify({ user: ready.users[0]?.email, scope: 'read write' }),
    });
    const { access_token: token }: { access_token: string } = JSON.parse(await issued.text());
    const cluster = ready.clusters.find(({ name }) => name === 'orders');
    const ask = (method: string, body?: object) =>
      fetch(`${ready.base_url}/v2/databases/${cluster?.uuid}/online-migration`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    return { running, ask };
  };
  const connection = { host: '127.0.0.1', port: source.port, dbname: 'a', username: 'postgres' };
  const migrate = {
    source: { ...connection, password: source.password },
    disable_ssl: true,
    ignore_dbs: ['postgres'],
  };
  return { source, target, open, migrate };
}

test(
  `a sandbox that is killed at any moment of a migration leaves nothing that its next start does not remove (${kills} times)`,
  async () => {
    const { source, target, open, migrate } = await prepareServers();
    let moments = 0;
    for (let kill = 0; kill < kills; kill++) {
      for (const name of ['a', 'b']) {
        for (const server of [source, target]) await server.query(`DROP DATABASE IF EXISTS ${name}`);
        await source.query(`CREATE DATABASE ${name}`);
        await source.query('CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 1000)', name);
      }
      const first = await open();
      expect((await first.ask('PUT', migrate)).status).toBe(200);
      // Most of it happens in the first second; sometimes it is about to be removed again.
      const wait = Math.random() * (kill % 2 === 0 ? 600 : 2500);
      await after(wait);
      if (kill % 3 === 2) {
        void first.ask('DELETE').catch(() => {});
        await after(Math.random() * 150);
      }
      first.running.kill('SIGKILL');
      await first.running.ended;
      if ((await objectsOn(source)).length > 0) moments += 1;
      const second = await open();
      expect([wait, await objectsOn(source)]).toEqual([wait, []]);
      expect([wait, await subscriptionsOn(target)]).toEqual([wait, []]);
      expect([wait, await ownersOn(target)]).toEqual([wait, []]);
      const { status }: { status: string } = JSON.parse(await (await second.ask('GET')).text());
      expect(['error', 'canceled']).toContain(status);
      // A statement of the killed process that still ran would make its object now.
      await after(100);
      expect([wait, await objectsOn(source)]).toEqual([wait, []]);
      second.running.kill('SIGTERM');
      await second.running.ended;
    }
    console.log(`${kills} kills, ${moments} of them with objects left on the source, none after the next start`);
  },
  60_000 + kills * 20_000,
);

test(
  `what a killed sandbox leaves on a source that has crashed is named by its next start, and removed once the source is back (${killsDown} times)`,
  async () => {
    const { source, target, open, migrate } = await prepareServers();
    const found = { objects: 0, slotsOfCopies: 0 };
    for (let kill = 0; kill < killsDown; kill++) {
      for (const name of ['a', 'b']) {
        for (const server of [source, target]) await server.query(`DROP DATABASE IF EXISTS ${name}`);
        await source.query(`CREATE DATABASE ${name}`);
        // Each row takes the target 10 ms, so that tables are being copied for seconds.
        await source.query(
          `CREATE FUNCTION wait() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); RETURN true; END';
           CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY);
           INSERT INTO t SELECT generate_series(1, 300); INSERT INTO u SELECT generate_series(1, 300);
           ALTER TABLE t ADD CHECK (wait()) NOT VALID; ALTER TABLE u ADD CHECK (wait()) NOT VALID`,
          name,
        );
      }
      const first = await open();
      expect((await first.ask('PUT', migrate)).status).toBe(200);
      const wait = Math.random() * 2500;
      await after(wait);
      await source.crash();
      if (kill % 2 === 0) {
        expect((await first.ask('DELETE')).status).toBe(204);
        await after(Math.random() * 1500);
      }
      first.running.kill('SIGKILL');
      await first.running.ended;
      const second = await open();
      const named = [...second.running.printed().stderr.matchAll(namedLine)];
      second.running.kill('SIGTERM');
      await second.running.ended;
      await source.start();
      const left = await objectsOn(source);
      found.objects += left.length;
      found.slotsOfCopies += left.filter((name) => /^slot pg_\d+_sync_/.test(name)).length;
      if (kill % 4 < 2) {
        for (const [, database = '', statement = ''] of named) await source.query(statement, database).catch(() => {});
        expect([wait, await objectsOn(source)]).toEqual([wait, []]);
      }
      const third = await open();
      expect([wait, await objectsOn(source), await subscriptionsOn(target)]).toEqual([wait, [], []]);
      expect([wait, await ownersOn(target)]).toEqual([wait, []]);
      expect(third.running.printed().stderr).not.toMatch(namedLine);
      third.running.kill('SIGTERM');
      await third.running.ended;
    }
    console.log(
      `${killsDown} kills with the source down: ${found.objects} objects left on it, ${found.slotsOfCopies} of them slots of table copies; all named, none after the start with the source up`,
    );
  },
  60_000 + killsDown * 60_000,
);

const namedLine = /database (\S+) of the source still contains .*; to remove it, run: (.*)$/gm;
