import type { Ask } from '../ask.ts';
import { numberIn, textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** A partitioned table. */
export interface Partitioned {
  readonly name: string;
  readonly strategy: 'range' | 'list' | 'hash';
  readonly partitions: number;
  /** Rows that fit nowhere have a partition too. */
  readonly hasDefault: boolean;
  /** By the hash of an enum, whose numbers are others in every database. */
  readonly enumHashed: boolean;
}

export const partitions: Ask<readonly Partitioned[]> = {
  id: 'partitions',
  scope: 'database',
  when: where('relations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `SELECT p.partrelid::regclass AS name, p.partstrat AS strategy, (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) AS partitions, ${version < 110_000 ? 'false' : "p.partdefid <> '0'"} AS has_default, ${hashesEnum} AS enum_hashed FROM pg_partitioned_table p ORDER BY 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      strategy: row.strategy === 'h' ? 'hash' : row.strategy === 'l' ? 'list' : 'range',
      partitions: numberIn(row, 'partitions'),
      hasDefault: truthIn(row, 'has_default'),
      enumHashed: truthIn(row, 'enum_hashed'),
    })),
  absent: [],
  grant: grantMonitor,
};

/** 3500 is anyenum, 2277 anyarray: a domain over an enum is hashed as the enum. */
const hashesEnum =
  "(p.partstrat = 'h' AND EXISTS (SELECT FROM unnest(p.partclass::oid[], p.partattrs::int2[]) k(class, number) JOIN pg_opclass o ON o.oid = k.class LEFT JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = k.number LEFT JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem WHERE o.opcintype = 3500 OR (o.opcintype = 2277 AND e.typtype = 'e')))";
