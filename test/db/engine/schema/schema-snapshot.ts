import type { Postgres } from '../../../fixtures/postgres.ts';

/** What is in a schema as its server tells it, by names alone, so that two databases can be compared line by line. */
export async function schemaSnapshot(server: Postgres, database: string, most: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [what, text] of Object.entries(questions(most))) {
    const rows = await server.query(`SET search_path = ''; ${text}`, database).catch((cause) => {
      throw new Error(`${what} could not be asked`, { cause });
    });
    lines.push(...rows.map((row) => `${what}: ${JSON.stringify(row)}`).sort());
  }
  return lines;
}

const own = `NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`;

/** Heirs of tables that got columns later have them earlier when made anew, as after pg_dump. */
const place = `CASE WHEN NOT relispartition AND EXISTS (SELECT FROM pg_inherits WHERE inhrelid = attrelid) THEN NULL
  ELSE row_number() OVER (PARTITION BY attrelid ORDER BY attnum) END`;
const notOfExtension = (oid: string) =>
  `NOT EXISTS (SELECT FROM pg_depend x WHERE x.deptype = 'e' AND x.objid = ${oid})`;

/** @param most the lower major of the two servers that are compared: what it does not know is not asked */
function questions(most: number): Readonly<Record<string, string>> {
  return {
    schema: `SELECT nspname FROM pg_namespace WHERE nspname ${own} AND nspname !~ '^pg_'`,
    extension: `SELECT extname, extnamespace::regnamespace::text FROM pg_extension`,
    relation: `SELECT oid::regclass::text, relkind, relpersistence, relispartition, relrowsecurity, relforcerowsecurity,
        relreplident, reloptions, pg_get_expr(relpartbound, oid) AS bound, pg_get_partkeydef(oid) AS key, reloftype::regtype::text,
        (SELECT t.reloptions FROM pg_class t WHERE t.oid = c.reltoastrelid) AS toast, relnatts - (SELECT count(*) FROM
          pg_attribute a WHERE a.attrelid = c.oid AND attisdropped AND attnum > 0) AS width
      FROM pg_class c WHERE relnamespace::regnamespace::text ${own} AND ${notOfExtension('oid')} AND relkind <> 't'`,
    parent: `SELECT inhrelid::regclass::text, inhparent::regclass::text, inhseqno FROM pg_inherits`,
    column: `SELECT attrelid::regclass::text, ${place} AS at, attname,
        format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attcollation::regcollation::text, attstorage,
        attislocal, attinhcount, attoptions, nullif(attstattarget, -1) AS target, pg_get_expr(adbin, adrelid) AS default,
        col_description(attrelid, attnum) ${most >= 14 ? ', attcompression' : ''}
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 AND NOT attisdropped AND relnamespace::regnamespace::text ${own}
        AND ${notOfExtension('c.oid')} AND relkind NOT IN ('t')`,
    constraint: `SELECT conname, conrelid::regclass::text, contypid::regtype::text, contype, condeferrable, condeferred,
        convalidated, confrelid::regclass::text, conislocal, coninhcount,
        contype IN ('c', 'n') AND connoinherit AS alone, pg_get_constraintdef(oid),
        obj_description(oid, 'pg_constraint') FROM pg_constraint c WHERE connamespace::regnamespace::text ${own}
        AND ${notOfExtension('conrelid')} AND ${notOfExtension('contypid')} ${most >= 18 ? '' : `AND contype <> 'n'`}`,
    notNull: `SELECT table_schema, table_name, column_name, is_nullable FROM information_schema.columns
      WHERE table_schema ${own}`,
    index: `SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid, indisclustered, indisreplident,
        obj_description(indexrelid, 'pg_class') FROM pg_index WHERE indrelid >= 16384 AND ${notOfExtension('indrelid')}
        AND indexrelid::regclass::text !~ '^pg_toast'`,
    sequence: `SELECT schemaname, sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size
      FROM pg_sequences`,
    serial: `SELECT objid::regclass::text, refobjid::regclass::text, attname, deptype FROM pg_depend JOIN pg_attribute
        ON attrelid = refobjid AND attnum = refobjsubid JOIN pg_class c ON c.oid = objid AND relkind = 'S'
      WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass`,
    view: `SELECT schemaname, viewname, definition FROM pg_views WHERE schemaname ${own}`,
    materialized: `SELECT schemaname, matviewname, definition FROM pg_matviews`,
    type: `SELECT t.oid::regtype::text, typtype, typnotnull, typdefault, typbasetype::regtype::text, typtypmod,
        typcollation::regcollation::text, obj_description(t.oid, 'pg_type') FROM pg_type t
      WHERE typnamespace::regnamespace::text ${own} AND ${notOfExtension('t.oid')}`,
    label: `SELECT enumtypid::regtype::text, enumlabel, row_number() OVER (PARTITION BY enumtypid ORDER BY enumsortorder)
      FROM pg_enum`,
    range: `SELECT rngtypid::regtype::text, rngsubtype::regtype::text, rngsubdiff::regproc::text,
        rngcollation::regcollation::text ${most >= 14 ? ', rngmultitypid::regtype::text' : ''} FROM pg_range WHERE rngtypid >= 16384`,
    routine: `SELECT p.oid::regprocedure::text, prokind, CASE WHEN prokind <> 'a' THEN pg_get_functiondef(p.oid) END AS text,
        obj_description(p.oid, 'pg_proc') FROM pg_proc p
      WHERE pronamespace::regnamespace::text ${own} AND ${notOfExtension('p.oid')}`,
    aggregate: `SELECT aggfnoid::regprocedure::text, aggkind, aggnumdirectargs, aggtransfn::text, aggfinalfn::text,
        aggcombinefn::text, aggfinalextra, aggtranstype::regtype::text, agginitval FROM pg_aggregate WHERE aggfnoid >= 16384`,
    cast: `SELECT castsource::regtype::text, casttarget::regtype::text, castfunc::regprocedure::text, castcontext, castmethod,
        obj_description(oid, 'pg_cast') FROM pg_cast WHERE oid >= 16384 AND ${notOfExtension('oid')}`,
    trigger: `SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), tgenabled, obj_description(oid, 'pg_trigger')
      FROM pg_trigger WHERE tgconstraint = 0 OR NOT tgisinternal`,
    rule: `SELECT ev_class::regclass::text, rulename, ev_enabled, pg_get_ruledef(oid), obj_description(oid, 'pg_rewrite')
      FROM pg_rewrite WHERE oid >= 16384`,
    policy: `SELECT * FROM pg_policies`,
    statistics:
      `SELECT oid, stxrelid::regclass::text, pg_get_statisticsobjdef(oid), obj_description(oid, 'pg_statistic_ext')
      FROM pg_statistic_ext`.replace('SELECT oid, ', 'SELECT '),
    collation: `SELECT oid::regcollation::text, collprovider, collcollate, collctype, collisdeterministic
      FROM pg_collation WHERE oid >= 16384`,
    publication: `SELECT pubname, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate FROM pg_publication`,
    published: `SELECT pubname, schemaname, tablename ${most >= 15 ? ', attnames, rowfilter' : ''} FROM pg_publication_tables
      WHERE pubname <> 'everything'`,
    eventTrigger: `SELECT evtname, evtevent, evtfoid::regprocedure::text, evtenabled, evttags FROM pg_event_trigger`,
    comment: `SELECT (pg_identify_object(classoid, objoid, objsubid)).*, description FROM pg_description
      WHERE objoid >= 16384 OR classoid = 'pg_namespace'::regclass`,
  };
}
