import { usageError } from '../errors.ts';
import { PostgresqlQueryError } from '../postgresql/query-error.ts';
import { buildReadOnlyTransaction, searchPathSafeRollbackSql } from '../postgresql/search-path-safe-sql.ts';
import { postgresqlChecks } from '../preflight/postgresql/checks.ts';
import type { CollectedPostgresqlFacts } from '../preflight/postgresql/collected-postgresql-facts.ts';
import type { OpenedPostgresqlSource } from '../preflight/postgresql/open-postgresql-source.ts';
import { decodePostgresqlServerInstance, serverInstanceSql } from '../preflight/postgresql/queries/server-instances.ts';
import { createPostgresqlPreflightEngine, type PostgresqlPreflightEngine } from '../preflight/postgresql/run.ts';
import type { WalRate } from '../preflight/postgresql/source-facts.ts';
import { createResultCache } from './result-cache.ts';
import type { ServerConcurrencySlot } from './run-with-server-concurrency-slots.ts';
import { isTransientConnectionErrorCode, type SourceConnectionObservation } from './source-connection-observation.ts';
import type { SourceInventoryEntry } from './source-inventory-entry.ts';

export interface PostgresqlPreflightEngineFactoryOptions {
  /** Names of the databases that sources with the scope `database` have, by user name. */
  readonly named: (username: string) => ReadonlySet<string>;
  /** Maximum number of connections that query the databases of one server at the same time. */
  readonly connections: number;
  /** Milliseconds between two readings of the WAL position (default: 5 s). */
  readonly walInterval?: number;
}

export type PostgresqlPreflightEngineFactory = (
  entry: SourceInventoryEntry,
  slot: ServerConcurrencySlot,
  seen: SourceConnectionObservation,
) => PostgresqlPreflightEngine;

/**
 * Creates the preflight engines of an inventory, which share query results. Each source has its own connection, so its host
 * name, TLS and login are checked separately. The queries run only once for each server, role and set of options, and the
 * current write rate is measured only once for each server.
 */
export function createPostgresqlPreflightEngineFactory(
  options: PostgresqlPreflightEngineFactoryOptions,
): PostgresqlPreflightEngineFactory {
  const collected = createResultCache<CollectedPostgresqlFacts>(({ databases }) => databases.length);
  const rates = new Map<string, Promise<WalRate | undefined>>();
  const failures = new Map<string, { readonly opened: OpenedPostgresqlSource; readonly attempts: number }>();
  return (entry, slot, seen) => {
    const isNamed = entry.scope === 'database';
    let identity = '';
    const engine = createPostgresqlPreflightEngine({
      checks: postgresqlChecks,
      concurrency: options.connections,
      walInterval: options.walInterval ?? 5000,
      ...(isNamed ? { limitDatabases: (names) => namedOf(names, entry, options) } : {}),
      shareWalRate(measure) {
        const known = rates.get(identity);
        if (known !== undefined) return known;
        const measuring = slot.pause(measure);
        rates.set(identity, measuring);
        return measuring;
      },
    });
    return {
      ...engine,
      async open(run) {
        const { source } = run;
        const address = JSON.stringify([source.host, source.port, source.ssl]);
        const failed = failures.get(address);
        if (failed !== undefined && failed.attempts >= maxAttempts) {
          const { dbname, username } = source;
          observe(failed.opened, seen);
          return { ...failed.opened, source, facts: { ...failed.opened.facts, dbname, username } };
        }
        const opened = await engine.open(run);
        observe(opened, seen);
        if (seen.unreachable === undefined) failures.delete(address);
        else if (!run.signal.aborted) failures.set(address, { opened, attempts: (failed?.attempts ?? 0) + 1 });
        return opened;
      },
      async collectFacts(opened, run) {
        const { session, facts } = opened;
        if (session === undefined || facts.connection.kind !== 'entered') return engine.collectFacts(opened, run);
        identity = (await readIdentity(opened, run.onSend)) ?? `${opened.source.address}:${opened.source.port}`;
        seen.server = identity;
        slot.identify(identity);
        const { now: _now, accept: _accept, strict: _strict, ...relevant } = run.options;
        const { pooler, ssl, superuser } = facts.connection;
        const key = JSON.stringify([identity, facts.username, pooler !== undefined, ssl, superuser, relevant, isNamed]);
        const { value, isOwn } = await collected(key, () => engine.collectFacts(opened, run)).catch(
          async (error: unknown) => {
            // If this run queried the server itself, its session has ended already; otherwise this run waited for another
            // run, and ends its session here.
            await session.end();
            throw error;
          },
        );
        if (!isOwn) await session.end();
        const own = isOwn ? value : { ...value, waited: 0, facts: { ...facts, scans: value.facts.scans } };
        return isNamed ? restrictToDatabase(own, facts.dbname) : own;
      },
    };
  };
}

/** After this number of failed connection attempts, a host and port is not tried again in the same run. */
const maxAttempts = 2;

function namedOf(
  names: readonly string[],
  entry: SourceInventoryEntry,
  { named }: PostgresqlPreflightEngineFactoryOptions,
): readonly string[] {
  const wanted = named(entry.withPassword(undefined).source.username ?? '');
  return names.filter((name) => wanted.has(name));
}

function observe({ facts: { connection } }: OpenedPostgresqlSource, seen: SourceConnectionObservation): void {
  if (connection.kind === 'entered') return;
  seen.lacksPassword = connection.code === 'NO_PASSWORD';
  if (connection.kind === 'unreachable' || isTransientConnectionErrorCode(connection.code))
    seen.unreachable = connection.message;
}

/**
 * Reads what identifies a server: its system identifier and start time. A standby, or a copy of the data folder, has the
 * same system identifier as its origin, but another start time. Undefined if the role has no permission to read both.
 */
async function readIdentity(
  { session, facts }: OpenedPostgresqlSource,
  onSend: (place: string, text: string) => void,
): Promise<string | undefined> {
  const message = buildReadOnlyTransaction([serverInstanceSql]);
  try {
    onSend(facts.dbname, message);
    const row = (await session?.query(message, identityTimeout))?.flat()[0];
    if (row === undefined) return undefined;
    const { systemIdentifier, started } = decodePostgresqlServerInstance(row);
    return `${systemIdentifier}@${started}`;
  } catch (error) {
    if (error instanceof PostgresqlQueryError && error.lost) return undefined;
    onSend(facts.dbname, searchPathSafeRollbackSql);
    await session?.query(searchPathSafeRollbackSql, identityTimeout).catch(() => {});
    return undefined;
  }
}

const identityTimeout = 15_000;

/** The collected facts, reduced to those of the server and of one database. */
function restrictToDatabase(collected: CollectedPostgresqlFacts, name: string): CollectedPostgresqlFacts {
  if (!collected.databases.includes(name))
    throw usageError(`the server has no database of the name ${name}: a connection pooler may rename it`);
  const own = <V>(all: ReadonlyMap<string, V>) => new Map([...all].filter(([key]) => key === name));
  return {
    ...collected,
    databases: [name],
    access: own(collected.access),
    findings: collected.findings.filter(({ database }) => database === undefined || database === name),
    retained: own(collected.retained),
    sizes: own(collected.sizes),
  };
}
