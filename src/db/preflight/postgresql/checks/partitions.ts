import { countOf } from '../../../../base/text.ts';
import { firstGenbkiOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeText,
  decodeTextArray,
  type PostgresqlRow,
} from '../../../../postgresql/rows.ts';
import { type OrdinaryTable, splitBinaryRow } from '../../../../postgresql/table-rows.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { bodyDdlQuery } from '../queries/body-ddl.ts';
import { bodyStatementsQuery, functionsThatEmpty } from '../queries/body-statements.ts';
import { type PartitionedKey, partitionedKeysQuery } from '../queries/constraints.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { maxScanBytes, partTypesSql, type ViolationResult } from '../queries/row-scan.ts';
import { column, columns, type RowSearcher, rowsQuery } from '../query.ts';

const decodePartitioned = columns({
  name: column.text('name'),
  strategy: (row) => (row.strategy === 'h' ? 'hash' : row.strategy === 'l' ? 'list' : 'range'),
  partitions: column.number('partitions'),
  /** Whether the partitioned table has a DEFAULT partition. */
  hasDefault: column.boolean('has_default'),
  /** Whether the table is partitioned by the hash of an enum, whose values have other object ids in every database. */
  enumHashed: column.boolean('enum_hashed'),
  /**
   * For a table that is partitioned by object ids, such as regclass, which differ in every database: whether rows
   * contain such values.
   */
  numbered: (row): ViolationResult =>
    decodeText(row, 'numbered') === '' || row.numbered === 'none' ? 'none' : 'unseen',
  /** The partitions in which rows with object ids are searched. */
  leaves: (row) => (row.numbered === 'readable' ? decodeLeaves(row) : []),
  /**
   * Whether the table is partitioned by LIST over a boolean with a partition for each value, so that no other partition
   * is needed.
   */
  closed: (row) => decodeBoolean(row, 'boolean') && decodeNumber(row, 'partitions') > 1,
  /** Quoted name of an exclusion constraint of the partitioned table. */
  excluding: column.optionalText('excluding'),
  /** Partitions whose DETACH PARTITION … CONCURRENTLY was interrupted. */
  detaching: column.texts('detaching'),
});

type PartitionedTable = ReturnType<typeof decodePartitioned>;

