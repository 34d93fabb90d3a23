import { expect, test } from 'vitest';
import { postgresqlChecks } from '../../../src/preflight/postgresql/checks.ts';
import type { AnyPostgresqlQuery } from '../../../src/preflight/postgresql/run-queries.ts';
import { catalogueIds, mayBlock } from '../../../src/preflight/postgresql/weights.ts';

const asked = new Set(postgresqlChecks.flatMap(({ queries: asks }) => Object.values<AnyPostgresqlQuery>(asks)));
const ids = postgresqlChecks.map(({ id }) => id);

test('no id stands twice', () => {
  expect(new Set(ids).size).toBe(ids.length);
});

test('every check has its weight, and stands in the order of the weights', () => {
  expect(ids).toEqual(catalogueIds.filter((id) => ids.includes(id)));
});

test('every weight has its check', () => {
  expect(catalogueIds.filter((id) => !ids.includes(id))).toEqual([]);
});

test('a question has one id', () => {
  const names = [...asked].map(({ id }) => id);
  expect(names.filter((id, at) => names.indexOf(id) !== at)).toEqual([]);
});

test('every question is one SELECT without a semicolon and without control of transactions', () => {
  for (const ask of asked) {
    for (const version of [90_624, 100_000, 110_000, 120_022, 130_000, 140_023, 150_018, 160_014, 170_010, 180_004]) {
      for (const inRecovery of [false, true]) {
        const sql = ask.sql(version, { inRecovery, superuser: false });
        if (sql === undefined) continue;
        expect(sql).toMatch(/^(SELECT|WITH)\b/);
        expect(sql).not.toMatch(/;|\b(COMMIT|ROLLBACK|SAVEPOINT|INSERT|UPDATE|DELETE|SET LOCAL|INTO)\b/);
      }
    }
  }
});

test('what only warns takes no method away', () => {
  expect(mayBlock('wal-rate')).toEqual([]);
  expect(mayBlock('wal-level')).toEqual(['continuous']);
  expect(mayBlock('dump-privs')).toEqual(['dump']);
  expect(mayBlock('hba-rule')).toEqual(['continuous', 'dump']);
});
