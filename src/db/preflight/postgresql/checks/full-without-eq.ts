import { countOf, formatDuration } from '../../../../base/text.ts';
import {
  type CheckOutcome,
  failOutcome,
  joinUnknown,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { suggestQueriesForSimilarRows } from '../owner-queries.ts';
import {
  incomparableColumnsQuery,
  type LooselyEqualColumn,
  looselyEqualColumnsQuery,
  type MissedColumn,
  missedColumnsQuery,
  missedOnTarget,
  readsWholeTable,
  type UnsafeIdentity,
  unsafeIdentitiesQuery,
} from '../queries/replica-identities.ts';
import { sourceVersionNumber } from '../source-facts.ts';
import {
  type CountersStart,
  countersStartQuery,
  groupIncomparable,
  type IncomparableColumns,
  identityFix,
} from './replica-identity.ts';

export const fullWithoutEqCheck = declareDatabaseCheck({
  id: 'full-without-eq',
  title: 'rows of tables with REPLICA IDENTITY FULL can be identified',
  headline: 'Rows of a table with REPLICA IDENTITY FULL cannot be identified',
  severity: { continuous: 'blocker' },
  queries: {
    identities: unsafeIdentitiesQuery,
    unequalColumns: incomparableColumnsQuery,
    missedColumns: missedColumnsQuery,
    looseColumns: looselyEqualColumnsQuery,
    counters: countersStartQuery,
  },
  evaluate({ identities, unequalColumns, missedColumns, looseColumns, counters }, database, facts, options) {
    const unequal = groupIncomparable(unequalColumns);
    const full = identities.filter(({ identity, unlogged }) => identity === 'f' && !unlogged);
    const found = full.filter(({ keyed, name }) => !keyed && unequal.has(name));
    const missed =
      found.length > 0
        ? []
        : missedOnTarget(missedColumns, options).filter(({ table }) => full.some(({ name }) => name === table));
    if (missed.length > 0) return missedRows(missed, database);
    const loose = looseColumns.filter(({ table }) =>
      full.some((one) => one.name === table && !one.keyed && one.usableIndex === undefined),
    );
    const slow = full.flatMap((table) => (readsWholeTable(table, options) ? searchedFor(table, counters) : []));
    if (found.length === 0) {
      const none = passOutcome(full.length === 0 ? 'no such table' : countOf(full.length, 'table'));
      return joinUnknown(
        loose.length === 0 ? none : similarRows(loose, database),
        slow.length === 0 ? none : mayFallBehind(slow, database, counters),
      );
    }
    return failOutcome(['continuous'], countOf(found.length, 'table'), {
      required: 'a primary key, or only columns whose types have an equality operator',
      detail: `The first UPDATE or DELETE stops the replication of the whole database, not only of the table: "could not identify an equality operator for type ${firstType(found, unequal)}".${unlistedNote(found)}`,
      objects: limitObjects(found).map(({ name }) => `${name} (${unequal.get(name)?.join(', ')})`),
      fix: identityFix(found, unequal, database, sourceVersionNumber(facts)),
    });
  },
});

const day = 86_400;

/** Seconds in which a fast target compares a row with the one that was changed; 1.6e-7 were measured. */
const secondsPerRow = 1e-7;

/** Seconds of each day from which on the target may be behind when the changes come at the same time. */
const noticed = 3600;

interface SlowTable {
  readonly table: UnsafeIdentity;
  /** Of each day. */
  readonly changes: number;
  /** Whether the changes were counted for a day or longer. */
  readonly isCounted: boolean;
  /** In which the target searches for the changed rows of a day. */
  readonly seconds: number;
}

/**
 * On average half of the rows are read until the one that was changed is found. Counters of less than a day prove nothing,
 * so one change each second is assumed.
 */
function searchedFor(table: UnsafeIdentity, { seconds: counted }: CountersStart): readonly SlowTable[] {
  const { writes, rows } = table;
  const isCounted = writes !== undefined && counted !== undefined && counted >= day;
  const changes = Math.round(isCounted ? writes / (counted / day) : Math.max(writes ?? 0, day));
  const seconds = changes * (rows / 2) * secondsPerRow;
  return seconds < noticed ? [] : [{ table, changes, isCounted, seconds }];
}

function slowSearch(tables: readonly SlowTable[], database: string, { since }: CountersStart) {
  const ordered = tables.toSorted((a, b) => b.seconds - a.seconds);
  const named = ordered.map(
    ({ table: { name, rows }, changes, isCounted, seconds }) =>
      `${name} (${rows.toLocaleString('en')} rows, ${isCounted ? `${changes.toLocaleString('en')} changes a day` : 'changes not counted, at one each second'}: ${formatDuration(seconds * 1000)} of each day)`,
  );
  const more = {
    headline: 'The target searches the whole table for each changed row',
    required: 'a primary key in tables whose rows are often changed',
    detail: `For each UPDATE and DELETE of a row the target compares the rows of the table one after the other, because no index identifies them. With as many changes as the statistics count${since === '' ? '' : ` since ${since}`}, on average, this takes the listed time, in which it applies nothing else: it falls behind, and the source keeps its WAL. One statement that changes many rows has the same effect.${unlistedNote(ordered)}`,
    objects: limitObjects(named),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Add a primary key, or a unique index on NOT NULL columns with REPLICA IDENTITY USING INDEX. A target of PostgreSQL 16 or newer also uses another btree index that is not partial.',
    },
  };
  return [`${countOf(tables.length, 'table')} without an index for changed rows`, more] as const;
}

