import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../scripts/free-port.mjs';
import { initializeSharedStore } from '../../src/shared-store/initialize-shared-store.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { createFleet } from '../faults/fleet/fleet.ts';
import type { Machine } from '../faults/fleet/fleet-machine.ts';
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts';
import { lacksNetwork, networkAddress, startMiddleParty } from '../fixtures/middle-party.ts';
import { lacks } from '../fixtures/needs.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { type RedisServer, startRedis } from '../fixtures/redis.ts';

/** The shared store on an address that is not loopback, and others who answer there. */
const names = `IP:${networkAddress}`;
const password = 'S3cret-of-the-member';

/** The commands of a machine that work on the store, in an order in which each of them succeeds. */
async function useSession(machine: Machine, env: Readonly<Record<string, string>>) {
  const codes = [];
  for (const words of ['auth token', 'auth refresh', 'auth share status', 'auth share log', 'auth logout']) {
    const ran = await machine.run([...words.split(' '), '-o', 'json'], env);
    codes.push([words, ran.code, ran.code === 0 ? '' : ran.stderr]);
  }
  return codes;
}

const allDone = ['auth token', 'auth refresh', 'auth share status', 'auth share log', 'auth logout'].map((words) => [
  words,
  0,
  '',
]);

/** Tries to use the store at the URL. The error must name the reason, and must not contain the password. */
async function tryUrl(machine: Machine, url: string, env: Readonly<Record<string, string>> = {}) {
  const ran = await machine.run(['auth', 'share', 'status', '-o', 'json'], { CLOUDCTL_STORE_URL: url, ...env });
  expect(ran.stdout + ran.stderr).not.toContain(password);
  const { error } = JSON.parse(ran.stderr) as { error: Record<string, string> };
  return { code: ran.code, text: `${error.message} ${error.detail ?? ''} ${error.hint ?? ''}` };
}