const partitionedTablesQuery = rowsQuery<PartitionedTable>({
  id: 'partitioned-tables',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          p.partrelid::regclass AS name,
          p.partstrat AS strategy,
          (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) AS partitions,
          ${version < 110_000 ? 'false' : "p.partdefid <> '0'"} AS has_default,
          ${hashesEnum(version)} AS enum_hashed,
          ${numberedKeyColumns} AS numbered_columns,
          CASE WHEN ${numberedKeyColumns} IS NOT NULL THEN ${leavesHaveRows} END AS numbered,
          CASE WHEN ${numberedKeyColumns} IS NOT NULL THEN ${leafNames} END AS leaves,
          ${overBoolean} AS boolean,
          ${version < 170_000 ? 'NULL' : excluding} AS excluding,
          ${version < 140_000 ? 'NULL' : detaching} AS detaching
        FROM pg_partitioned_table p
        ORDER BY 1
      `,
  row: decodePartitioned,
  searchRows: async (found, search) => {
    const searched: PartitionedTable[] = [];
    for (const table of found) searched.push({ ...table, numbered: await searchLeaves(table, search) });
    return searched;
  },
});

function decodeLeaves(row: PostgresqlRow): readonly OrdinaryTable[] {
  const columns = decodeTextArray(row, 'numbered_columns');
  const names = decodeTextArray(row, 'leaves');
  return names.flatMap((schema, at) => (at % 2 === 0 ? [{ schema, name: names[at + 1] ?? '', columns }] : []));
}

/**
 * Objects with an id below FirstGenbkiObjectId have the same id on every server. In the binary format of COPY, a value
 * of a type such as regclass is the object id.
 */
async function searchLeaves({ leaves, numbered }: PartitionedTable, search: RowSearcher): Promise<ViolationResult> {
  if (leaves.length === 0) return numbered;
  const hasOwnId = (row: Uint8Array) =>
    splitBinaryRow(row).some((value) => value !== null && Buffer.from(value).readUInt32BE(0) >= firstGenbkiOid);
  const results: ViolationResult[] = [];
  for (const leaf of leaves) {
    if (results.includes('violate')) break;
    results.push(await search(leaf, hasOwnId, 'binary'));
  }
  return (['violate', 'unseen'] as const).find((one) => results.includes(one)) ?? 'none';
}

const typeOf = "CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END";

const keyColumns = `
   pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = p.partrelid
    AND a.attnum = ANY (p.partattrs::int2[])
`;

/**
 * Columns of the partition key that contain object ids. A dump contains the values of LIST partitions as names, which
 * the target resolves.
 */
const numberedKeyColumns = `
  CASE
    WHEN p.partstrat <> 'l'
      THEN (
        SELECT array_agg(a.attname)
        FROM ${keyColumns}
          AND ${typeOf} IN (
            '${typeOids.regproc}',
            '${typeOids.regprocedure}',
            '${typeOids.regoper}',
            '${typeOids.regoperator}',
            '${typeOids.regclass}',
            '${typeOids.regtype}',
            '${typeOids.regconfig}',
            '${typeOids.regdictionary}',
            '${typeOids.regnamespace}',
            '${typeOids.regrole}',
            '${typeOids.regcollation}'
          )
      )
  END
`;

/** The partitions that contain rows, at every level of the partition tree. */
const leaves = `
  WITH RECURSIVE l AS (
    SELECT i.inhrelid
    FROM pg_inherits i
    WHERE i.inhparent = p.partrelid
    UNION ALL
    SELECT i.inhrelid
    FROM pg_inherits i
    JOIN l ON i.inhparent = l.inhrelid
  ),
  f AS (SELECT c.* FROM l JOIN pg_class c ON c.oid = l.inhrelid WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 0)
`;

const leavesHaveRows = `
  (
    ${leaves}
    SELECT CASE
      WHEN count(*) = 0 THEN 'none'
      WHEN sum(pg_relation_size(f.oid)) <= ${maxScanBytes}
          AND bool_and(has_table_privilege(f.oid, 'SELECT') AND NOT row_security_active(f.oid))
        THEN 'readable'
      ELSE 'unseen'
    END
    FROM f
  )
`;

const leafNames = `(${leaves} SELECT array_agg(ARRAY[n.nspname, f.relname]) FROM f JOIN pg_namespace n ON n.oid = f.relnamespace)`;

const overBoolean = `p.partstrat = 'l' AND EXISTS (SELECT FROM ${keyColumns} AND ${typeOf} = '${typeOids.bool}')`;

const excluding = `
  (
    SELECT min(quote_ident(k.conname))
    FROM pg_constraint k
    WHERE k.conrelid = p.partrelid
      AND k.contype = 'x'
      AND k.conparentid = '0'
  )
`;

const detaching = `
  (
    SELECT array_agg(i.inhrelid::regclass::text ORDER BY 1)
    FROM pg_inherits i
    WHERE i.inhparent = p.partrelid
      AND i.inhdetachpending
  )
`;

/**
 * PostgreSQL hashes a value of a domain over an enum like a value of the enum. Arrays, composite values and ranges are
 * hashed by their elements if their operator class is the one for any array, record or range.
 */
const hashesEnum = (version: number): string => `
  (
    p.partstrat = 'h'
      AND NOT EXISTS (
        SELECT FROM pg_inherits i
        JOIN pg_class l ON l.oid = i.inhrelid
        WHERE i.inhparent = p.partrelid AND l.relpartbound::text ~ ':modulus 1 '
      )
      AND EXISTS (
        WITH RECURSIVE k(type, class) AS (
          SELECT a.atttypid, o.opcintype
          FROM unnest(p.partclass::oid[], p.partattrs::int2[]) g(class, number)
          JOIN pg_opclass o ON o.oid = g.class
          LEFT JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = g.number
        ),
        made(type) AS (
          SELECT k.type
          FROM k
          WHERE k.class IN (
            '${typeOids.anyarray}',
            '${typeOids.record}',
            '${typeOids.anyrange}',
            '${typeOids.anymultirange}'
          )
          UNION
          SELECT part.type
          FROM made
          JOIN pg_type t ON t.oid = made.type
          CROSS JOIN LATERAL (${partTypesSql(version)}) part(type)
        )
        SELECT FROM k
        WHERE k.class = '${typeOids.anyenum}'
        UNION ALL
        SELECT FROM made
        JOIN pg_type e ON e.oid = made.type
        WHERE e.typtype = 'e'
      )
  )
`;

export const partitionsCheck = declareDatabaseCheck({
  id: 'partitions',
  title: 'no partition is created during the migration, and each row belongs to the same partition on the target',
  headline: 'A partition created during the migration stops the replication',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    partitions: partitionedTablesQuery,
    keys: partitionedKeysQuery,
    bodies: bodyStatementsQuery,
    ddl: bodyDdlQuery,
  },
  evaluate({ partitions, keys, bodies, ddl }, database, _ground, { method }) {
    const unstable = partitions.filter(({ enumHashed }) => enumHashed);
    if (unstable.length > 0) return enumHashed(unstable, database);
    const moved = partitions.filter(({ numbered }) => numbered === 'violate');
    if (moved.length > 0) return objectIdentifierKeys(moved, database);
    const unattached = partitions.filter((one) => one.excluding !== undefined && one.partitions > 0);
    if (unattached.length > 0) return exclusionConstraints(unattached, database);
    const unseen = partitions.filter(({ numbered }) => numbered === 'unseen');
    if (unseen.length > 0) {
      const { observed, ...more } = objectIdentifierKeys(unseen, database);
      return {
        ...more,
        ...unknownOutcome(`${observed}, and their rows were not checked`),
        premise: 'every row belongs to the same partition on the target',
      };
    }
    const detaching = partitions.flatMap((one) => one.detaching.map((partition) => ({ table: one.name, partition })));
    if (detaching.length > 0) return interruptedDetach(detaching, database);
    const emptying = functionsThatEmpty(bodies);
    const emptied = keys.filter((one) => one.truncated || emptying(one).length > 0);
    if (emptied.length > 0 && method !== 'dump') {
      return truncatedReferences(emptied, emptied.flatMap(emptying));
    }
    const growing = partitions.filter(({ strategy, closed }) => strategy !== 'hash' && !closed);
    const objects = limitObjects(partitions).map(described);
    if (partitions.length === 0) return passOutcome('no partitioned table');
    const observed = countOf(partitions.length, 'partitioned table');
    const kept = keys.length === 0 || method === 'dump' ? '' : ` ${truncateImpact(keys)}`;
    // That functions of the source create partitions is the finding of ddl-activity.
    const isSaid = ddl.some(({ partition }) => partition);
    if ((growing.length === 0 || isSaid) && kept !== '') {
      return warnOutcome(observed, { ...truncateTexts(keys), detail: `${truncateImpact(keys)}${unlistedNote(keys)}` });
    }
    if (growing.length === 0) {
      const isHashed = partitions.every(({ strategy }) => strategy === 'hash');
      return passOutcome(`${observed}, by hash${isHashed ? '' : ' or a boolean'}`, { objects });
    }
    if (method === 'dump' || isSaid) return infoOutcome(observed, { objects });
    return warnOutcome(observed, {
      required: 'all partitions for the next two weeks exist already',
      detail: `A partition that is created during the migration is published immediately but missing on the target, which stops the replication of the whole database: "logical replication target relation "…" does not exist".${unlistedNote(partitions)}${kept}`,
      objects,
      fix: {
        by: 'the operator of the partitioning job',
        text: 'Create the partitions of at least the next two weeks before the migration starts, and pause the job that creates them (pg_partman, pg_cron, the application) until the migration has finished.',
      },
    });
  },
});

/** The target gets the names of the partitions only, and its TRUNCATE does not cascade. */
function truncateImpact(keys: readonly PartitionedKey[]): string {
  const named = limitObjects([...new Set(keys.map(({ to }) => to))]);
  return `Do not TRUNCATE ${named.join(', ')} during the migration: a foreign key of a partitioned table refers to ${named.length === 1 ? 'it' : 'them'}, and the target truncates the partitions but not the partitioned table, which stops the replication of the whole database: "cannot truncate a table referenced in a foreign key constraint".`;
}

function truncateTexts(keys: readonly PartitionedKey[]) {
  return {
    headline: 'A TRUNCATE during the migration stops the replication',
    required: 'no TRUNCATE of a table to which a foreign key of a partitioned table refers',
    objects: limitObjects(keys).map(({ from, to }) => `${from} references ${to}`),
    fix: {
      by: 'the operator of the application',
      text: 'Use DELETE instead of TRUNCATE until the migration has finished, or drop the foreign key until then.',
    },
  };
}

function truncatedReferences(keys: readonly PartitionedKey[], functions: readonly string[]): CheckOutcome {
  const named = limitObjects([...new Set(keys.map(({ to }) => to))]);
  const sign =
    functions.length === 0
      ? 'Files and statistics show an earlier TRUNCATE.'
      : `Functions contain such a TRUNCATE: ${limitObjects([...new Set(functions)]).join(', ')}.`;
  return {
    ...unknownOutcome(`${countOf(named.length, 'table')}, possibly with TRUNCATE`),
    ...truncateTexts(keys),
    premise: `no TRUNCATE of ${named.slice(0, 3).join(', ')} during the migration`,
    settledBy: 'DELETE instead of TRUNCATE, then --accept partitions',
    detail: `${truncateImpact(keys)} ${sign}${unlistedNote(keys)}`,
  };
}

function interruptedDetach(
  found: readonly { readonly table: string; readonly partition: string }[],
  database: string,
): CheckOutcome {
  return warnOutcome(countOf(found.length, 'partition'), {
    headline: 'A partition is being detached',
    required: 'no interrupted DETACH PARTITION … CONCURRENTLY',
    detail: `Queries of these tables leave out the rows of the partitions. A dump contains the partitions as attached, so the tables have these rows again on the target.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ table, partition }) => `${partition} of ${table}`),
    fix: {
      database,
      by: 'the owner of the tables',
      review: found.map(
        ({ table, partition }) =>
          `ALTER TABLE ${requoteName(table)} DETACH PARTITION ${requoteName(partition)} FINALIZE`,
      ),
      text: 'Complete the detachment before the migration (DETACH PARTITION … FINALIZE).',
    },
  });
}

