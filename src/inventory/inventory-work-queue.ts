import type { PostgresqlRow } from '../postgresql/postgresql-row.ts';
import { quoteLiteral } from '../postgresql/quote.ts';
import { inventoryWorkQueueSchemaLockSql, inventoryWorkQueueSchemaSql } from './inventory-work-queue-schema-sql.ts';

/** A source that this machine has claimed from the queue. */
export interface ClaimedInventorySource {
  readonly line: number;
  /**
   * Number of the claim, which grows each time a machine claims the source. Only the outcome of the newest claim is stored.
   */
  readonly fence: number;
}

export interface QueuedInventorySource {
  readonly line: number;
  /** JSON. */
  readonly cells: string;
  /** Host and port of the server; sources with the same address belong to one server. */
  readonly address: string;
}

export interface InventoryWorkQueueContents {
  readonly fingerprint: string;
  /** JSON. */
  readonly options: string;
  readonly total: number;
}

export interface InventoryWorkQueueCounts {
  readonly finished: number;
  /** Number of sources that a machine has claimed with a lease that has not expired. */
  readonly held: number;
  readonly total: number;
}

/** Sends SQL, and returns the rows of the last statement; repeats it on a new connection when the connection is lost. */
export type ReconnectingSqlRunner = (sql: readonly string[]) => Promise<readonly PostgresqlRow[]>;

/** The queue of one inventory: its sources in a PostgreSQL table. All times are from the clock of the PostgreSQL server. */
export interface InventoryWorkQueue {
  /** Adds the sources; if the queue exists already, it stays as it is. */
  fill(
    contents: InventoryWorkQueueContents,
    createdBy: string,
    sources: readonly QueuedInventorySource[],
  ): Promise<void>;
  /** Reads the options of the queue; undefined if the queue does not exist. */
  contents(): Promise<InventoryWorkQueueContents | undefined>;
  sources(): Promise<readonly QueuedInventorySource[]>;
  /**
   * Takes a source that no machine has claimed, or that this one has claimed without learning it, because the connection was lost;
   * undefined if there is none. `exclude.lines` must name all sources that this machine knows to have claimed.
   */
  claim(exclude: {
    readonly lines: readonly number[];
    readonly addresses: readonly string[];
  }): Promise<ClaimedInventorySource | undefined>;
  /** Extends the leases of those of these sources that this machine still holds. */
  renew(lines: readonly number[]): Promise<void>;
  /** Returns a source to the queue, so that another machine can check it. */
  release(claim: ClaimedInventorySource): Promise<void>;
  /**
   * Stores the outcome of checking a source database, unless the outcome of a newer claim is stored. Returns whether it is the
   * first outcome of this database: only the machine that stored the first one prints it.
   */
  record(claim: ClaimedInventorySource, outcome: string): Promise<boolean>;
  counts(): Promise<InventoryWorkQueueCounts>;
  /** Returns at most `limit` outcomes of the lines after `afterLine`, in the order of the lines. */
  outcomes(afterLine: number, limit: number): Promise<readonly { readonly line: number; readonly outcome: string }[]>;
}

/**
 * @param lease milliseconds after which another machine can claim a source, if this machine did not renew its lease
 * @param holder identifies this process
 */
