import { type Fix, fail, info, pass, warn } from '../finding.ts';
import type { Columns } from './asks/columns.ts';
import { columns } from './asks/columns.ts';
import { identities, type UnequalColumn, unequalColumns, type WeakTable } from './asks/identities.ts';
import { relations } from './asks/relations.ts';
import { databaseCheck } from './check.ts';
import type { Ground } from './ground.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const replicaIdentity = databaseCheck({
  id: 'replica-identity',
  title: 'every table has a replica identity',
  // `relations` and `columns` are not judged: whether the others are asked at all depends on them.
  asks: { relations, columns, identities, unequalColumns },
  judge({ identities, unequalColumns }, database, ground) {
    const version = versionOf(ground);
    const lacking = identities.filter((table) => !table.unlogged && faultOf(table, version) !== undefined);
    if (lacking.length === 0) return pass('every table');
    // A server that does not count cannot tell that nobody writes.
    const written = lacking.filter(({ writes }) => writes === undefined || writes > 0);
    const quiet = lacking.filter(({ writes }) => writes === 0);
    const ordered = [...written, ...quiet];
    const cures = ordered.map((table) => ({ table, cure: cureOf(table, unequalColumns, version) }));
    const more = {
      required: 'a primary key that is not deferrable, REPLICA IDENTITY USING INDEX, or FULL',
      detail: `${harmOf(ordered, version)} ${writesOf(written, quiet)}${unlisted(ordered)}`,
      objects: shown(ordered.map((table) => `${table.name} (${faultOf(table, version)})`)),
      fix: identityFix(cures, database, version),
    };
    const observed = `${count(lacking.length, 'table')} without, ${written.length} of them written`;
    return written.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

export const fullWithoutEq = databaseCheck({
  id: 'full-without-eq',
  title: 'rows of tables with REPLICA IDENTITY FULL can be compared',
  asks: { relations, identities, unequalColumns },
  judge({ identities, unequalColumns }, database, ground) {
    const full = identities.filter(({ identity, unlogged }) => identity === 'f' && !unlogged);
    const found = full.filter(({ keyed, name }) => !keyed && columnsOf(unequalColumns, name).length > 0);
    if (found.length === 0) return pass(full.length === 0 ? 'no table with FULL' : `${full.length} with FULL`);
    const cures = found.map((table) => ({ table, cure: cureOf(table, unequalColumns, versionOf(ground)) }));
    return fail(['continuous'], count(found.length, 'table'), {
      required: 'a primary key, or column types with an equality operator',
      detail: `At the first UPDATE or DELETE the target says "could not identify an equality operator for type ${typeOf(unequalColumns, found)}", and the changes of the whole database stop there, not only those of the table.${unlisted(found)}`,
      objects: shown(found.map(({ name }) => `${name} (${columnsOf(unequalColumns, name).join(', ')})`)),
      fix: identityFix(cures, database, versionOf(ground)),
    });
  },
});

export const generatedColumns = databaseCheck({
  id: 'generated-columns',
  title: 'there are no generated columns',
  asks: { columns },
  judge({ columns }) {
    const { generated } = columns;
    if (generated.length === 0) return pass('none');
    const virtual = generated.filter((column) => column.virtual).length;
    return info(`${generated.length - virtual} stored, ${virtual} virtual`, {
      detail: `Stored ones are computed again on the target; nothing is lost.${virtual === 0 ? '' : ' Virtual ones need PostgreSQL 18 on the target.'}${unlisted(generated)}`,
      objects: shown(generated.map(nameOf)),
    });
  },
});

/** Why the identity of a table does not serve; undefined: it does. */
export function faultOf(table: WeakTable, version: number): string | undefined {
  const { identity, keyed, generated, generatedKey } = table;
  if (identity === 'n') return 'REPLICA IDENTITY NOTHING';
  if (identity === 'f') {
    if (version >= generatedUnsent && generated) return 'FULL with a generated column';
    return generatedKey ? 'generated column in the primary key' : undefined;
  }
  if (!keyed) return identity === 'i' ? 'its index was dropped or does not serve' : 'no usable primary key';
  return generatedKey ? 'generated column in the key' : undefined;
}

/** What gives a table an identity that serves; undefined: nothing that SQL could do without knowing the data. */
export function cureOf(table: WeakTable, unequal: readonly UnequalColumn[], version: number): string | undefined {
  if (table.primaryUsable && table.identity !== 'd') return 'DEFAULT';
  if (table.usableIndex !== undefined) return `USING INDEX ${table.usableIndex}`;
  const comparable = columnsOf(unequal, table.name).length === 0;
  const sent = !(table.generatedKey || (version >= generatedUnsent && table.generated));
  return comparable && sent && table.identity !== 'f' ? 'FULL' : undefined;
}

export function identityStatement(table: string, identity: string): string {
  return `ALTER TABLE ${table} REPLICA IDENTITY ${identity}`;
}

/** The identity that has the effect observed: an index that does not serve cannot be named again. */
export function observedIdentity({ identity }: WeakTable): string {
  return identity === 'd' ? 'DEFAULT' : identity === 'f' ? 'FULL' : 'NOTHING';
}

/** Since 18 an UPDATE of a published table fails on the source when its identity holds what is not sent. */
const generatedUnsent = 180_000;

interface Cured {
  readonly table: WeakTable;
  readonly cure: string | undefined;
}

function identityFix(cures: readonly Cured[], database: string, version: number): Fix {
  const cured = cures.filter(({ cure }) => cure !== undefined);
  const left = cures.filter(({ cure }) => cure === undefined).map(({ table }) => table.name);
  const full = cured.filter(({ cure }) => cure === 'FULL').length;
  const indexed = cured.filter(({ cure }) => cure?.startsWith('USING') === true);
  // PostgreSQL has no statement for a key that it replaces, so that the index told before is named by its fault.
  const replaced = indexed.filter(({ table }) => table.identity === 'i' && table.keyed).length;
  const words = [
    'A primary key is the best cure. The statements take a short exclusive lock each and rewrite nothing.',
    full === 0
      ? undefined
      : `${count(full, 'table')} without a unique index over NOT NULL columns get${full === 1 ? 's' : ''} FULL: every UPDATE and DELETE then writes the old row to WAL whole, and the target looks for it row by row unless there is an index; column types without equality, as json, would stop it.`,
    left.length === 0
      ? undefined
      : `No statement helps ${left.slice(0, 5).join(', ')}${left.length > 5 ? ` and ${left.length - 5} more` : ''}: give ${left.length === 1 ? 'it' : 'them'} a primary key${version >= generatedUnsent ? ' of columns that are not generated' : ''}, change json to jsonb, or leave the database out with ignore_dbs.`,
    replaced === 0 ? undefined : 'The index named before serves no better afterwards: undo sets NOTHING there.',
  ].filter((word) => word !== undefined);
  return {
    sql: cured.map(({ table, cure }) => identityStatement(table.name, cure ?? 'DEFAULT')),
    undo: cured.map(({ table }) => identityStatement(table.name, observedIdentity(table))),
    database,
    by: 'the owner of the tables, or a superuser',
    text: words.join(' '),
  };
}

function harmOf(lacking: readonly WeakTable[], version: number): string {
  const refused = lacking.find(({ generatedKey }) => version >= generatedUnsent || !generatedKey);
  const parts: readonly string[] = [
    ...(refused === undefined
      ? []
      : [
          `From the moment the publication exists the application's own statements fail on the source: "cannot update table "${bare(refused.name)}"${faultOf(refused, version)?.includes('generated') === true ? '", with the detail "Replica identity must not contain unpublished generated columns.' : ' because it does not have a replica identity and publishes updates'}".`,
        ]),
    ...(version < generatedUnsent && lacking.some(({ generatedKey }) => generatedKey)
      ? [
          'With a generated column in the key the target stops at the first UPDATE or DELETE: "publisher did not send replica identity column expected by the logical replication target relation".',
        ]
      : []),
  ];
  return parts.join(' ');
}

function writesOf(written: readonly WeakTable[], quiet: readonly WeakTable[]): string {
  if (written.some(({ writes }) => writes === undefined)) return 'The server does not count writes (track_counts is off).';
  const told = written.slice(0, 3).map(({ name, writes }) => `${name}: ${writes}`);
  const busy = written.length === 0 ? '' : `UPDATE and DELETE since the counters were reset: ${told.join(', ')}.`;
  const idle = quiet.length === 0 ? '' : `${count(quiet.length, 'table')} saw none since the counters were reset.`;
  return [busy, idle].filter((part) => part !== '').join(' ');
}

function columnsOf(unequal: readonly UnequalColumn[], name: string): readonly string[] {
  return byTable(unequal).get(name) ?? [];
}

/** The list is read once for each table, so it is sorted once. */
function byTable(unequal: readonly UnequalColumn[]): ReadonlyMap<string, readonly string[]> {
  const known = sorted.get(unequal);
  if (known !== undefined) return known;
  const map = new Map<string, string[]>();
  for (const { table, column } of unequal) map.set(table, [...(map.get(table) ?? []), column]);
  sorted.set(unequal, map);
  return map;
}

const sorted = new WeakMap<readonly UnequalColumn[], ReadonlyMap<string, readonly string[]>>();

/** The type of the first column found, without its length. */
function typeOf(unequal: readonly UnequalColumn[], found: readonly WeakTable[]): string {
  const [column = ''] = columnsOf(unequal, found[0]?.name ?? '');
  return /^(?:"(?:[^"]|"")*"|\S+) (.*)$/.exec(column)?.[1] ?? column;
}

/** The server's message names the table without its schema. */
function bare(name: string): string {
  return /^(?:"(?:[^"]|"")*"|[^".]+)\.(.*)$/.exec(name)?.[1]?.replace(/^"|"$/g, '').replaceAll('""', '"') ?? name;
}

function nameOf({ table, column }: Columns['generated'][number]): string {
  return `${table}.${column}`;
}

function versionOf({ entry }: Ground): number {
  return entry.kind === 'entered' ? entry.version : 0;
}
