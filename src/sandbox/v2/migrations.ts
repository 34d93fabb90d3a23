import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { DatabaseState, EngineState, RequestedSource } from '../../db/engine/index.ts';
import { type HttpRequest, isJsonObject, isStringArray } from '../http/request.ts';
import { migrationDeadline } from '../migration-store.ts';
import { formatServerAddress } from '../ready-line.ts';
import type { Cluster, Migration, MigrationSource } from '../records.ts';
import type { Service } from '../service.ts';
import { type ApiCaller, type ApiHandler, apiError, apiReply, notFound, readApiJson, unprocessable } from './api.ts';
import { formatTimestamp } from './resource-json.ts';

/**
 * Stops a migration, unless it has ended. One with a database server has ended when the engine has finished every
 * database, which the migrator records.
 */
export function stopMigration(migration: Migration, { world, planes }: Pick<Service, 'world' | 'planes'>): void {
  const live = planes.stateOf(migration);
  if (live === undefined) world.migrations.stop(migration);
  else planes.stop(migration);
}

/** Starts an online migration into a cluster (docs/service.md S9.1). A successful response does not mean that the source could be reached. */
export const putMigration: ApiHandler = (request, { world, planes }, caller) => {
  const cluster = clusterOf(request, world, caller);
  if (cluster === undefined) return notFound();
  const body = readApiJson(request);
  if ('status' in body) return body;
  const source = decodeMigration(body.value, cluster.engine);
  if (typeof source === 'string') return unprocessable(source);
  const requested = readSource(body.value, source);
  const managed = findManagedCluster(requested.host, world.seed.clusters);
  if (managed !== undefined)
    return unprocessable(
      `source.host is the managed cluster ${managed.name}; a managed cluster cannot be migrated to another one.`,
    );
  const plane = planes.planeOf(cluster);
  const migration = {
    id: world.newId(),
    cluster: cluster.uuid,
    source,
    startedAt: world.now(),
    ...(plane === undefined ? {} : { isReal: true }),
  };
  const latest = world.migrations.latest(cluster.uuid);
  if (latest !== undefined && isUnderWay(currentState(latest, { world, planes }).status))
    return apiError(409, 'An online migration into this cluster is already running.');
  if (plane !== undefined) {
    const refusal = planes.start(migration, plane, requested, world);
    if (refusal !== undefined) return unprocessable(refusal);
  }
  world.migrations.add(migration);
  return apiReply(200, {
    id: migration.id,
    status: 'running',
    created_at: formatTimestamp(migration.startedAt),
  });
};

export const getMigration: ApiHandler = (request, service, caller) => {
  const { world } = service;
  const cluster = clusterOf(request, world, caller);
  const migration = cluster === undefined ? undefined : world.migrations.latest(cluster.uuid);
  if (cluster === undefined || migration === undefined) return notFound();
  return apiReply(200, migrationJson(migration, cluster, service));
};

/**
 * Stops the latest migration of the cluster; an id in the path must be the id of that migration. Data that was already copied
 * remains on the target (docs/service.md S9.7).
 */
export const deleteMigration: ApiHandler = (request, { world, planes }, caller) => {
  const cluster = clusterOf(request, world, caller);
  const [, id] = request.captures;
  const migration = cluster === undefined ? undefined : world.migrations.latest(cluster.uuid);
  if (migration === undefined || (id !== undefined && id !== migration.id)) return notFound();
  stopMigration(migration, { world, planes });
  return apiReply(204, undefined);
};

/**
 * Finds the cluster in the path if it belongs to the account of the caller (docs/service.md S7.4); the migrations of a cluster belong to
 * the account that owns the cluster.
 */
function clusterOf(request: HttpRequest, { registry }: Service['world'], { account }: ApiCaller): Cluster | undefined {
  const named = (request.captures[0] ?? '').toLowerCase();
  return registry.clustersOf(account).find(({ uuid }) => uuid === named);
}

/** The cluster that the host field means: by its name or UUID, alone or as a host name in the domain of the clusters. */
function findManagedCluster(host: string, clusters: readonly Cluster[]): Cluster | undefined {
  const named = sourceHostName(host);
  // A text that is not completely recognized may be read in several ways; each place of a host counts.
  const names = named === undefined ? [...host.matchAll(HOST_PLACES)].map(([, found = '']) => found) : [named];
  const known = new Set(names.map((name) => name.toLowerCase().replace(/\.$/, '').replace(CLUSTER_DOMAIN, '')));
  return clusters.find(({ name, uuid }) => known.has(name.toLowerCase()) || known.has(uuid));
}

