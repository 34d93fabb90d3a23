import type { Ask } from '../ask.ts';
import { numberIn, textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { overview } from './overview.ts';

/** A partitioned table. */
export interface Partitioned {
  readonly name: string;
  readonly strategy: 'range' | 'list' | 'hash';
  readonly partitions: number;
  /** Rows that fit nowhere have a partition too. */
  readonly hasDefault: boolean;
}

export const partitions: Ask<readonly Partitioned[]> = {
  id: 'partitions',
  scope: 'database',
  when: (known) => known(overview)?.relations ?? true,
  sql: (version) =>
    version < 100_000
      ? undefined
      : `SELECT p.partrelid::regclass AS name, p.partstrat AS strategy, (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) AS partitions, ${version < 110_000 ? 'false' : "p.partdefid <> '0'"} AS has_default FROM pg_partitioned_table p ORDER BY 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      strategy: row.strategy === 'h' ? 'hash' : row.strategy === 'l' ? 'list' : 'range',
      partitions: numberIn(row, 'partitions'),
      hasDefault: truthIn(row, 'has_default'),
    })),
  absent: [],
  grant: grantMonitor,
};
