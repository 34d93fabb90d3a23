import { QueryError } from '../../../postgresql/query-error.ts';
import { readOnlySql, rollbackSql } from '../../../postgresql/search-path-safe-sql.ts';
import {
  comparableTextSettings,
  copyTransaction,
  createDigestBuilder,
  readRows,
  splitBinaryRow,
  type TableDigest,
} from '../../../postgresql/table-rows.ts';
import { longTimeout } from '../../engine/tools.ts';
import { canTableBecomeEqual, compareTableContents, type TableContentReadings } from '../comparison.ts';
import type { TableComparison } from '../rehearse/report.ts';
import {
  queryCatalogRows,
  readPostgresqlServerVersion,
  readTableContentDigests,
  type TableContentSession,
  type TableWithCopiedColumns,
} from './tables.ts';

interface CompareTableDigestsOptions {
  readonly source: TableContentSession;
  readonly target: TableContentSession;
  readonly tables: readonly TableWithCopiedColumns[];
  /** server_version_num of the older one of the source and the target. */
  readonly oldest: number;
  /** The maximum number of comparisons of a table while applications write to the source. */
  readonly maxRounds: number;
  /**
   * Called before the tables of the target are read. Resolves with the reason why the target has not received all
   * changes of the source; undefined if it has.
   */
  readonly waitUntilReplicated: () => Promise<string | undefined>;
  readonly pause: (ms: number) => Promise<void>;
  /** Called before each comparison, which counts from 1, with the names of its tables. */
  readonly onRound?: (round: number, open: readonly string[]) => void;
  /** Whether `waitUntilReplicated` proves that the target has received all changes (default: yes). */
  readonly isConfirmed?: boolean;
  /** Whether the caller proves that nothing is written, so that the first round reads both servers once (default: no). */
  readonly isQuiet?: boolean;
  /**
   * Begins to watch the source for writes. Resolves with a function that tells whether it was still since; undefined if it is
   * written to. A reading of both servers at once is then enough.
   */
  readonly watchWrites?: () => Promise<(() => Promise<boolean>) | undefined>;
  /** More sessions with each server, which read at the same time. */
  readonly more?: Readonly<Record<'source' | 'target', readonly TableContentSession[]>>;
}

interface TableDigestComparison {
  readonly tables: readonly TableComparison[];
  /** Why the target has not received all changes of the source; undefined if it has. */
  readonly behind: string | undefined;
}

/**
 * Compares the rows of tables by their digests: both servers at once while nothing is written, else source, target, and the source
 * again, because a table that was written to in between cannot be compared. Tables that are not equal are compared again, at most `maxRounds` times.
 */
export async function compareTableDigests(options: CompareTableDigestsOptions): Promise<TableDigestComparison> {
  const { source, target, tables, oldest, maxRounds } = options;
  const found = new Map<string, TableComparison>();
  let open: readonly TableWithCopiedColumns[] = tables;
  let behind: string | undefined;
  for (let attempt = 0; attempt < maxRounds && open.length > 0; attempt++) {
    if (attempt > 0) await options.pause(Math.min(1000, 100 * 2 ** attempt));
    options.onRound?.(
      attempt + 1,
      open.map(({ name }) => name),
    );
    const failures = new Map<string, string>();
    const read = (side: 'source' | 'target', some: readonly TableWithCopiedColumns[]) =>
      readTableContentDigests({ source, target }[side], some, {
        more: options.more?.[side] ?? [],
        limit: longTimeout,
        oldest,
        onFailure: (name, error) => failures.set(name, `could not be read on the ${side}: ${error.message}`),
      });
    const known = options.isQuiet === true && attempt === 0;
    const isStill = known ? () => Promise.resolve(true) : await options.watchWrites?.();
    if (isStill !== undefined && !known) behind = await options.waitUntilReplicated();
    const reading = read('source', open);
    if (isStill === undefined) {
      await reading;
      behind = await options.waitUntilReplicated();
    }
    let [before, there] = await Promise.all([reading, read('target', open)]);
    let after = before;
    if (isStill === undefined) after = await read('source', open);
    else if (!(await isStill())) {
      // The source is read around a reading of the target, as if it had been written to from the beginning.
      behind = await options.waitUntilReplicated();
      there = await read('target', open);
      after = await read('source', open);
    }
    const round = { before, target: there, after };
    const isConfirmed = behind === undefined && options.isConfirmed !== false;
    const unequal = compareTableContents(round, isConfirmed).filter(canTableBecomeEqual);
    const suspects = open.filter(({ name }) => unequal.some((one) => one.name === name));
    const again = isConfirmed ? there : await read('target', suspects);
    for (const table of open)
      found.set(table.name, tableResult(table, round, { again, behind, isConfirmed, failures }));
    open = open.filter(({ name }) => {
      const one = found.get(name);
      return one !== undefined && canTableBecomeEqual(one) && !failures.has(name);
    });
    if (behind !== undefined) break;
  }
  return { tables: tables.flatMap(({ name, generated }) => withGenerated(found.get(name), generated)), behind };
}

interface RoundFacts {
  /** The digests of the last reading of the target, after the second reading of the source. */
  readonly again: ReadonlyMap<string, TableDigest>;
  readonly behind: string | undefined;
  readonly isConfirmed: boolean;
  readonly failures: ReadonlyMap<string, string>;
}

