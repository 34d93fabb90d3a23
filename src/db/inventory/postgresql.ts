import { usageError } from '../../base/errors.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { readOnlySql, rollbackSql } from '../../postgresql/search-path-safe-sql.ts';
import {
  type CollectedPostgresqlFacts,
  createPostgresqlEngine,
  type DatabaseAccess,
  type OpenedPostgresql,
  type PostgresqlEngine,
  type WalRate,
} from '../preflight/engines.ts';
import { postgresqlChecks } from '../preflight/postgresql/checks.ts';
import { decodeInstance, instanceSql } from '../preflight/queries.ts';
import {
  type ConnectionResult,
  createUnreachableServers,
  describeUnreachableAddress,
  isTransient,
} from './connection.ts';
import type { Entry } from './entry.ts';
import type { Slot } from './limits.ts';
import { createResultCache } from './result-cache.ts';

export type PostgresqlEngines = (entry: Entry, slot: Slot, seen: ConnectionResult) => PostgresqlEngine;

/** Milliseconds between two readings of the WAL position. */
const walInterval = 5000;

/**
 * Creates the preflight engines of an inventory, which share query results. Each source has its own connection, so its host
 * name, TLS and login are its own. The queries run once for each server, address, role and set of options, and
 * the current write rate is measured once for each server and address.
 * @param connections maximum number of connections that query the databases of one server at the same time
 */
export function createPostgresqlEngines(entries: readonly Entry[], connections: number): PostgresqlEngines {
  const named = databasesByUser(entries);
  const collected = createResultCache<CollectedPostgresqlFacts>(({ databases }) => databases.length);
  const rates = new Map<string, Promise<WalRate | undefined>>();
  const unreachable = createUnreachableServers<OpenedPostgresql>();
  return (entry, slot, seen) => {
    const isNamed = entry.scope === 'database';
    let identity = '';
    const engine = createPostgresqlEngine({
      checks: postgresqlChecks,
      concurrency: connections,
      walInterval,
      ...(isNamed
        ? { limitDatabases: (all) => all.filter((name) => named.get(entry.source.source.username)?.has(name)) }
        : {}),
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
        const { host, port, ssl, dbname, username } = run.source;
        const server = JSON.stringify([host, port, ssl]);
        const known = unreachable.find(server);
        const opened =
          known === undefined
            ? await engine.open(run)
            : { ...known, source: run.source, facts: { ...known.facts, dbname, username } };
        observe(opened, seen);
        if (known === undefined && !run.signal.aborted) unreachable.add(server, opened, seen.unreachable !== undefined);
        return opened;
      },
      async collectFacts(opened, run) {
        const { session, facts } = opened;
        if (session === undefined || facts.connection.kind !== 'entered') return engine.collectFacts(opened, run);
        const address = `${opened.source.address}:${opened.source.port}`;
        seen.server = (await readIdentity(opened, run.onSend)) ?? address;
        slot.identify(seen.server);
        // A server may report the identity of another one, and machines that were cloned while they ran have the same.
        identity = JSON.stringify([seen.server, address]);
        const { now: _now, accept: _accept, strict: _strict, ...relevant } = run.options;
        const { pooler, ssl, superuser } = facts.connection;
        const key = JSON.stringify([identity, facts.username, pooler !== undefined, ssl, superuser, relevant, isNamed]);
        const collect = () => engine.collectFacts(opened, run);
        const isWhole = (all: CollectedPostgresqlFacts) => !run.signal.aborted && !isInterrupted(all);
        const { value, isOwn } = await collected(key, collect, isWhole).catch(async (error: unknown) => {
          // The run whose queries failed has ended its own session; a run that waited for it ends its session here.
          await session.end();
          throw error;
        });
        if (!isOwn) await session.end();
        const own = isOwn ? value : { ...value, waited: 0, facts: { ...facts, scans: value.facts.scans } };
        const restricted = isNamed ? restrictToDatabase(own, facts.dbname) : own;
        seen.unreachable = lossReason(restricted);
        return restricted;
      },
    };
  };
}

/** The databases that sources with the scope `database` name, by user name. */
function databasesByUser(entries: readonly Entry[]): ReadonlyMap<string | undefined, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const { scope, source } of entries) {
    if (scope !== 'database' || source.engine !== 'postgresql') continue;
    const { username, dbname } = source.source;
    names.set(username, (names.get(username) ?? new Set()).add(dbname));
  }
  return names;
}

function observe({ facts: { address, connection } }: OpenedPostgresql, seen: ConnectionResult): void {
  if (connection.kind === 'entered') return;
  seen.lacksPassword = connection.code === 'NO_PASSWORD';
  if (connection.kind === 'refused' && !isTransient(connection.code)) return;
  seen.unreachable = describeUnreachableAddress(address) ?? connection.message;
}

/**
 * Reads what identifies a server: its system identifier and start time. A standby, or a copy of the data folder, has the
 * same system identifier as its origin, but another start time. Undefined if the role has no permission to read both.
 */
async function readIdentity(
  { session, facts }: OpenedPostgresql,
  onSend: (place: string, text: string) => void,
): Promise<string | undefined> {
  const message = readOnlySql([instanceSql]);
  try {
    onSend(facts.dbname, message);
    const row = (await session?.query(message, identityTimeout))?.flat()[0];
    if (row === undefined) return undefined;
    const { systemIdentifier, started } = decodeInstance(row);
    return `${systemIdentifier}@${started}`;
  } catch (error) {
    if (error instanceof QueryError && error.lost) return undefined;
    onSend(facts.dbname, rollbackSql);
    await session?.query(rollbackSql, identityTimeout).catch(() => {});
    return undefined;
  }
}

const identityTimeout = 15_000;

/**
 * Why nothing can be said about a source whose connections to the server, or to all of its databases, were lost before the queries
 * had results; undefined if they were not. A database whose catalogs are locked has a finding that says so.
 */
function lossReason({ lost, access }: CollectedPostgresqlFacts): string | undefined {
  const losses = [...access.values()].map(databaseLoss);
  const reason = lost ?? (losses.every((one) => one !== undefined) ? losses[0] : undefined);
  return reason === undefined ? undefined : `the connection was lost during the queries: ${reason}`;
}

function databaseLoss(access: DatabaseAccess): string | undefined {
  if (access.kind === 'entered') return access.broken;
  return access.kind === 'lost' && (access.locks ?? []).length === 0 ? access.message : undefined;
}

/** Whether the connection was lost, so that another attempt may have more results. */
function isInterrupted({ lost, access }: CollectedPostgresqlFacts): boolean {
  return lost !== undefined || [...access.values()].some((one) => databaseLoss(one) !== undefined);
}

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
