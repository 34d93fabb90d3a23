import { describe, vi } from 'vitest';
import { checkRows } from './check-rows.ts';
import { redisCases } from './redis/cases.ts';
import { fixedRedisCases } from './redis/fixed-cases.ts';
import { releaseCases } from './redis/release-cases.ts';
import { runCase } from './redis/run.ts';
import { isFull, isWanted } from './row.ts';

vi.setConfig({ hookTimeout: 3_600_000 });

describe('the verdict on a Redis source is what really happens', () => {
  checkRows([...redisCases, ...fixedRedisCases, ...releaseCases].filter(isWanted), (one) =>
    runCase(one, isFull ? 12_000 : 6000),
  );
});
