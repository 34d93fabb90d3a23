import { expect, test } from 'vitest';
import { fullWithoutEqCheck } from '../../../../../src/db/preflight/postgresql/checks/full-without-eq.ts';
import type {
  ColumnWithoutEqualityOperator,
  TableWithUnsafeReplicaIdentity,
} from '../../../../../src/db/preflight/postgresql/queries/replica-identities.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';

function identityOf(more: Partial<TableWithUnsafeReplicaIdentity> = {}): TableWithUnsafeReplicaIdentity {
  return {
    name: 'public.t',
    identity: 'd',
    unlogged: false,
    keyed: false,
    index: undefined,
    generatedKey: false,
    generated: false,
    primaryUsable: false,
    usableIndex: undefined,
    writes: 1,
    olderThanCounters: false,
    ...more,
  };
}

const doc: ColumnWithoutEqualityOperator = { table: 'public.t', column: 'doc json' };

function evaluate(
  tables: readonly TableWithUnsafeReplicaIdentity[],
  version = 170_010,
  unequalColumns: readonly ColumnWithoutEqualityOperator[] = [],
) {
  const where = sourceFacts({ connection: connected({ version }) });
  const facts = { identities: tables, unequalColumns, hashedNulls: [] };
  return fullWithoutEqCheck.evaluate(facts, 'd1', where, preflightOptions());
}

test.each([
  { what: 'FULL, without equality', is: { identity: 'f' }, verdict: 'fail continuous' },
  { what: 'FULL, with a key', is: { identity: 'f', keyed: true }, verdict: 'pass' },
  { what: 'FULL, unlogged', is: { identity: 'f', unlogged: true }, verdict: 'pass' },
  { what: 'no FULL', is: {}, verdict: 'pass' },
])('equality, $what: $verdict', ({ is, verdict }) => {
  expect(short(evaluate([identityOf(is)], 170_010, [doc]))).toBe(verdict);
});

test('the type without equality is named as the server names it', () => {
  const unequal = [{ table: 'public.t', column: '"the "" doc" json[]' }];
  const full = evaluate([identityOf({ identity: 'f' })], 170_010, unequal);
  expectText(full.detail);
});
