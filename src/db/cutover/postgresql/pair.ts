import { nearestWord } from '../../../cli/values.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import { openPinned } from '../../engine/tools.ts';
import { databasesQuery, databasesToCompare } from '../../preflight/queries.ts';
import { readPostgresqlActivity } from '../activity.ts';
import { compareSequences } from '../comparison.ts';
import {
  type Delivery,
  type Fence,
  type Pair,
  type PairOptions,
  RestPosition,
  type SequenceWork,
  TargetRefusal,
} from '../pair.ts';
import { readFence } from './fence.ts';
import { describeDifferences, sequenceScript, sequencesQuery } from './sequences.ts';
import {
  queryCatalogRows,
  readAscendingSequences,
  readPostgresqlServerVersion,
  readSequenceStatesAsText,
} from './tables.ts';

const limit = 10_000;
const name = 'cloudctl-cutover';

export async function openPostgresqlPair(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  { ignoreDbs, signal }: PairOptions,
): Promise<Pair> {
  const [from, to] = [new Sessions(source, signal), new Sessions(target, signal)];
  try {
    const first = await from.of(source.dbname);
    await to.of(target.dbname);
    const version = await readPostgresqlServerVersion(first);
    const sql = databasesQuery.sql(version, { inRecovery: false, superuser: false });
    const databases =
      sql === undefined
        ? [source.dbname]
        : databasesToCompare(databasesQuery.decode(await queryCatalogRows(first, sql)), ignoreDbs, nearestWord);
    return new PostgresqlPair(source, target, { from, to, databases, version, signal });
  } catch (error) {
    await Promise.all([from.close(), to.close()]);
    throw error;
  }
}

/** One session for each database, which stays open; more than a few dozen are opened anew for each use. */
class Sessions {
  readonly #server: PostgresqlEndpoint;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, Promise<PostgresqlSession>>();

  constructor(server: PostgresqlEndpoint, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
  }

  of(dbname: string): Promise<PostgresqlSession> {
    const known = this.#open.get(dbname);
    if (known !== undefined) return known;
    const opening = connectPostgresql(this.#server, { dbname, limit, signal: this.#signal, applicationName: name });
    this.#open.set(dbname, opening);
    opening.catch(() => this.#open.delete(dbname));
    return opening;
  }

  async use<T>(dbname: string, work: (session: PostgresqlSession) => Promise<T>): Promise<T> {
    const isKept = this.#open.has(dbname) || this.#open.size < maxSessions;
    try {
      return await work(await this.of(dbname));
    } catch (error) {
      // A session that the server has ended is opened anew by the next look.
      if (error instanceof QueryError && error.lost) await this.#drop(dbname);
      throw error;
    } finally {
      if (!isKept) await this.#drop(dbname);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((dbname) => this.#drop(dbname)));
  }

  async #drop(dbname: string): Promise<void> {
    const opened = this.#open.get(dbname);
    this.#open.delete(dbname);
    await opened?.then(
      (session) => session.end(),
      () => {},
    );
  }
}

const maxSessions = 30;

/** SQLSTATE of a connection to a database that does not exist. */
const invalidCatalogName = '3D000';

/** What one database of the target shows of its subscriptions. */
interface Subscription {
  readonly database: string;
  readonly slot: string | undefined;
  readonly isEnabled: boolean;
  /** Tables whose copy has not ended. */
  readonly copying: number;
}

interface Slot {
  readonly name: string;
  readonly database: string | undefined;
  readonly active: boolean;
  readonly confirmed: number;
}

class PostgresqlPair implements Pair {
  readonly #source: PostgresqlEndpoint;
  readonly #target: PostgresqlEndpoint;
  readonly #from: Sessions;
  readonly #to: Sessions;
  readonly #databases: readonly string[];
  readonly #version: number;
  readonly #signal: AbortSignal;
  readonly #rest = new RestPosition();
  /** The slots and publications of the migration, as long as the target showed its subscriptions. */
  readonly #slots = new Set<string>();

  constructor(
    source: PostgresqlEndpoint,
    target: PostgresqlEndpoint,
    opened: {
      readonly from: Sessions;
      readonly to: Sessions;
      readonly databases: readonly string[];
      readonly version: number;
      readonly signal: AbortSignal;
    },
  ) {
    this.#source = source;
    this.#target = target;
    this.#from = opened.from;
    this.#to = opened.to;
    this.#databases = opened.databases;
    this.#version = opened.version;
    this.#signal = opened.signal;
  }

  async look() {
    const here = await this.#from.use(this.#source.dbname, async (session) => {
      const activity = await readPostgresqlActivity(session);
      const [position] = await queryCatalogRows(session, positionSql);
      return { activity, end: positionOf(position), sessions: await this.#listSessions(session) };
    });
    const end = this.#rest.after(here.activity, here.end);
    const subscriptions = await this.#subscriptions();
    const [slots, changes] = await Promise.all([this.#readSlots(), this.#countChanges()]);
    const { activity, sessions } = here;
    return { activity, sessions, changes, delivery: this.#delivery(subscriptions, slots, end) };
  }

  async #listSessions(session: PostgresqlSession): Promise<readonly string[]> {
    const names = this.#databases.map((one) => quoteLiteral(one)).join(', ');
    const rows = await queryCatalogRows(
      session,
      `SELECT concat_ws(' ', 'pid', a.pid, a.usename, nullif(a.application_name, ''), a.client_addr, 'in', a.datname) AS who
       FROM pg_stat_activity a WHERE a.datname IN (${names}) AND a.pid <> pg_backend_pid()
         AND coalesce(a.backend_type, 'client backend') = 'client backend' AND a.application_name !~ '^cloudctl-'
         AND NOT EXISTS (SELECT FROM pg_stat_replication r WHERE r.pid = a.pid)
       ORDER BY a.datname, a.pid LIMIT 1000`,
    );
    return rows.map(({ who }) => who ?? '');
  }

  async #subscriptions(): Promise<readonly Subscription[]> {
    const found = await Promise.all(
      this.#databases.map((database) =>
        this.#to
          .use(database, (session) => queryCatalogRows(session, subscriptionsSql))
          .then((rows) => rows.map((row) => subscriptionOf(database, row)))
          .catch((error: unknown) => {
            // The database is created when its migration begins.
            if (error instanceof ConnectError && error.code === invalidCatalogName) return [];
            throw error;
          }),
      ),
    );
    return found.flat();
  }

  async #readSlots(): Promise<readonly Slot[]> {
    const rows = await this.#from.use(this.#source.dbname, (session) => queryCatalogRows(session, slotsSql));
    return rows.map((row) => ({
      name: row.slot_name ?? '',
      database: row.database ?? undefined,
      active: row.active === 't',
      confirmed: Number(row.confirmed ?? 0),
    }));
  }