/** A domain that no name server knows (RFC 6761 §6.4). */
const CLUSTER_DOMAIN = /\.db\.cloud-sandbox\.invalid$/;
const HOST_PLACES = /(?:^|@|\/\/|,|host\s*=\s*'?)([a-z0-9_][a-z0-9_.-]*)(?![\w.@-])/gi;

/**
 * Decodes an online migration request (docs/service.md S9.2); if the result is a string, it is the error message for one field. The type of
 * the password is checked, but the password is not stored. libpq also reads a connection string in the field dbname.
 */
export function decodeMigration(value: unknown, engine: 'postgresql' | 'redis'): MigrationSource | string {
  if (!isJsonObject(value)) return 'The request body must be a JSON object.';
  const { source, disable_ssl: disableSsl, ignore_dbs: ignoreDbs } = withoutNulls(value);
  if (source === undefined) return 'source is required.';
  if (!isJsonObject(source)) return 'source must be an object.';
  const { host, port, dbname, username, password } = withoutNulls(source);
  if (typeof host !== 'string' || host.trim() === '') return 'source.host is required and must be a non-empty string.';
  if (!isSourceHost(host)) return 'source.host is not a host name, an IP address or a connection string.';
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    return 'source.port must be an integer from 1 to 65535.';
  }
  const strings = { dbname, username, password };
  const invalid = Object.entries(strings).find(([, text]) => text !== undefined && typeof text !== 'string');
  if (invalid !== undefined) return `source.${invalid[0]} must be a string.`;
  if (engine === 'postgresql' && (dbname ?? '') === '' && !isConnectionString(host))
    return 'source.dbname is required.';
  if (disableSsl !== undefined && typeof disableSsl !== 'boolean') return 'disable_ssl must be true or false.';
  if (ignoreDbs !== undefined && !isStringArray(ignoreDbs)) return 'ignore_dbs must be an array of strings.';
  if (engine === 'redis' && isStringArray(ignoreDbs) && ignoreDbs.length > 0)
    return 'ignore_dbs is only valid for PostgreSQL sources.';
  return {
    host: storableHost(host),
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname: /=|:\/\//.test(dbname) ? NOT_STORED : dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    disableSsl: disableSsl === true,
    ignoreDbs: isStringArray(ignoreDbs) ? ignoreDbs : [],
  };
}

/**
 * Reads the source with its password, which must not be stored. The caller must call the function only after
 * `decodeMigration` has accepted the request.
 */
export function readSource(value: unknown, { disableSsl }: MigrationSource): RequestedSource {
  const source = isJsonObject(value) ? withoutNulls(value).source : undefined;
  const { host, port, dbname, username, password } = isJsonObject(source) ? withoutNulls(source) : {};
  return {
    host: typeof host === 'string' ? host : '',
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof password === 'string' ? { password } : {}),
    disableSsl,
  };
}

/** Whether the host field is a URL, or keywords and values with a database name (libpq). */
function isConnectionString(host: string): boolean {
  return host.includes('://') || /(^|\s)dbname\s*=/.test(host);
}

function withoutNulls(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}

/** Stands for a field of the source of which no part is stored. */
export const NOT_STORED = '(not stored)';

/**
 * Returns the part of the host field that the sandbox may store and show: a host name or address, with the scheme and the port
 * of a URL. Connection strings have many forms, and each form has other places for a password. Therefore a text that is not
 * completely recognized is not stored at all.
 */
export function storableHost(host: string): string {
  const text = host.trim();
  if (isHostWithPort(text)) return text;
  return hostOfUrl(text) ?? hostOfKeywords(text) ?? NOT_STORED;
}

/** Whether the field may be a connection string, of whatever form, or the name or address of a host (docs/service.md S9.2). */
export function isSourceHost(host: string): boolean {
  const text = host.trim();
  return /:\/\/|[=@]/.test(text) || isHostWithPort(text) || isHostWithPort(domainToASCII(text));
}