function tableResult(
  { name }: TableWithCopiedColumns,
  round: TableContentReadings,
  facts: RoundFacts,
): TableComparison {
  const failure = facts.failures.get(name);
  const [before, there, after] = [round.before.get(name), round.target.get(name), round.after.get(name)];
  const rows = { name, rows_source: (after ?? before)?.rows ?? null, rows_target: there?.rows ?? null };
  if (failure !== undefined) return { ...rows, state: 'not_comparable', error: failure, acceptable: true };
  if (before === undefined || after === undefined)
    return { ...rows, state: 'not_comparable', error: 'the table was changed or dropped on the source' };
  const of = (content: TableDigest | undefined) => new Map(content === undefined ? [] : [[name, content]]);
  const [one] = compareTableContents({ before: of(before), target: of(there), after: of(after) }, facts.isConfirmed);
  if (one === undefined || one.state === 'equal') return { ...rows, state: one?.state ?? 'not_comparable' };
  if (before.digest !== after.digest) {
    return one.state === 'differs' ? one : { ...one, error: 'the source was written to during the comparison' };
  }
  if (facts.behind !== undefined && there !== undefined)
    return { ...one, state: 'not_comparable', error: facts.behind };
  if (there !== undefined && facts.again.get(name)?.digest !== there.digest)
    return { ...one, state: 'not_comparable', error: 'the target was written to during the comparison' };
  return one;
}

/** A table with columns that were not read is never reported as equal. */
function withGenerated(
  found: TableComparison | undefined,
  generated: TableWithCopiedColumns['generated'],
): readonly TableComparison[] {
  if (found === undefined) return [];
  if (generated.length === 0 || found.state === 'differs') return [found];
  // Without rows no column has a value.
  if (found.state === 'equal' && found.rows_source === 0 && found.rows_target === 0) return [found];
  const columns = { columns_not_compared: generated.map(({ name }) => name) };
  if (found.state !== 'equal') return [{ ...found, ...columns }];
  const unsafe = generated.filter(({ callsUserCode }) => callsUserCode).map(({ name }) => name);
  if (unsafe.length === 0) return [{ ...found, ...columns, state: 'partly_equal' }];
  const error = `COPY cannot read generated columns, and functions of users compute ${unsafe.join(', ')}`;
  return [{ ...found, ...columns, state: 'not_comparable', error, acceptable: true }];
}

/**
 * Compares the large objects of a database on both servers. Returns one entry, whose row counts are numbers of large objects; no
 * entry if neither server has large objects.
 */
export async function compareLargeObjects(
  source: TableContentSession,
  target: TableContentSession,
): Promise<readonly TableComparison[]> {
  const counts = { source: await countLargeObjects(source), target: await countLargeObjects(target) };
  if (counts.source === 0 && counts.target === 0) return [];
  const entry = { name: 'large objects', rows_source: counts.source, rows_target: counts.target };
  if (counts.source !== counts.target) return [{ ...entry, state: 'differs' }];
  try {
    const before = await readLargeObjects(source);
    const there = await readLargeObjects(target);
    if (before.digest === there.digest) return [{ ...entry, state: 'equal' }];
    const after = await readLargeObjects(source);
    const isSettled = before.digest === after.digest && there.digest === (await readLargeObjects(target)).digest;
    return [{ ...entry, state: isSettled ? 'differs' : 'not_comparable' }];
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    for (const session of [source, target]) await session.query(rollbackSql);
    return [{ ...entry, state: 'not_comparable', error: `could not be read: ${error.message}`, acceptable: true }];
  }
}

async function countLargeObjects(session: TableContentSession): Promise<number> {
  const [row] = await queryCatalogRows(session, 'SELECT count(*) AS count FROM pg_largeobject_metadata');
  return Number(row?.count ?? 0);
}

/**
 * Reads the content of all large objects. Missing pages count as zeros, so that a large object with a gap is equal to a
 * restored one whose gap was filled with zeros.
 */
async function readLargeObjects(session: TableContentSession): Promise<TableDigest> {
  const version = await readPostgresqlServerVersion(session);
  const pages = { schema: 'pg_catalog', name: 'pg_largeobject', columns: ['loid', 'pageno', 'data'] };
  const settings = comparableTextSettings(version, version);
  const message = readOnlySql(copyTransaction(pages, version, 'binary'), settings);
  const digest = createDigestBuilder();
  const ends = new Map<number, { readonly page: number; readonly length: number }>();
  const visit = (row: Uint8Array) => {
    const [loid, pageno, data] = splitBinaryRow(row).map((field) => field && Buffer.from(field));
    if (!loid || !pageno || !data) return false;
    const [object, page] = [loid.readUInt32BE(), pageno.readInt32BE()];
    if (page >= (ends.get(object)?.page ?? 0)) ends.set(object, { page, length: data.length });
    const used = data.subarray(0, data.findLastIndex((byte) => byte !== 0) + 1);
    if (used.length > 0) digest.add(Buffer.from(`${object} ${page} ${used.toString('base64')}\n`));
    return false;
  };
  await readRows(session, message, visit, { time: longTimeout });
  for (const [object, { page, length }] of ends) digest.add(Buffer.from(`${object} ends at ${page} ${length}\n`));
  const empty = await queryCatalogRows(
    session,
    `SELECT m.oid FROM pg_largeobject_metadata m WHERE NOT EXISTS (SELECT 1 FROM pg_largeobject l WHERE l.loid = m.oid)`,
  );
  for (const { oid } of empty) digest.add(Buffer.from(`${oid} is empty\n`));
  return digest.content();
}