const keep = (folder: string, name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe.skipIf(lacksNetwork)('PostgreSQL on the network', () => {
  let server: Postgres;
  let own: Certificates;
  const use = ({ certificate, key }: Certificates): Promise<unknown> => {
    server.write('server.crt', certificate);
    server.write('server.key', key);
    return server.query('SELECT pg_reload_conf()');
  };
  const url = (port: number, options: string): string =>
    `postgres://ci:${password}@${networkAddress}:${port}/postgres?${options}`;
  /** A machine with a session, and files with the authority of the server and another one. */
  const fixture = async () => {
    const local = `postgres://ci:${password}@127.0.0.1:${server.port}/postgres`;
    const fleet = await createFleet({ store: { url: local }, machines: 1 });
    const [machine] = fleet.machines;
    if (machine === undefined) throw new Error('there is no machine');
    const file = (name: string, { ca }: Certificates) => keep(machine.folders.work, name, ca);
    return { machine, fleet, ca: file('ca.pem', own), other: file('other.pem', makeCertificates()) };
  };
  beforeAll(async () => {
    own = makeCertificates(90, names);
    const settings = { ssl: 'on', listen_addresses: '*', log_connections: 'on' };
    const files = { 'server.crt': own.certificate, 'server.key': own.key };
    server = await startPostgres({ direct: true, settings, files });
    const owner = `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres`;
    await initializeSharedStore(
      parseSharedStoreUrl(owner, () => undefined),
      'members',
    );
    await server.query(`CREATE ROLE ci LOGIN PASSWORD '${password}' IN ROLE members`);
  });
  afterAll(() => server?.stop());

  it('with a certificate that is verified, all commands work, encrypted', async () => {
    const { machine, fleet, ca } = await fixture();
    await fleet.expire();
    await server.query('ALTER ROLE ci SET log_min_duration_statement = 0');
    const env = { CLOUDCTL_STORE_URL: url(server.port, `sslrootcert=${ca}`) };
    expect(await useSession(machine, env)).toEqual(allDone);
    expect(fleet.refreshes().length).toBeGreaterThan(1);
    const logins = server.log().match(/authorized: user=ci .*/g) ?? [];
    expect(logins.filter((line) => line.includes('SSL enabled')).length).toBeGreaterThan(3);
  });

  it.each(['sslmode=require&', 'sslmode=verify-ca&', 'sslmode=prefer&', ''])(
    'with %j another authority, another name, and an expired certificate are refused before the login',
    async (mode) => {
      const { machine, ca, other } = await fixture();
      const before = server.log().length;
      const wrongAuthority = await tryUrl(machine, url(server.port, `${mode}sslrootcert=${other}`));
      const unknownAuthority = await tryUrl(machine, url(server.port, mode));
      const elsewhere = makeCertificates(90, 'DNS:db.example.com');
      await use(elsewhere);
      const foreign = keep(machine.folders.work, 'elsewhere.pem', elsewhere.ca);
      const wrongName = await tryUrl(machine, url(server.port, `${mode}sslrootcert=${foreign}`));
      const late = makeCertificates(-1, names);
      await use(late);
      const expired = await tryUrl(
        machine,
        url(server.port, `${mode}sslrootcert=${keep(machine.folders.work, 'late.pem', late.ca)}`),
      );
      await use(own);
      const results = [wrongAuthority, unknownAuthority, wrongName, expired];
      expect(results.map(({ code }) => code)).toEqual([6, 6, 6, 6]);
      expect(results.map(({ text }) => text)).toEqual([
        expect.stringMatching(/TLS: .*sslrootcert/),
        expect.stringMatching(/TLS: .*sslrootcert/),
        expect.stringMatching(/TLS: .*list/),
        expect.stringMatching(/TLS: .*expired/),
      ]);
      expect(server.log().slice(before)).not.toMatch(/user=ci/);
      expect((await tryUrl(machine, url(server.port, `${mode}sslrootcert=${ca}`).replace('S3', 'XX'))).text).toMatch(
        /authentication/,
      );
    },
  );

  it('a server without TLS, and a middle party that declines or ends TLS, get no login', async () => {
    const { machine, ca } = await fixture();
    const certificates = makeCertificates(90, names);
    const declining = await startMiddleParty({ answer: 'N' });
    const ending = await startMiddleParty({ answer: 'S', certificates });
    const results = [];
    for (const { port } of [declining, ending]) results.push(await tryUrl(machine, url(port, `sslrootcert=${ca}`)));
    expect(results.map(({ code, text }) => [code, /(verified|enable) TLS/.test(text)])).toEqual([
      [6, true],
      [6, true],
    ]);
    const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    expect([...new Set([declining, ending].map((one) => one.plain().subarray(0, 8).toString('hex')))]).toEqual([
      sslRequest.toString('hex'),
    ]);
    expect(declining.plain()).toHaveLength(8 * declining.connections());
    expect(ending.decrypted()).toHaveLength(0);
  });

  it.each(['sslmode=disable', 'ssl=false', 'hostaddr=127.0.0.1&sslmode=disable'])(
    '%s is refused without a connection',
    async (mode) => {
      const { machine } = await fixture();
      const party = await startMiddleParty({ answer: 'N' });
      expect((await tryUrl(machine, url(party.port, mode))).code).toBe(2);
      expect(party.connections()).toBe(0);
    },
  );
});

describe.skipIf(lacksNetwork || lacks('redis-server'))('Redis on the network', () => {
  const started: RedisServer[] = [];
  const url = (port: number): string => `rediss://ci:${password}@${networkAddress}:${port}/0`;
  const acl = ['user default on nopass ~* &* +@all', `user ci on >${password} ~cloudctl:* +@all`];
  const start = async (tls: true | 'expired', sans = names) => {
    const plainPort = await freePort();
    const config = ['appendonly yes', `bind ${networkAddress} 127.0.0.1`, `port ${plainPort}`, 'protected-mode no'];
    const server = await startRedis({ tls, names: sans, bind: networkAddress, acl, config });
    started.push(server);
    const local = `redis://ci:${password}@127.0.0.1:${plainPort}/0`;
    // Its certificate need not be valid, so it is asked without TLS.
    const ask = (...words: readonly string[]): string =>
      execFileSync('redis-cli', ['-p', `${plainPort}`, ...words], { encoding: 'utf8' });
    return { server, local, ask, trust: { NODE_EXTRA_CA_CERTS: server.ca?.file ?? '' } };
  };
  /** A machine with a session in the store at this URL. */
  const machineOf = async (local: string) => {
    const fleet = await createFleet({ store: { url: local }, machines: 1 });
    const [machine] = fleet.machines;
    if (machine === undefined) throw new Error('there is no machine');
    return { fleet, machine };
  };
  const hasLogins = ({ ask }: { ask(...words: readonly string[]): string }): boolean =>
    ask('INFO', 'commandstats').includes('cmdstat_auth');
  afterAll(() => Promise.all(started.map((server) => server.stop())));

  it('with a certificate that is verified, all commands work', async () => {
    const store = await start(true);
    const { machine, fleet } = await machineOf(store.local);
    await fleet.expire();
    const env = { CLOUDCTL_STORE_URL: url(store.server.port), ...store.trust };
    expect(await useSession(machine, env)).toEqual(allDone);
    expect(fleet.refreshes().length).toBeGreaterThan(1);
  });

  it('an unknown authority, another name, and an expired certificate are refused before the login', async () => {
    const [good, elsewhere, late] = [
      await start(true),
      await start(true, 'DNS:cache.example.com'),
      await start('expired'),
    ];
    const { machine } = await machineOf(good.local);
    for (const { ask } of [good, elsewhere, late]) ask('CONFIG', 'RESETSTAT');
    const results = [
      await tryUrl(machine, url(good.server.port)),
      await tryUrl(machine, url(good.server.port), elsewhere.trust),
      await tryUrl(machine, url(elsewhere.server.port), elsewhere.trust),
      await tryUrl(machine, url(late.server.port), late.trust),
    ];
    expect(results.map(({ code, text }) => [code, /TLS: .*NODE_EXTRA_CA_CERTS/.test(text)])).toEqual(
      results.map(() => [6, true]),
    );
    expect(results[2]?.text).toContain(networkAddress);
    expect(results[3]?.text).toMatch(/expired/);
    expect([good, elsewhere, late].map(hasLogins)).toEqual([false, false, false]);
    const env = { CLOUDCTL_STORE_URL: url(good.server.port), ...good.trust };
    expect((await machine.run(['auth', 'share', 'status'], env)).code).toBe(0);
    expect(hasLogins(good)).toBe(true);
  });

  it('a server without TLS, and a middle party that ends TLS, get no login', async () => {
    const store = await start(true);
    const { machine } = await machineOf(store.local);
    const plain = await startRedis({ bind: networkAddress, config: ['protected-mode no'] });
    onTestFinished(() => plain.stop());
    const party = await startMiddleParty({ certificates: makeCertificates(90, names), isDirectTls: true });
    const silent = await startMiddleParty({ answer: '+OK\r\n' });
    const results = [];
    for (const port of [plain.port, party.port, silent.port])
      results.push(await tryUrl(machine, url(port), store.trust));
    expect(results.map(({ code }) => code)).toEqual([6, 6, 6]);
    expect(results.map(({ text }) => /TLS/.test(text))).toEqual([true, true, true]);
    expect(hasLogins({ ask: plain.cli })).toBe(false);
    expect(party.decrypted()).toHaveLength(0);
    expect(silent.plain().includes(Buffer.from(password))).toBe(false);
  });

  it('redis:// is refused without a connection', async () => {
    const store = await start(true);
    const { machine } = await machineOf(store.local);
    const party = await startMiddleParty({ answer: '+OK\r\n' });
    expect((await tryUrl(machine, url(party.port).replace('rediss:', 'redis:'))).code).toBe(2);
    expect(party.connections()).toBe(0);
  });
});
