import { releaseNamed } from '../../postgresql/version.ts';
import { fail, type Outcome, pass, warn } from '../finding.ts';
import type { Wish } from '../wish.ts';
import { type HashedNull, hashedNulls } from './asks/hashed-nulls.ts';
import { identities, type UnequalColumn, unequalColumns, type WeakTable } from './asks/identities.ts';
import { databaseCheck } from './check.ts';
import type { Ground } from './ground.ts';
import { faultOf, generatedRefused, identityFix, type Unequal, unequalByTable } from './identity-cure.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const replicaIdentity = databaseCheck({
  id: 'replica-identity',
  title: 'every table has a replica identity',
  asks: { identities, unequalColumns, hashedNulls },
  judge({ identities, unequalColumns, hashedNulls }, database, ground, wish) {
    const version = versionOf(ground);
    const lacking = identities.filter((table) => !table.unlogged && faultOf(table, version) !== undefined);
    if (lacking.length === 0) return pass('all tables');
    // Where nothing is counted nobody can tell that a table is left alone.
    const written = lacking.filter(({ writes }) => writes !== 0);
    // There the source says nothing, and the whole database stands still on the target: no counter of the past is worth that.
    const silent = lacking.filter(({ generatedKey }) => generatedKey && version < generatedRefused);
    const ordered = lacking.toSorted((a, b) => Number(b.writes !== 0) - Number(a.writes !== 0));
    const observed = `${count(lacking.length, 'table')} without, ${written.length} of them written to`;
    const more = {
      required: 'a primary key that is not deferrable, or REPLICA IDENTITY USING INDEX or FULL',
      detail: `${harmOf(lacking, version)} ${writesOf(written, lacking.length)}${unlisted(lacking)}`,
      objects: shown(ordered).map((table) => `${table.name} (${faultOf(table, version)})`),
      fix: identityFix(ordered, unequalByTable([...unequalColumns, ...unfound(hashedNulls, wish)]), database, version),
    };
    return written.length + silent.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

export const fullWithoutEq = databaseCheck({
  id: 'full-without-eq',
  title: 'rows of tables with REPLICA IDENTITY FULL can be compared',
  asks: { identities, unequalColumns, hashedNulls },
  judge({ identities, unequalColumns, hashedNulls }, database, ground, wish) {
    const unequal = unequalByTable(unequalColumns);
    const full = identities.filter(({ identity, unlogged }) => identity === 'f' && !unlogged);
    const found = full.filter(({ keyed, name }) => !keyed && unequal.has(name));
    const missed =
      found.length > 0
        ? []
        : missable(hashedNulls, wish).filter(({ table }) => full.some(({ name }) => name === table));
    if (missed.length > 0) return lost(missed, database);
    if (found.length === 0) return pass(full.length === 0 ? 'no such table' : count(full.length, 'table'));
    return fail(['continuous'], count(found.length, 'table'), {
      required: 'a primary key, or columns of types with an equality operator',
      detail: `At the first UPDATE or DELETE the target says "could not identify an equality operator for type ${firstType(found, unequal)}", and stops applying the changes of the whole database, not only those of the table.${unlisted(found)}`,
      objects: shown(found).map(({ name }) => `${name} (${unequal.get(name)?.join(', ')})`),
      fix: identityFix(found, unequal, database, versionOf(ground)),
    });
  },
});

/** Since 17 a target looks for a whole row by a hash index as well. */
const hashTaken = 170_000;

function missable(hashed: readonly HashedNull[], { targetVersion }: Wish): readonly HashedNull[] {
  const target = targetVersion === undefined ? undefined : releaseNamed(targetVersion);
  return target !== undefined && target < hashTaken ? [] : hashed;
}

/** So that FULL is no cure for their tables. */
function unfound(hashed: readonly HashedNull[], wish: Wish): readonly UnequalColumn[] {
  return missable(hashed, wish).map(({ table, column, index }) => ({
    table,
    column: `${column} (NULL is in no hash index, as ${index})`,
  }));
}

function lost(missed: readonly HashedNull[], database: string): Outcome {
  const sure = missed.filter(({ rows }) => rows === 'violate');
  const named = sure.length > 0 ? sure : missed;
  const indexes = [...new Set(named.map(({ index }) => index))];
  const more = {
    required: 'a primary key, or no hash index over a column that takes NULL',
    detail: `PostgreSQL 17 and newer look for the row that is changed by an index, and a hash index has no NULL: such a row is not found, its UPDATE or DELETE is left out on the target, and nobody says so.${unlisted(named)}`,
    objects: shown(named).map(({ table, column, index }) => `${table} (${column}, ${index})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: `A primary key is the best cure. Else drop the index until the cut-over and make it on the target then: ${shown(
        indexes,
      )
        .map((index) => `DROP INDEX ${index}`)
        .join('; ')}.`,
    },
  };
  const observed = count(named.length, 'table');
  return sure.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
}

/** In the server's words, each kind of fault once. */
function harmOf(lacking: readonly WeakTable[], version: number): string {
  const isGenerated = (table: WeakTable) => faultOf(table, version)?.includes('generated') === true;
  const plain = lacking.find((table) => !isGenerated(table));
  const words: string[] = [];
  if (plain !== undefined) {
    words.push(
      `From the moment the publication exists, UPDATE and DELETE of the application fail on the source: "cannot update table ${lastPart(plain.name)} because it does not have a replica identity and publishes updates".`,
    );
  }
  if (lacking.some(isGenerated)) {
    words.push(
      version >= generatedRefused
        ? 'From the moment the publication exists, UPDATE and DELETE of the application fail on the source: "Replica identity must not contain unpublished generated columns."'
        : 'A generated column is not sent, so the target stops at the first UPDATE or DELETE: "publisher did not send replica identity column expected by the logical replication target relation".',
    );
  }
  return words.join(' ');
}

function writesOf(written: readonly WeakTable[], all: number): string {
  if (written.some(({ writes }) => writes === undefined)) {
    return 'Whether anybody writes to them is not known: track_counts is off.';
  }
  if (written.length === 0) return 'None of them was updated or deleted from since the counters were reset.';
  const busiest = written.toSorted((a, b) => (b.writes ?? 0) - (a.writes ?? 0)).slice(0, 3);
  const told = busiest.map(({ name, writes }) => `${name} ${writes}`).join(', ');
  const quiet = all - written.length;
  return `UPDATE and DELETE since the counters were reset: ${told}.${quiet === 0 ? '' : ` The other ${count(quiet, 'table')} saw none.`}`;
}

/** The server's message names the table alone, in double quotes. */
function lastPart(name: string): string {
  const part = /^(?:"(?:[^"]|"")*"|[^".]+)\.(.*)$/s.exec(name)?.[1] ?? name;
  return part.startsWith('"') ? part : `"${part}"`;
}

/** `json` of `doc json`, of the first column found. */
function firstType([first]: readonly WeakTable[], unequal: Unequal): string {
  const described = unequal.get(first?.name ?? '')?.[0] ?? '';
  return /^(?:"(?:[^"]|"")*"|\S+) (.*)$/s.exec(described)?.[1] ?? described;
}

function versionOf({ entry }: Ground): number {
  return entry.kind === 'entered' ? entry.version : 0;
}