export function createInventoryWorkQueue(
  send: ReconnectingSqlRunner,
  { name, holder, lease }: { readonly name: string; readonly holder: string; readonly lease: number },
): InventoryWorkQueue {
  const inventory = quoteLiteral(name);
  const me = quoteLiteral(holder);
  const own = `inventory = ${inventory}`;
  const until = `clock_timestamp() + interval '${Math.round(lease)} milliseconds'`;
  return {
    async fill({ fingerprint, options, total }, createdBy, sources) {
      const values = [name, createdBy, fingerprint, options].map(quoteLiteral).join(', ');
      const rows = sources.map(
        ({ line, address, cells }) => `(${inventory}, ${line}, ${quoteLiteral(address)}, ${quoteLiteral(cells)})`,
      );
      await send([
        'BEGIN',
        inventoryWorkQueueSchemaLockSql,
        ...inventoryWorkQueueSchemaSql,
        // The sources go into a temporary table first: they are inserted only if no other machine has filled this queue
        // before.
        `CREATE TEMPORARY TABLE cloudctl_new ON COMMIT DROP AS SELECT * FROM cloudctl_inventory.source WHERE false`,
        ...chunked(rows).map(
          (some) => `INSERT INTO cloudctl_new (inventory, line, address, cells) VALUES ${some.join(', ')}`,
        ),
        `WITH new AS (
          INSERT INTO cloudctl_inventory.inventory (name, created_by, fingerprint, options, total)
          VALUES (${values}, ${total}) ON CONFLICT DO NOTHING RETURNING name
        ), rows AS (
          INSERT INTO cloudctl_inventory.source (inventory, line, address, cells)
          SELECT c.inventory, c.line, c.address, c.cells FROM cloudctl_new c, new RETURNING 1
        ) SELECT count(*) FROM rows`,
        'COMMIT',
      ]);
    },
    async contents() {
      const [table] = await send(["SELECT to_regclass('cloudctl_inventory.inventory') IS NOT NULL AS found"]);
      if (table?.found !== 't') return undefined;
      const [row] = await send([
        `SELECT fingerprint, options, total FROM cloudctl_inventory.inventory WHERE name = ${inventory}`,
      ]);
      return row === undefined
        ? undefined
        : { fingerprint: row.fingerprint ?? '', options: row.options ?? '', total: Number(row.total) };
    },
    async sources() {
      const rows = await send([
        `SELECT line, cells, address FROM cloudctl_inventory.source WHERE ${own} ORDER BY line`,
      ]);
      return rows.map(({ line, cells, address }) => ({
        line: Number(line),
        cells: cells ?? '',
        address: address ?? '',
      }));
    },
    async claim({ lines, addresses }) {
      const notLines = lines.length === 0 ? '' : ` AND line NOT IN (${lines.join(', ')})`;
      const notBusy = addresses.length === 0 ? '' : ` AND address NOT IN (${addresses.map(quoteLiteral).join(', ')})`;
      const [row] = await send([
        `UPDATE cloudctl_inventory.source SET holder = ${me}, fence = fence + 1, lease_until = ${until}
         WHERE ${own} AND line = (
           SELECT line FROM cloudctl_inventory.source
           WHERE ${own} AND outcome IS NULL${notLines}${notBusy}
             AND (lease_until IS NULL OR lease_until < clock_timestamp() OR holder = ${me})
           ORDER BY line LIMIT 1 FOR UPDATE SKIP LOCKED
         ) RETURNING line, fence`,
      ]);
      return row === undefined ? undefined : { line: Number(row.line), fence: Number(row.fence) };
    },
    async renew(lines) {
      if (lines.length === 0) return;
      await send([
        `UPDATE cloudctl_inventory.source SET lease_until = ${until}
         WHERE ${own} AND line IN (${lines.join(', ')}) AND holder = ${me} AND outcome IS NULL`,
      ]);
    },
    async release({ line, fence }) {
      await send([
        `UPDATE cloudctl_inventory.source SET holder = NULL, lease_until = NULL
         WHERE ${own} AND line = ${line} AND fence = ${fence} AND outcome IS NULL`,
      ]);
    },
    async record({ line, fence }, outcome) {
      // A repeated statement finds the outcome that it stored before its connection was lost.
      const [row] = await send([
        `WITH before AS (
           SELECT outcome_fence IS NULL OR outcome_fence = ${fence} AS is_first FROM cloudctl_inventory.source
           WHERE ${own} AND line = ${line} FOR UPDATE
         ) UPDATE cloudctl_inventory.source SET outcome = ${quoteLiteral(outcome)}, outcome_fence = ${fence},
           finished_at = clock_timestamp(), lease_until = NULL
         FROM before WHERE ${own} AND line = ${line} AND (outcome_fence IS NULL OR outcome_fence <= ${fence})
         RETURNING is_first`,
      ]);
      return row?.is_first === 't';
    },
    async counts() {
      const [row] = await send([
        `SELECT count(outcome) AS finished, count(*) AS total,
           count(*) FILTER (WHERE outcome IS NULL AND lease_until >= clock_timestamp()) AS held
         FROM cloudctl_inventory.source WHERE ${own}`,
      ]);
      return { finished: Number(row?.finished), held: Number(row?.held), total: Number(row?.total) };
    },
    async outcomes(afterLine, limit) {
      const rows = await send([
        `SELECT line, outcome FROM cloudctl_inventory.source
         WHERE ${own} AND line > ${afterLine} AND outcome IS NOT NULL ORDER BY line LIMIT ${limit}`,
      ]);
      return rows.map(({ line, outcome }) => ({ line: Number(line), outcome: outcome ?? '' }));
    },
  };
}

/** One INSERT with all rows could exceed the memory of the server. */
function chunked<T>(all: readonly T[], size = 500): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
