import { expect, test } from 'vitest';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import type { AnyPostgresqlQuery } from '../../../../src/db/preflight/postgresql/query.ts';
import { expectGolden } from '../../../fixtures/golden.ts';

const queries = new Set(postgresqlChecks.flatMap(({ queries }) => Object.values<AnyPostgresqlQuery>(queries)));
const ids = postgresqlChecks.map(({ id }) => id);

test('check ids are unique', () => {
  expect(new Set(ids).size).toBe(ids.length);
});

test('no two checks share a title or a headline', () => {
  for (const texts of [postgresqlChecks.map(({ title }) => title), postgresqlChecks.map(({ headline }) => headline)]) {
    expect(new Set(texts).size).toBe(texts.length);
  }
});

test('titles are clauses, headlines are sentences without a full stop', () => {
  for (const { id, title, headline } of postgresqlChecks) {
    expect(title, id).toMatch(/^[a-z].*[^.]$/);
    expect(headline, id).toMatch(/^([A-Z]|[a-z]+_[a-z_.]+ ).*[^.]$/);
    expect(headline.toLowerCase()).not.toBe(title);
  }
});

test('query ids are unique', () => {
  const names = [...queries].map(({ id }) => id);
  expect(names.filter((id, at) => names.indexOf(id) !== at)).toEqual([]);
});

test('every query is one SELECT without a semicolon and without control of transactions', () => {
  for (const query of queries) {
    for (const version of [90_624, 100_000, 110_000, 120_022, 130_000, 140_023, 150_018, 160_014, 170_010, 180_004]) {
      for (const inRecovery of [false, true]) {
        const sql = query.sql(version, { inRecovery, superuser: false });
        if (sql === undefined) continue;
        expect(sql.trim()).toMatch(/^(SELECT|WITH)\b/);
        expect(sql).not.toMatch(/;|\b(COMMIT|ROLLBACK|SAVEPOINT|INSERT|UPDATE|DELETE|SET LOCAL|INTO)\b/);
      }
    }
  }
});

test('a check can block a method exactly when it is a blocker for that method', () => {
  const mayBlock = (id: string) => postgresqlChecks.find((check) => check.id === id)?.mayBlock;
  expect(mayBlock('wal-rate')).toEqual([]);
  expect(mayBlock('wal-level')).toEqual(['continuous']);
  expect(mayBlock('dump-privs')).toEqual(['dump']);
  expect(mayBlock('hba-rule')).toEqual(['continuous', 'dump']);
});

test('the titles and headlines of all checks', () => {
  expectGolden(
    'db-preflight',
    postgresqlChecks.map(({ id, title, headline }) => `${id}\n  pass: ${title}\n  else: ${headline}`).join('\n'),
  );
});
