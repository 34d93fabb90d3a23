import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { dependents } from './evaluated-functions.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** A CHECK of a table with rows that calls a function of a person, which may read rows. */
export interface CallingCheck {
  /** The oid of the function. */
  readonly calls: string;
  /** Quoted. */
  readonly name: string;
  /** Qualified and quoted. */
  readonly table: string;
  readonly schema: string;
  /** As the catalogue has it. */
  readonly relation: string;
  readonly definition: string;
}

export const callingChecks: Ask<readonly CallingCheck[]> = {
  id: 'calling-checks',
  scope: 'database',
  when: where('called-functions'),
  sql: (version) =>
    `${dependents} SELECT DISTINCT d.calls, quote_ident(k.conname) AS conname, c.oid::regclass AS name, n.nspname, c.relname, pg_get_constraintdef(k.oid) AS definition FROM d JOIN pg_constraint k ON k.oid = d.objid JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE d.classid = '2606' AND k.contype = 'c' AND c.relkind = 'r' AND c.relpersistence = 'p' AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)${version < 180_000 ? '' : ' AND k.conenforced'}`,
  decode: (rows) =>
    rows.map((row) => ({
      calls: textIn(row, 'calls'),
      name: textIn(row, 'conname'),
      table: textIn(row, 'name'),
      schema: textIn(row, 'nspname'),
      relation: textIn(row, 'relname'),
      definition: textIn(row, 'definition'),
    })),
  absent: [],
  grant: grantMonitor,
};
