import { afterAll, describe, vi } from 'vitest';
import { cases } from './cases.ts';
import { checkRows } from './check-rows.ts';
import { runCase } from './postgresql/run.ts';
import { openServerPool } from './postgresql/server-pool.ts';
import { isFull, isWanted } from './row.ts';

vi.setConfig({ hookTimeout: 10_800_000 });

describe('the verdict on a PostgreSQL source is what really happens', () => {
  const yard = openServerPool();
  afterAll(() => yard.close());
  checkRows(cases.postgresql.filter(isWanted), (one) => runCase(one, yard, isFull ? 20_000 : 12_000));
});
