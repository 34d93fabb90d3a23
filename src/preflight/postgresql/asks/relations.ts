import type { Ask, Row } from '../ask.ts';
import { numberIn, textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { remarkable, where } from './overview.ts';

/** What is noteworthy in pg_class; a plain table with a key is not, so that a hundred thousand of them are no row. */
export interface Relations {
  readonly unlogged: readonly string[];
  readonly foreign: readonly string[];
  /** Of sessions that are connected now, or that broke off. */
  readonly temporary: readonly string[];
  readonly partitioned: readonly string[];
  readonly matviews: readonly { readonly name: string; readonly populated: boolean }[];
  readonly secured: readonly SecuredTable[];
  /** Tables and indexes outside pg_default; `tablespace` is an oid. */
  readonly placed: readonly { readonly name: string; readonly tablespace: string }[];
}

/** A table with row-level security that holds for this role. */
export interface SecuredTable {
  readonly name: string;
  /** It holds for the owner too. */
  readonly forced: boolean;
}

/** A name is written as a regclass: qualified and quoted by the server, whose search_path is pg_catalog alone. */
export const relations: Ask<Relations> = {
  id: 'relations',
  scope: 'database',
  when: where('relations'),
  sql: (_version, { superuser }) =>
    `SELECT c.relkind AS kind, c.relpersistence AS persistence, c.reltablespace AS tablespace, c.relispopulated AS populated, ${secured(superuser)} AS secured, c.relforcerowsecurity AS forced, c.oid::regclass AS name FROM pg_class c WHERE c.oid >= '16384' AND c.relnamespace <> '99' AND ${remarkable}`,
  decode: (rows) => {
    const named = (matches: (row: Row) => boolean) => rows.filter(matches).map((row) => textIn(row, 'name'));
    const isTable = ({ kind }: Row) => kind === 'r' || kind === 'p';
    const isLasting = ({ persistence }: Row) => persistence !== 't';
    return {
      unlogged: named(({ kind, persistence }) => kind === 'r' && persistence === 'u'),
      foreign: named(({ kind }) => kind === 'f'),
      temporary: named((row) => isTable(row) && !isLasting(row)),
      partitioned: named((row) => row.kind === 'p' && isLasting(row)),
      matviews: rows
        .filter(({ kind }) => kind === 'm')
        .map((row) => ({ name: textIn(row, 'name'), populated: truthIn(row, 'populated') })),
      secured: rows
        .filter((row) => truthIn(row, 'secured') && isLasting(row))
        .map((row) => ({ name: textIn(row, 'name'), forced: truthIn(row, 'forced') })),
      placed: rows
        .filter((row) => ![0, 1663].includes(numberIn(row, 'tablespace')) && isLasting(row))
        .map((row) => ({ name: textIn(row, 'name'), tablespace: textIn(row, 'tablespace') })),
    };
  },
  absent: {
    unlogged: [],
    foreign: [],
    temporary: [],
    partitioned: [],
    matviews: [],
    secured: [],
    placed: [],
  },
  grant: grantMonitor,
};

/** A superuser sees every row. */
function secured(superuser: boolean): string {
  return superuser
    ? 'false'
    : "CASE WHEN c.relrowsecurity AND (c.relkind = 'r' OR c.relkind = 'p') THEN row_security_active(c.oid) END";
}
