import { expect, test } from 'vitest';
import type { MethodSeverity } from '../../../src/db/preflight/check.ts';
import { failOutcome, type MigrationMethod } from '../../../src/db/preflight/finding.ts';
import { declareDatabaseCheck, declareServerCheck } from '../../../src/db/preflight/postgresql/check.ts';
import { declareRedisCheck } from '../../../src/db/preflight/redis/check.ts';
import { preflightOptions, sourceFacts } from './postgresql/facts.ts';
import { preflightOptions as redisOptions } from './redis/preflight-options.ts';
import { sourceFacts as redisFacts } from './redis/recorded.ts';

const words = { id: 'c', title: 't', headline: 'H' };
const queries = {};
const needs = 'address' as const;

/** Each evaluates a check of this severity that blocks these methods. */
const kinds = {
  'PostgreSQL server': (severity: MethodSeverity, blocks: readonly MigrationMethod[]) =>
    declareServerCheck({
      ...words,
      severity,
      needs,
      queries,
      evaluate: () => failOutcome(blocks, 'x'),
    }).evaluate({}, sourceFacts(), preflightOptions()),
  'PostgreSQL database': (severity: MethodSeverity, blocks: readonly MigrationMethod[]) =>
    declareDatabaseCheck({ ...words, severity, queries, evaluate: () => failOutcome(blocks, 'x') }).evaluate(
      {},
      'd1',
      sourceFacts(),
      preflightOptions(),
    ),
  Redis: (severity: MethodSeverity, blocks: readonly MigrationMethod[]) =>
    declareRedisCheck({
      ...words,
      severity,
      needs,
      queries,
      evaluate: () => failOutcome(blocks, 'x'),
    }).evaluate({}, redisFacts(), redisOptions()),
};

test.each(Object.entries(kinds))('a %s check can block only the methods for which it is a blocker', (_name, run) => {
  expect(run({ continuous: 'blocker' }, ['continuous']).blocks).toEqual(['continuous']);
  expect(run({ continuous: 'blocker' }, []).blocks).toEqual([]);
  for (const severity of [{ dump: 'blocker', scan: 'blocker' }, { continuous: 'warning' }, {}] as const) {
    expect(() => run(severity, ['continuous'])).toThrow(Error);
  }
});
