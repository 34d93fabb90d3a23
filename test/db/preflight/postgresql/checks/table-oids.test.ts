import { describe, expect, test } from 'vitest';
import { tableoidDependenceCheck } from '../../../../../src/db/preflight/postgresql/checks/table-oids.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const both = 'fail continuous+dump';

test.each([
  { kind: 'generated', definition: '(tableoid)::bigint', verdict: both },
  { kind: 'generated', definition: "(tableoid = ('public.t'::regclass)::oid)", verdict: 'pass' },
  { kind: 'generated', definition: "((('public.t'::regclass)::oid)::bigint % (100)::bigint)", verdict: both },
  { kind: 'generated', definition: "('public.t'::regclass IS NOT NULL)", verdict: 'pass' },
  { kind: 'check', definition: "CHECK ((c = length(('public.t'::regclass)::text)))", verdict: 'unknown' },
  { kind: 'check', definition: 'CHECK (((tableoid)::bigint = 16400))', verdict: 'unknown' },
  { kind: 'check', definition: "CHECK ((tableoid = '16400'::oid))", verdict: 'unknown' },
  { kind: 'check', definition: "CHECK ((tableoid <> ('public.t'::regclass)::oid))", verdict: 'pass' },
  { kind: 'check', definition: "CHECK (((tableoid)::regclass = 'public.t'::regclass))", verdict: 'pass' },
] as const)('$definition: $verdict', ({ kind, definition, verdict }) => {
  const uses = [{ kind, name: 'x', definition }];
  const outcome = tableoidDependenceCheck.evaluate({ uses }, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  test('every kind is found, and comparisons with a name are not', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        'CREATE TABLE t (id int PRIMARY KEY, mine boolean)',
        "ALTER TABLE t ADD CHECK (tableoid = 't'::regclass), ADD CHECK (tableoid::regclass <> 'pg_class'::regclass)",
        'INSERT INTO t VALUES (1)',
      ],
    });
    const outcome = async () => found(await preflightServer(server), 'table-oids');
    expect(short(await outcome())).toBe('pass');
    await server.query('ALTER TABLE t ADD CONSTRAINT k CHECK (tableoid::bigint > 5)');
    expect(short(await outcome())).toBe('unknown');
    await server.query('ALTER TABLE t ADD home bigint GENERATED ALWAYS AS (tableoid::bigint) STORED');
    expect(await outcome()).toMatchObject({
      status: 'fail',
      objects: [expect.stringContaining('column public.t.home')],
    });
  }, 60_000);
});