/** The name or address of the host alone, as names are compared; undefined for a text that is not completely recognized. */
export function sourceHostName(host: string): string | undefined {
  const stored = storableHost(host);
  if (stored === NOT_STORED) return undefined;
  const authority = stored.replace(/^[a-z]+:\/\//i, '');
  const [, bracketed, name = authority] = HOST_WITH_PORT.exec(authority) ?? [];
  return (bracketed ?? name).toLowerCase().replace(/\.$/, '');
}

/** An `@` after the host may be part of a password that is not percent-encoded, so that the host is not the real one. */
function hostOfUrl(text: string): string | undefined {
  const [, scheme = '', host = ''] = SOURCE_URL.exec(text) ?? [];
  return isHostWithPort(host) ? `${scheme}${host}` : undefined;
}

/** Reads keywords and values as libpq does (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). */
function hostOfKeywords(text: string): string | undefined {
  const hosts: string[] = [];
  let end = 0;
  for (const [pair, keyword, quoted, plain] of text.matchAll(KEYWORD_AND_VALUE)) {
    end += pair.length;
    if (keyword === 'host') hosts.push(quoted ?? plain ?? '');
  }
  const [host = '', ...more] = hosts;
  return end === text.length && more.length === 0 && isHostWithPort(host) ? host : undefined;
}

function isHostWithPort(text: string): boolean {
  const [, bracketed, name] = HOST_WITH_PORT.exec(text) ?? [];
  return name !== undefined || isIPv6Address(bracketed ?? text);
}

/** The zone of an address (`fe80::1%eth0`) can be any text. */
function isIPv6Address(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

const HOST_WITH_PORT = /^(?:\[([^\]]*)\]|([a-z0-9_][a-z0-9_.-]{0,252}))(?::\d{1,5})?$/i;
const SOURCE_URL = /^((?:postgres|postgresql|redis|rediss):\/\/)(?:[^@/?#]*@)?([^@/?#]*)(?:[/?#][^@]*)?$/i;
const KEYWORD_AND_VALUE =
  /([a-z_]+)[ \t\n\r\f\v]*=[ \t\n\r\f\v]*(?:'((?:[^'\\]|\\.)*)'|((?:[^' \t\n\r\f\v\\]|\\.)+))(?:[ \t\n\r\f\v]+|$)/gsy;

export interface CurrentState {
  readonly status: string;
  /** The end of the migration in milliseconds of the virtual clock; undefined while it runs. */
  readonly endedAt: number | undefined;
  readonly reason: string | undefined;
  /**
   * The state that the migration engine reports; undefined when the cluster has no database server, or when an earlier process
   * ran the migration.
   */
  readonly live: EngineState | undefined;
}

/** The status that the migration engine reports until every database has ended; then the recorded status. */
export function currentState(migration: Migration, { world, planes }: Pick<Service, 'world' | 'planes'>): CurrentState {
  const { status, stop } = world.migrations.status(migration);
  const live = planes.stateOf(migration);
  // A migration that was stopped, or whose two weeks are over, still runs while a database is finishing.
  if (live !== undefined && (status === 'running' || isUnderWay(live.status)))
    return { status: live.status, endedAt: undefined, reason: live.reason, live };
  return { status, endedAt: stop?.at, reason: stop?.reason ?? live?.reason, live };
}

/** Whether the migration still replicates, finishes or removes what it created. */
export function isUnderWay(status: string): boolean {
  return status === 'running' || status === 'syncing';
}

export function migrationJson(migration: Migration, cluster: Cluster, service: Service): object {
  const { status, endedAt, reason, live } = currentState(migration, service);
  return {
    id: migration.id,
    status,
    created_at: formatTimestamp(migration.startedAt),
    deadline: formatTimestamp(migrationDeadline(migration)),
    ...(endedAt === undefined ? {} : { stopped_at: formatTimestamp(endedAt) }),
    ...(reason === undefined ? {} : { reason }),
    data_plane: formatServerAddress(service.planes.planeOf(cluster)),
    ...(live === undefined ? {} : liveView(live)),
  };
}

function liveView({ method, databases, warnings, leftovers }: EngineState): object {
  return {
    ...(method === undefined ? {} : { method }),
    databases: databases.map(databaseView),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(leftovers.length === 0 ? {} : { leftovers }),
  };
}

function databaseView({ name, phase, method, tables, lagBytes, reason, error, warnings }: DatabaseState): object {
  return {
    name,
    phase,
    ...(method === undefined ? {} : { method }),
    ...(lagBytes === undefined ? {} : { lag_bytes: lagBytes }),
    tables_total: tables.length,
    tables_ready: tables.filter(({ stage }) => stage === 'r').length,
    tables: tables.map((table) => ({ name: table.name, state: table.stage, rows: table.rows })),
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { error }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}
