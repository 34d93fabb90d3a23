import { expect, test } from 'vitest';
import { columnOrderCheck } from '../../../../../src/db/preflight/postgresql/checks/column-order.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { found, preflightServer } from '../preflight.ts';

testDatabaseCases([
  { what: 'no table', ...forBothMethods(columnOrderCheck, { tables: [] }), verdict: 'pass' },
  {
    what: 'a table',
    ...forBothMethods(columnOrderCheck, { tables: [{ table: 'public.ch', columns: [] }] }),
    verdict: 'warn',
  },
  {
    what: 'a column with its row type',
    ...forBothMethods(columnOrderCheck, { tables: [{ table: 'public.ch', columns: ['public.hist.r'] }] }),
    verdict: 'unknown',
  },
]);

test.each([14, 18] as const)(
  'on PostgreSQL %i: where CREATE TABLE … INHERITS gives another order',
  async (version) => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        'CREATE TABLE p (a int)',
        'CREATE TABLE later (b int, PRIMARY KEY (a)) INHERITS (p)',
        'ALTER TABLE p ADD z int',
        'CREATE TABLE grandchild (c int, PRIMARY KEY (a)) INHERITS (later)',
        'CREATE TABLE same (b int, PRIMARY KEY (a)) INHERITS (p)',
        'CREATE TABLE swapped (z int, a int PRIMARY KEY)',
        'ALTER TABLE swapped INHERIT p',
        'CREATE TABLE list (a int, b int, PRIMARY KEY (a)) PARTITION BY LIST (a)',
        'CREATE TABLE list_1 (b int, a int PRIMARY KEY)',
        'ALTER TABLE list ATTACH PARTITION list_1 FOR VALUES IN (1)',
        'CREATE TYPE pair AS (l same, r swapped[])',
        'CREATE TABLE hist (id int PRIMARY KEY, s same, p pair, g later)',
      ],
    });
    const finding = found(await preflightServer(server), 'column-order');
    expect(finding.objects).toEqual([
      expect.stringMatching(/public.hist.g .*public.later/),
      expect.stringMatching(/public.hist.p .*public.swapped/),
    ]);
    expect(finding.status).toBe('unknown');
  },
  60_000,
);
