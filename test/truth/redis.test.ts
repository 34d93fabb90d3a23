import { describe, vi } from 'vitest';
import { cases } from './cases.ts';
import { checkRows } from './check-rows.ts';
import { runCase } from './redis/run.ts';
import { isFull, isWanted } from './row.ts';

vi.setConfig({ hookTimeout: 10_800_000 });

describe('the verdict on a Redis source is what really happens', () => {
  checkRows(cases.redis.filter(isWanted), (one) => runCase(one, isFull ? 12_000 : 6000));
});