function enumHashed(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} partitioned by the hash of an enum`, {
    headline: 'A table is partitioned by the hash of an enum',
    required: 'no partitioning by the hash of an enum',
    detail: `The hash of an enum value is computed from an OID that differs on the target, so rows belong to other partitions on the target: "new row for relation … violates partition constraint". The copy of each partition is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found).map(described),
    fix: {
      by: 'the schema owner',
      text: `Partition the table by another column, by LIST, or by the enum as text; or exclude the database (--ignore-dbs ${database}) and migrate it with pg_dump --load-via-partition-root.`,
    },
  });
}

function objectIdentifierKeys(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} partitioned by an object identifier`, {
    headline: 'A table is partitioned by an object identifier',
    required: 'no HASH or RANGE partitioning by regclass, regtype, regrole or a similar type',
    detail: `Tables, types, functions, schemas and roles have other OIDs on the target, so rows that contain an OID belong to other partitions on the target: "new row for relation … violates partition constraint". The copy of each partition is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found).map(described),
    fix: {
      by: 'the schema owner',
      text: `Partition the table by LIST, or by the name of the object as text; or exclude the database (--ignore-dbs ${database}) and migrate it with pg_dump --load-via-partition-root.`,
    },
  });
}

function exclusionConstraints(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} with an EXCLUDE constraint`, {
    headline: 'A partitioned table has an EXCLUDE constraint',
    required: 'no EXCLUDE constraint on a partitioned table',
    detail: `A dump creates the index of an EXCLUDE constraint separately for every partition, and no such index can be attached: "cannot attach index … as a partition of index …". The schema cannot be restored.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ name, excluding }) => `${name} (${excluding})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Drop the EXCLUDE constraints before the migration (ALTER TABLE … DROP CONSTRAINT …), or define them on the partitions only, and add the constraints on the target after the cut-over.',
    },
  });
}

function described({ name, strategy, partitions, hasDefault }: PartitionedTable): string {
  return `${name} (${strategy}, ${countOf(partitions, 'partition')}${hasDefault ? ', one of them DEFAULT' : ''})`;
}