  /** Changes of rows of all migrated databases: a counter that a transaction of the server itself does not change. */
  async #countChanges(): Promise<number> {
    const sums = await Promise.all(
      this.#databases.map((database) =>
        this.#from.use(database, async (session) => {
          const [row] = await queryCatalogRows(
            session,
            'SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::text AS changes FROM pg_stat_user_tables',
          );
          return Number(row?.changes ?? 0);
        }),
      ),
    );
    return sums.reduce((total, one) => total + one, 0);
  }

  #delivery(subscriptions: readonly Subscription[], slots: readonly Slot[], end: number): Delivery {
    if (subscriptions.length === 0)
      return { state: 'unseen', observed: 'the target shows no subscription in these databases' };
    const behind = (observed: string): Delivery => ({ state: 'behind', observed });
    const broken = (observed: string): Delivery => ({ ...behind(observed), isBroken: true });
    // A subscription of another source may be beside that of the migration.
    const ours = subscriptions.flatMap((one) => {
      const slot = slots.find((other) => other.name === one.slot && other.database === one.database);
      return slot === undefined ? [] : [{ ...one, found: slot }];
    });
    const missing = this.#databases.find((database) => !ours.some((one) => one.database === database));
    if (missing !== undefined)
      return broken(`${missing}: no subscription of the target reads a replication slot of this source`);
    for (const { database, found, isEnabled, copying } of ours) {
      this.#slots.add(found.name);
      if (copying > 0) return behind(`${database}: ${copying} tables are not copied yet`);
      if (!isEnabled) return broken(`${database}: the subscription of the target is disabled`);
      if (!found.active) return broken(`${database}: no server reads the replication slot ${found.name}`);
      if (found.confirmed < end) return behind(`${database}: ${end - found.confirmed} bytes behind`);
    }
    const confirmed = Math.min(...ours.map(({ found }) => found.confirmed));
    return { state: 'received', observed: `the target has confirmed ${formatLsn(confirmed)}, every table is copied` };
  }

  async sequences(): Promise<SequenceWork> {
    const differences: string[] = [];
    const ahead: string[] = [];
    const statements = new Map<string, readonly string[]>();
    await Promise.all(
      this.#databases.map(async (database) => {
        const [here, there] = await Promise.all(
          [this.#from, this.#to].map((side) => side.use(database, readSequenceStatesAsText)),
        );
        const compared = compareSequences(here ?? new Map(), there ?? new Map(), here ?? new Map());
        if (compared.every(({ state }) => state !== 'differs' && state !== 'not_comparable')) return;
        const ascending = await this.#from.use(database, readAscendingSequences);
        const found = describeDifferences(database, compared, ascending);
        ahead.push(...found.ahead);
        differences.push(...found.differences);
        statements.set(database, await this.#from.use(database, (session) => this.#sequenceStatements(session)));
      }),
    );
    return { differences: differences.sort(), ahead: ahead.sort(), statements };
  }

  async #sequenceStatements(session: PostgresqlSession): Promise<readonly string[]> {
    const sql = sequencesQuery.sql(this.#version, { inRecovery: false, superuser: false });
    if (sql === undefined) return [];
    return sequenceScript(sequencesQuery.decode(await queryCatalogRows(session, sql))).statements;
  }

  async setSequences({ statements }: SequenceWork): Promise<void> {
    for (const [dbname, own] of statements) {
      const session = await openPinned(
        { ...this.#target, dbname },
        { name, limit, signal: this.#signal, settings: { lock_timeout: '2s', default_transaction_read_only: 'off' } },
      );
      try {
        for (const statement of own) {
          try {
            await session.query(statement);
          } catch (error) {
            if (!(error instanceof QueryError) || error.lost) throw error;
            throw new TargetRefusal(dbname, statement, error.message);
          }
        }
      } finally {
        await session.end();
      }
    }
  }

  fence(): Promise<Fence | string> {
    return this.#from.use(this.#source.dbname, (session) => readFence(session, this.#source, this.#databases));
  }

  get slots(): number {
    return this.#slots.size;
  }

  async leftovers(): Promise<readonly string[]> {
    const all = await Promise.all(
      this.#databases.map(async (database) => {
        const [rows, subscriptions] = await Promise.all([
          this.#from.use(database, (session) => queryCatalogRows(session, objectsSql)),
          this.#to.use(database, (session) => queryCatalogRows(session, subscriptionsSql)),
        ]);
        return rows.flatMap(({ kind, object }) => {
          const isRead = subscriptions.some((row) => row.subslotname === object);
          if (object == null || !(isRead || this.#slots.has(object))) return [];
          return [`${kind} ${object} in ${database} of the source`];
        });
      }),
    );
    return all.flat();
  }

  async changes() {
    const found = await Promise.all(
      this.#databases.map(async (database): Promise<[string, ReadonlyMap<string, number>]> => {
        const rows = await this.#from.use(database, (session) =>
          queryCatalogRows(
            session,
            `SELECT schemaname || '.' || relname AS name, (n_tup_ins + n_tup_upd + n_tup_del)::text AS changes
             FROM pg_stat_user_tables`,
          ),
        );
        return [database, new Map(rows.map((row) => [row.name ?? '', Number(row.changes ?? 0)]))];
      }),
    );
    return new Map(found);
  }

  async close(): Promise<void> {
    await Promise.all([this.#from.close(), this.#to.close()]);
  }
}

const positionSql = `SELECT current_setting('wal_block_size') AS block,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() - '0/0'::pg_lsn END AS position`;

/**
 * The end of the WAL that transactions have inserted: with synchronous_commit off, what they committed may not be written yet.
 * At the begin of a page the server counts the page header, which no target confirms before the next record.
 */
function positionOf(row: PostgresqlRow | undefined): number {
  const [position, block] = [Number(row?.position ?? 0), Number(row?.block ?? 8192)];
  const offset = position % block;
  return offset <= longestPageHeader ? position - offset : position;
}

const longestPageHeader = 40;

const subscriptionsSql = `SELECT s.subslotname, s.subenabled,
    (SELECT count(*) FROM pg_subscription_rel r WHERE r.srsubid = s.oid AND r.srsubstate <> 'r') AS copying
  FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database()`;

const slotsSql = `SELECT slot_name, database, active, confirmed_flush_lsn - '0/0'::pg_lsn AS confirmed
  FROM pg_replication_slots WHERE slot_type = 'logical'`;

/** The engine gives slot and publication of a database the same name. */
const objectsSql = `SELECT 'replication slot' AS kind, slot_name AS object FROM pg_replication_slots WHERE database = current_database()
  UNION ALL SELECT 'publication', pubname FROM pg_publication`;

function subscriptionOf(database: string, row: PostgresqlRow): Subscription {
  return {
    database,
    slot: row.subslotname ?? undefined,
    isEnabled: row.subenabled === 't',
    copying: Number(row.copying ?? 0),
  };
}

function formatLsn(position: number): string {
  const high = Math.floor(position / 2 ** 32);
  return `${high.toString(16)}/${(position % 2 ** 32).toString(16)}`.toUpperCase();
}