function mayFallBehind(slow: readonly SlowTable[], database: string, counters: CountersStart): CheckOutcome {
  const [observed, more] = slowSearch(slow, database, counters);
  return {
    ...unknownOutcome(observed),
    ...more,
    premise: 'the target keeps up with the changes of tables that it searches row by row',
    settledBy: 'a primary key, or --accept full-without-eq',
  };
}

/** Without a unique index two rows can be equal in all columns, and the target takes the first one that it finds. */
function similarRows(loose: readonly LooselyEqualColumn[], database: string): CheckOutcome {
  const tables = [...new Set(loose.map(({ table }) => table))];
  return {
    ...unknownOutcome(`${countOf(tables.length, 'table')} in which rows can be equal and not the same`),
    headline: 'Rows of a table with REPLICA IDENTITY FULL may be confused',
    premise: 'no two rows of a table without a key are equal and not the same',
    settledBy: 'the queries of the finding, then --accept full-without-eq',
    required: 'a primary key, or no rows that are equal and not the same',
    detail: `The target finds the changed row by the equality of all columns, and the listed columns have values that are equal and not the same, such as 1.0 and 1.00, or 'Bob' and 'bob' in citext. Where rows differ in such values alone, an UPDATE or DELETE changes the wrong one on the target without an error. ${suggestQueriesForSimilarRows(tables)}${unlistedNote(tables)}`,
    objects: limitObjects(loose).map(({ table, column }) => `${table} (${column})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Add a primary key, or a unique index on NOT NULL columns.',
    },
  };
}

const missedTexts: Readonly<Record<MissedColumn['why'], Readonly<Record<'headline' | 'required' | 'detail', string>>>> =
  {
    null: {
      headline: 'A hash index of the target does not find rows with NULL',
      required: 'a primary key, or no hash index on a nullable column',
      detail:
        'PostgreSQL 17 and newer can use an index to find the changed row. A hash index contains no NULL values: a row with NULL in the indexed column is not found, and its UPDATE or DELETE is lost on the target without an error.',
    },
    generated: {
      headline: 'An index of the target does not find rows by a generated column',
      required: 'a primary key, or no index that contains a generated column after another column',
      detail:
        'PostgreSQL 16 and newer can use an index to find the changed row, and compare all columns of the index. Generated columns are not sent, so rows are not found, and each UPDATE or DELETE is lost on the target without an error.',
    },
  };

function missedRows(missed: readonly MissedColumn[], database: string): CheckOutcome {
  const certain = missed.filter(({ rows }) => rows === 'violate');
  const named = certain.length > 0 ? certain : missed;
  const indexes = [...new Set(named.map(({ index }) => index))];
  const texts = missedTexts[named.some(({ why }) => why === 'generated') ? 'generated' : 'null'];
  const more = {
    ...texts,
    detail: `${texts.detail}${unlistedNote(named)}`,
    objects: limitObjects(named).map(({ table, column, index }) => `${table} (${column}, ${index})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: `Add a primary key, which is best. Otherwise drop the index until the cut-over and create it on the target afterwards: ${limitObjects(
        indexes,
      )
        .map((index) => `DROP INDEX ${index}`)
        .join('; ')}.`,
    },
  };
  const observed = countOf(named.length, 'table');
  return certain.length > 0 ? failOutcome(['continuous'], observed, more) : warnOutcome(observed, more);
}

/** Returns the type of the first incomparable column of the first table: `json` of `doc json`. */
function firstType([first]: readonly UnsafeIdentity[], unequal: IncomparableColumns): string {
  const described = unequal.get(first?.name ?? '')?.[0] ?? '';
  return /^(?:"(?:[^"]|"")*"|\S+) (.*)$/s.exec(described)?.[1] ?? described;
}
