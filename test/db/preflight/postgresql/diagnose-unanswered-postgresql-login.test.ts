import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import {
  addBlockingLocks,
  diagnoseLogin,
  explainUnansweredLogin,
} from '../../../../src/db/preflight/postgresql/login.ts';
import { catalogLocksQuery } from '../../../../src/db/preflight/postgresql/queries/activity.ts';
import { openPostgresqlSource } from '../../../../src/db/preflight/postgresql/source.ts';
import { createLimit } from '../../../../src/platform/memory.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../../src/postgresql/endpoint.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { anyMessage } from '../../../postgresql/any-message.ts';

let server: Postgres;

beforeAll(async () => {
  server = await startPostgres({ version: 17, direct: true });
  await server.query('CREATE DATABASE shop');
});

afterAll(() => server?.stop());

test('a frozen server accepted TCP and did not answer', async () => {
  process.kill(server.pid()!, 'SIGSTOP');
  try {
    const connection = await loginTo('shop');
    expect(connection).toMatchObject({
      kind: 'refused',
      code: 'ETIMEDOUT',
      silence: { answersTlsRequest: false, locks: [] },
    });
    expectGolden('db-preflight-network', textOf(connection));
  } finally {
    process.kill(server.pid()!, 'SIGCONT');
  }
});

test('the process that locks a catalog of the database is named', async () => {
  await whileLocked('shop', 'pg_class', async (pid) => {
    const connection = await loginTo('shop');
    const silence = { answersTlsRequest: true, locks: [{ catalog: 'pg_class', database: 'shop', pid }] };
    expect(connection).toMatchObject({ kind: 'refused', silence });
    expectGolden(
      'db-preflight-network',
      textOf(connection)
        .replaceAll(String(pid), 'PID')
        .replace(/\d+ s\b/g, 'N s'),
    );
  });
});

test('a lock of another database is not the reason', async () => {
  await whileLocked('shop', 'pg_class', async () => {
    expect((await loginTo('postgres')).kind).toBe('entered');
    const memory = createLimit('session');
    const signal = AbortSignal.timeout(10_000);
    const timeouts = { address: 1000, connect: 1000, query: 1000 };
    const source = sourceTo('postgres');
    expect(await diagnoseLogin({ source, timeouts, signal, memory, onSend: () => {} })).toMatchObject({
      answersTlsRequest: true,
      locks: [],
    });
  });
});

test('with a lock on a catalog that all databases share, the server process still answers', async () => {
  await whileLocked('shop', 'pg_authid', async () => {
    const connection = await loginTo('shop');
    expect(connection).toMatchObject({ kind: 'refused', silence: { answersTlsRequest: true, locks: [] } });
    expectGolden('db-preflight-network', textOf(connection));
  });
});

test('a database that did not answer has the locks that concern it', () => {
  const lock = { catalog: 'pg_class', database: 'a', pid: 7, seconds: 1 };
  const shared = { ...lock, catalog: 'pg_authid', database: undefined };
  const results = new Map([[catalogLocksQuery, { kind: 'known' as const, value: [lock, shared] }]]);
  const lost = { kind: 'lost' as const, message: 'm' };
  expect(addBlockingLocks(lost, 'a', results)).toEqual({ ...lost, locks: [lock, shared] });
  expect(addBlockingLocks(lost, 'b', results)).toEqual({ ...lost, locks: [shared] });
  expect(addBlockingLocks({ kind: 'closed' }, 'a', results)).toEqual({ kind: 'closed' });
});

function sourceTo(dbname: string): PostgresqlEndpoint {
  const { host, port, password } = server;
  return { host, port, dbname, username: 'postgres', password: new Secret(password), ssl: 'disable' };
}

async function loginTo(dbname: string) {
  const signal = AbortSignal.timeout(15_000);
  const timeouts = { address: 1000, connect: 1000 };
  const { facts, session } = await openPostgresqlSource(sourceTo(dbname), { signal, timeouts });
  await session?.end();
  return facts.connection;
}

async function whileLocked(dbname: string, catalog: string, work: (pid: number) => Promise<void>): Promise<void> {
  const holder: PostgresqlSession = await connectPostgresql(sourceTo(dbname), { dbname, limit: 5000 });
  try {
    await holder.query(anyMessage(`BEGIN; LOCK ${catalog} IN ACCESS EXCLUSIVE MODE`));
    await work(holder.processId!);
  } finally {
    await holder.end();
  }
}

function textOf(connection: Awaited<ReturnType<typeof loginTo>>): string {
  if (connection.kind === 'entered') return 'entered';
  const why = explainUnansweredLogin(connection);
  return [connection.message, why?.detail, why?.fix.text].join('\n');
}
