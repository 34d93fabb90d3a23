import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildShareSchemaSql } from '../../src/shared-store/postgresql-schema.ts';
import { encodeShareEncryptionKeys } from '../../src/shared-store/share-encryption-keys.ts';
import { createFleet } from '../faults/fleet/fleet.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';

/** Nothing secret is printed, stored in the server, or visible to other users, and the key file is as private as it must be. */
const password = 'S3cret%of-the-member';
let server: Postgres;
let url: string;
/** Where the log has the first line after the role was created, with its password. */
let begin: number;
beforeAll(async () => {
  server = await startPostgres({ direct: true, settings: { log_statement: 'all', log_connections: 'on' } });
  await server.query(buildShareSchemaSql());
  await server.query(`CREATE ROLE ci LOGIN PASSWORD '${password}' IN ROLE cloudctl_share_member`);
  begin = server.log().length;
  url = `postgres://ci:${encodeURIComponent(password)}@127.0.0.1:${server.port}/postgres`;
});
afterAll(() => server?.stop());

async function machineWithSession() {
  const fleet = await createFleet({ store: { url }, machines: 1 });
  const [machine] = fleet.machines;
  if (machine === undefined) throw new Error('there is no machine');
  const key = encodeShareEncryptionKeys(fleet.keys).reveal();
  const tokens = async () => {
    const { accessToken, refreshToken } = fleet.open(await fleet.row());
    return [accessToken.reveal(), refreshToken?.reveal() ?? ''];
  };
  return { fleet, machine, key, tokens };
}

/** Every file below a folder, with its text and mode. */
function filesBelow(folder: string) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, 'latin1') }));
}

describe('the password, the key and the tokens', () => {
  it('are not printed with --trace, not in arguments, not in the server, and not in a file in clear text', async () => {
    const { fleet, machine, key, tokens } = await machineWithSession();
    const secrets = new Set([
      password,
      encodeURIComponent(password),
      ...key.split(/[.:]/).slice(3, 4),
      ...(await tokens()),
    ]);
    await fleet.expire();
    const printed: string[] = [];
    for (const words of [
      'droplets list',
      'auth status',
      'auth share status',
      'auth share log',
      'auth refresh',
      'auth share rotate-key',
      'auth share leave',
    ]) {
      const running = machine.start([...words.split(' '), '--trace', '-o', 'json']);
      printed.push(readFileSync(`/proc/${running.pid}/cmdline`, 'latin1'));
      const ran = await running.ended;
      printed.push(ran.stdout, ran.stderr);
      if (words === 'auth refresh') for (const token of await tokens()) secrets.add(token);
    }
    // Errors of the server, too.
    for (const wrong of [
      url.replace('ci:', 'nobody:'),
      url.replace('S3', 'X3'),
      url.replace(/:\d+\//, ':1/'),
      `${url}?x=1`,
    ]) {
      const ran = await machine.run(['auth', 'share', 'status', '--trace'], { CLOUDCTL_STORE_URL: wrong });
      expect([2, 6]).toContain(ran.code);
      printed.push(ran.stdout, ran.stderr);
    }
    const rows = await server.query('SELECT json_agg(s)::text AS rows FROM cloudctl_share.session s');
    const log = await server.query('SELECT json_agg(l)::text AS rows FROM cloudctl_share.log l');
    const found = (text: string) => [...secrets].filter((secret) => secret !== '' && text.includes(secret));
    expect(found(printed.join('\n'))).toEqual([]);
    expect(found(JSON.stringify([rows, log]))).toEqual([]);
    expect(found(server.log().slice(begin))).toEqual([]);
    expect(server.log().slice(begin)).toContain('cloudctl_share.commit_session');
    expect(filesBelow(machine.folders.home).filter(({ text }) => found(text).length > 0)).toEqual([]);
    expect(secrets.size).toBeGreaterThan(6);
  });
});

describe('the key file', () => {
  const status = ['auth', 'share', 'status', '-o', 'json'];
  /** A machine that has joined with a key file. */
  async function joined() {
    const { machine, key } = await machineWithSession();
    const running = machine.start(['auth', 'share', 'status'], { CLOUDCTL_STORE_KEY: key });
    await running.ended;
    const path = machine.place.shareFile;
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${key}\n`, { mode: 0o600 });
    expect((await machine.run(status, { CLOUDCTL_STORE_KEY: undefined })).code).toBe(0);
    return { machine, path, key };
  }
  const move = (path: string): string => {
    renameSync(path, `${path}.real`);
    return `${path}.real`;
  };
  const changes: Readonly<Record<string, (path: string) => void>> = {
    'can be read by the group': (path) => chmodSync(path, 0o640),
    'can be read by all': (path) => chmodSync(path, 0o644),
    'can be changed by all': (path) => chmodSync(path, 0o602),
    'is a symbolic link': (path) => symlinkSync(move(path), path),
    'belongs to another user': (path) => chownSync(path, 65_534, 65_534),
    'is a folder': (path) => {
      move(path);
      mkdirSync(path);
    },
  };
  it.each(Object.entries(changes).filter(([name]) => name !== 'belongs to another user' || process.getuid?.() === 0))(
    'is refused if it %s, and the error does not contain it',
    async (_name, change) => {
      const { machine, path, key } = await joined();
      change(path);
      const ran = await machine.run(status, { CLOUDCTL_STORE_KEY: undefined });
      expect([ran.code, ran.stderr.includes(path)]).toEqual([1, true]);
      expect(ran.stdout + ran.stderr).not.toContain(key.split(':')[1]);
    },
  );

  it('is created with mode 0600, also by join and rotate-key', async () => {
    const { machine, path } = await joined();
    const env = { CLOUDCTL_STORE_KEY: undefined };
    expect((await machine.run(['auth', 'share', 'rotate-key'], env)).code).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
