import { isUserObject, joinArrays, type ObjectQuery, type Versions } from '../object.ts';

/** Publications of the source. On the target they have no effect until a subscriber uses them. */
export const publicationsQuery: ObjectQuery = {
  kind: 'publication',
  sql: (versions) => `SELECT 'pg_publication:' || p.oid AS id, 'publication ' || p.pubname AS name,
      (SELECT array_agg('pg_class:' || r.prrelid) FROM pg_publication_rel r WHERE r.prpubid = p.oid) AS depends_on,
      ${joinArrays(
        `ARRAY[format('CREATE PUBLICATION %I%s WITH (%s)', p.pubname,
          CASE WHEN p.puballtables THEN ' FOR ALL TABLES' ELSE '' END, ${publicationOptions(versions)})]`,
        addTableStatements(versions),
        addSchemaStatements(versions),
      )} AS statements
    FROM pg_publication p WHERE ${isUserObject('pg_publication', 'p.oid')}`,
};

function publicationOptions({ from }: Versions): string {
  return `concat_ws(', ', format('publish = %L', concat_ws(', ', CASE WHEN p.pubinsert THEN 'insert' END,
      CASE WHEN p.pubupdate THEN 'update' END, CASE WHEN p.pubdelete THEN 'delete' END,
      CASE WHEN p.pubtruncate THEN 'truncate' END))
    ${from >= 130_000 ? `, CASE WHEN p.pubviaroot THEN 'publish_via_partition_root = true' END` : ''}
    ${from >= 180_000 ? `, CASE p.pubgencols WHEN 's' THEN 'publish_generated_columns = stored' END` : ''})`;
}

function addTableStatements({ from }: Versions): string {
  const rest =
    from >= 150_000
      ? `coalesce((SELECT format(' (%s)', string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum))
          FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (r.prattrs::int2[]) HAVING count(*) > 0), ''),
        coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', '')`
      : `'', ''`;
  return `ARRAY(SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %I.%I%s%s', p.pubname, n.nspname, c.relname, ${rest})
    FROM pg_publication_rel r JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE r.prpubid = p.oid ORDER BY 1)`;
}

function addSchemaStatements({ from }: Versions): string {
  if (from < 150_000) return 'ARRAY[]';
  return `ARRAY(SELECT format('ALTER PUBLICATION %I ADD TABLES IN SCHEMA %I', p.pubname, n.nspname)
    FROM pg_publication_namespace s JOIN pg_namespace n ON n.oid = s.pnnspid WHERE s.pnpubid = p.oid ORDER BY 1)`;
}
