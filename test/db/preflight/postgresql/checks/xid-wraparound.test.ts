import { describe, expect, test } from 'vitest';
import { xidWraparoundCheck } from '../../../../../src/db/preflight/postgresql/checks/xid-wraparound.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

test.each([
  { age: 200_000_000, version: 170_010, verdict: 'pass' },
  { age: 1_600_000_000, version: 170_010, verdict: 'warn' },
  { age: 2_144_483_646, version: 170_010, verdict: 'warn' },
  { age: 2_144_483_647, version: 170_010, verdict: 'fail continuous' },
  { age: 2_144_483_647, version: 130_020, verdict: 'warn' },
  { age: 2_146_483_647, version: 130_020, verdict: 'fail continuous' },
])('age $age on $version: $verdict', ({ age, version, verdict }) => {
  const facts = sourceFacts({ connection: connected({ version }) });
  const outcome = xidWraparoundCheck.evaluate({ ages: [{ database: 'd1', age }] }, facts, preflightOptions());
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  test('the oldest database is named, although it is not migrated', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: ['CREATE DATABASE d1', 'CREATE DATABASE "Old"'],
    });
    const outcome = async (ignoreDbs: readonly string[] = []) =>
      found(await preflightServer({ ...server, options: { ignoreDbs } }), 'xid-wraparound');
    expect((await outcome()).status).toBe('pass');
    // The ids wrap around, so this one is 2,100 million transactions old.
    const [row] = await server.query('SELECT (txid_current() + 4294967296 - 2100000000) % 4294967296 AS xid');
    await server.query(`UPDATE pg_database SET datfrozenxid = '${row?.xid}' WHERE datname = 'Old'`);
    const old = await outcome(['Old']);
    expect(old.status).toBe('warn');
    expect(old.observed).toMatch(/^age 21000000\d\d in database Old$/);
  }, 60_000);
});
