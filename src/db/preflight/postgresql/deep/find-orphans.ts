import { builtinTypeOids } from '../../../../postgresql/catalog-oids.ts';
import type { ForeignKey, ForeignKeyColumn } from '../queries/foreign-keys.ts';
import type { TableToRead } from '../queries/tables-to-read.ts';
import { isEqualByBytes } from './plan-table-scan.ts';
import { createKeySet, type UniqueKeyHashVisitor } from './unique-key-hashes.ts';

/** Rows whose foreign key references no row. */
export interface OrphanedRows {
  /** Quoted. */
  readonly name: string;
  readonly table: string;
  readonly parent: string;
  readonly columns: readonly string[];
  readonly parentColumns: readonly string[];
  readonly rows: number;
}

interface UncomparedForeignKey {
  readonly name: string;
  readonly table: string;
  readonly reason: 'type' | 'collation' | 'too_many_rows' | 'table_not_read';
}

export interface OrphanSearchResult {
  readonly comparedForeignKeys: number;
  readonly orphans: readonly OrphanedRows[];
  readonly uncomparedForeignKeys: readonly UncomparedForeignKey[];
}

/** Calls `onKey` for each row of a table whose columns are not NULL. Resolves with false if it could not be read. */
type KeyReader = (table: TableToRead, columns: readonly string[], onKey: UniqueKeyHashVisitor) => Promise<boolean>;

/** Keys of a referenced table that are kept in memory, at most: 128 MB. */
const maxKeys = 16 * 2 ** 20;
/** Keys without a row that are looked for a second time. */
const maxMissing = 100_000;

/**
 * Compares hashes of the keys of referencing and referenced rows. Both tables are read again if keys are missing: a row
 * that was added meanwhile is then found, and one that was deleted is gone.
 */
export async function findOrphans(
  foreignKeys: readonly ForeignKey[],
  tables: readonly TableToRead[],
  readKeys: KeyReader,
): Promise<OrphanSearchResult> {
  const byOid = new Map(tables.map((table) => [table.oid, table]));
  const orphans: OrphanedRows[] = [];
  const uncomparedForeignKeys: UncomparedForeignKey[] = [];
  for (const key of foreignKeys) {
    const child = byOid.get(key.table);
    const parents = key.parents.flatMap((oid) => byOid.get(oid) ?? []);
    if (child === undefined) continue;
    const isComplete = parents.length > 0 && parents.length === key.parents.length;
    const reason = obstacleOf(key.columns) ?? (isComplete ? undefined : 'table_not_read');
    const found = reason ?? (await countOrphans(key, child, parents, readKeys));
    if (typeof found === 'string') uncomparedForeignKeys.push({ name: key.name, table: child.table, reason: found });
    else if (found > 0) {
      orphans.push({
        ...{ name: key.name, table: child.table, parent: key.parent, rows: found },
        columns: key.columns.map(({ name }) => name),
        parentColumns: key.columns.map(({ parentName }) => parentName),
      });
    }
  }
  return { comparedForeignKeys: foreignKeys.length - uncomparedForeignKeys.length, orphans, uncomparedForeignKeys };
}

async function countOrphans(
  { columns }: ForeignKey,
  child: TableToRead,
  parents: readonly TableToRead[],
  readKeys: KeyReader,
): Promise<number | UncomparedForeignKey['reason']> {
  const readChild = (onKey: UniqueKeyHashVisitor) =>
    readKeys(
      child,
      columns.map(({ name }) => name),
      onKey,
    );
  const readParents = async (onKey: UniqueKeyHashVisitor) => {
    for (const parent of parents) {
      if (
        !(await readKeys(
          parent,
          columns.map(({ parentName }) => parentName),
          onKey,
        ))
      )
        return false;
    }
    return true;
  };
  const referenced = createKeySet(maxKeys);
  if (!(await readParents(referenced.add))) return 'table_not_read';
  const known = referenced.set();
  if (known === undefined) return 'too_many_rows';
  const missing = new Set<string>();
  const isRead = await readChild((high, low) => {
    if (known.find(high, low) < 0 && missing.size < maxMissing) missing.add(`${high} ${low}`);
  });
  if (!isRead) return 'table_not_read';
  if (missing.size === 0) return 0;
  let rows = 0;
  const isReadAgain =
    (await readParents((high, low) => void missing.delete(`${high} ${low}`))) &&
    (await readChild((high, low) => {
      if (missing.has(`${high} ${low}`)) rows += 1;
    }));
  return isReadAgain ? rows : 'table_not_read';
}

const integers: readonly number[] = [builtinTypeOids.int2, builtinTypeOids.int4, builtinTypeOids.int8];
const strings: readonly number[] = [builtinTypeOids.text, builtinTypeOids.varchar];

/** Values of two columns are equal if their texts are: both are integers, or of one type whose equal values have one text. */
function obstacleOf(columns: readonly ForeignKeyColumn[]): UncomparedForeignKey['reason'] | undefined {
  if (columns.some(({ isDeterministic }) => !isDeterministic)) return 'collation';
  const isComparable = columns.every(({ types: [one, other], modifiers }) => {
    const isOfKind = (kind: readonly number[]) => kind.includes(one) && kind.includes(other);
    const isSame = one === other && modifiers[0] === modifiers[1];
    return (
      isOfKind(integers) ||
      isOfKind(strings) ||
      (isSame && isEqualByBytes({ comparedType: one, typeModifier: modifiers[0] }))
    );
  });
  return isComparable ? undefined : 'type';
}
