export function lostClass(column: string, table: string): string {
  return `c.oid >= '16384' AND c.relpersistence <> 't' AND ${notIn(column, table)}`;
}

export function lostFunction(column: string, table: string): string {
  return `p.oid >= '16384' AND ${notIn(column, table)}`;
}

/** Parts of queries about rows of the catalogue that are gone; objects of a person begin at 16384. */
export const lostType = `a.attrelid >= '16384' AND a.atttypid >= '16384' AND ${notIn('a.atttypid', 'pg_type')}`;
export const shortClass =
  "c.oid >= '16384' AND c.relkind <> 't' AND c.relpersistence <> 't' AND c.relnatts <> (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > '0')";
export const lostTrigger = `t.tgfoid >= '16384' AND ${notIn('t.tgfoid', 'pg_proc')}`;
/** The table itself is there, and nothing can be written to it. */
export const lostIndex =
  "i.indrelid >= '16384' AND i.indexrelid NOT IN (SELECT oid FROM pg_class) AND i.indrelid IN (SELECT oid FROM pg_class)";
export const lostRule =
  "c.oid >= '16384' AND (c.relkind = 'v' OR c.relkind = 'm') AND c.oid NOT IN (SELECT ev_class FROM pg_rewrite)";
export const lostCheck =
  "c.oid >= '16384' AND c.relchecks > '0' AND c.relchecks <> (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c')";

function notIn(column: string, table: string): string {
  return `${column} NOT IN (SELECT oid FROM ${table})`;
}

/** In the words of the overview: whether there is any, each part a scan that stops at the first. */
export const anyLost = [
  `SELECT FROM pg_class c WHERE c.oid >= '16384' AND c.relpersistence <> 't' AND (${notIn('c.relnamespace', 'pg_namespace')} OR ${notIn('c.relowner', 'pg_roles')})`,
  `SELECT FROM pg_attribute a WHERE ${lostType}`,
  `SELECT FROM pg_proc p WHERE p.oid >= '16384' AND (${notIn('p.pronamespace', 'pg_namespace')} OR ${notIn('p.proowner', 'pg_roles')})`,
  `SELECT FROM pg_trigger t WHERE ${lostTrigger}`,
  `SELECT FROM pg_index i WHERE ${lostIndex}`,
  `SELECT FROM pg_class c WHERE ${lostRule}`,
  `SELECT FROM pg_class c WHERE ${lostCheck}`,
]
  .map((query) => `EXISTS (${query})`)
  .concat(
    "(SELECT sum(relnatts) FROM pg_class WHERE oid >= '16384') <> (SELECT count(*) FROM pg_attribute WHERE attrelid >= '16384' AND attnum > '0')",
  )
  .join(' OR ');
