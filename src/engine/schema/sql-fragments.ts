/** The first oid that a person's object can have; what is below came with the server. */
const firstNormalObjectId = 16_384;

/** True for an object that somebody made and that belongs to no extension. `oid` and `catalogue` are words of ours. */
export function userObjectCondition(catalogue: string, oid: string): string {
  return `(${oid} >= ${firstNormalObjectId} AND NOT EXISTS (SELECT FROM pg_depend member
    WHERE member.classid = '${catalogue}'::regclass AND member.objid = ${oid} AND member.deptype = 'e'))`;
}

/** `pg_class` of the oid of a catalogue: the session quotes all names, and an id has none. */
export function catalogName(oid: string): string {
  return `trim('"' FROM ${oid}::regclass::text)`;
}

/** True for a namespace (by its alias) in which people keep things. */
export function userSchemaCondition(namespace: string): string {
  return `${namespace}.nspname !~ '^pg_' AND ${namespace}.nspname <> 'information_schema'`;
}

/** Relations that people made, as `c` in `n`, of the kinds named by letters: `rp`. */
export function userRelations(letters: string): string {
  return `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    AND c.relkind::text IN (${[...letters].map((letter) => `'${letter}'`).join(', ')})
    AND ${userSchemaCondition('n')} AND ${userObjectCondition('pg_class', 'c.oid')}`;
}

/** `"fillfactor"='70', "toast"."…"='…'`, or null for no options. */
export function storageOptionsSql(options: string, prefix = ''): string {
  return `(SELECT string_agg(format('${prefix}%I=%L', option_name, option_value), ', ')
    FROM pg_options_to_table(${options}))`;
}

/** ` COLLATE "s"."c"` when the collation is not the one that the type has anyway. */
export function collateClause(collation: string, type: string): string {
  return `coalesce((SELECT format(' COLLATE %I.%I', cn.nspname, co.collname)
    FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace
    WHERE co.oid = ${collation} AND co.oid <> (SELECT typcollation FROM pg_type WHERE oid = ${type})), '')`;
}

/** What follows the name in CREATE SEQUENCE and in an identity column, from an alias of pg_sequence. */
export function sequenceOptionsSql(sequence: string): string {
  return `format('START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s', ${sequence}.seqstart,
    ${sequence}.seqincrement, ${sequence}.seqmin, ${sequence}.seqmax, ${sequence}.seqcache,
    CASE WHEN ${sequence}.seqcycle THEN ' CYCLE' ELSE ' NO CYCLE' END)`;
}

/** An SQL array of texts as JSON; nulls in it go. */
export function jsonTextArray(...entries: readonly string[]): string {
  return `array_to_json(array_remove(ARRAY[${entries.join(', ')}]::text[], NULL))`;
}

/** A statement for each row of a query with the one column `line`, joined to others by `||`. */
export function jsonTextArrayConcat(...arrays: readonly string[]): string {
  return `array_to_json(array_remove((${arrays.map((array) => `${array}::text[]`).join(' || ')}), NULL))`;
}
