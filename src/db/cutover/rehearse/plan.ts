import { CliError, usageError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { EngineSystem } from '../../engine/index.ts';
import {
  type DatabaseDefinition,
  engineName,
  lastRows,
  listSourceDatabases,
  readIdentity,
  redactReason,
  type ServerIdentity,
  singleValue,
  withSession,
} from '../../engine/tools.ts';
import { rehearsalInputs, targetLoginHint } from '../target.ts';
import { databaseOidQuery, listExisting, readObjectNames } from './existing.ts';
import type { FilledDatabase } from './record.ts';

/** The facts about the target that are read before the rehearsal changes anything. */
export interface TargetState {
  /** The target address as typed, but without TLS if the server has none and the address does not require it. */
  readonly target: PostgresqlEndpoint;
  readonly server: ServerIdentity;
  readonly databases: readonly string[];
}

/**
 * Reads the target. Throws a CliError if the connection to the target fails. Rejects when the signal aborts.
 * @param isTlsFixed whether a connection without TLS must not be tried
 */
export async function inspectPostgresTarget(
  target: PostgresqlEndpoint,
  isTlsFixed: boolean,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<TargetState> {
  try {
    return await withSession(target, ports, { name: engineName, signal }, async (session) => {
      const server = await readIdentity(session);
      const names = async (text: string) => (await lastRows(session, text)).map(({ name }) => name ?? '');
      return {
        target,
        server,
        databases: await names('SELECT datname AS name FROM pg_database ORDER BY 1'),
      };
    });
  } catch (error) {
    const code = error instanceof ConnectError ? error.code : undefined;
    if (code === clientErrorCodes.noTls && !isTlsFixed)
      return inspectPostgresTarget({ ...target, ssl: 'disable' }, true, ports, signal);
    throw new CliError('unreachable', `could not connect to the target: ${redactReason(error, target.password)}`, {
      detail: `${target.host}:${target.port}, database ${target.dbname}, user ${target.username}`,
      hint: `${targetLoginHint(error, rehearsalInputs)}; nothing was changed`,
    });
  }
}

/** The objects that a rehearsal will create on the target. */
export interface RehearsalPlan {
  readonly source: ServerIdentity;
  readonly databases: readonly DatabaseDefinition[];
  /** Databases that do not exist on the target. */
  readonly missing: readonly DatabaseDefinition[];
  /** Databases that exist on the target and are empty. */
  readonly filled: readonly FilledDatabase[];
}

/** Plans the rehearsal. Throws a CliError for a target that is not empty, with the objects that it contains. */
export async function planRehearsal(
  source: PostgresqlEndpoint,
  targetState: TargetState,
  ignoreDbs: readonly string[],
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<RehearsalPlan> {
  const { server, databases } = await withSession(source, ports, { name: engineName, signal }, async (session) => ({
    server: await readIdentity(session),
    databases: await listSourceDatabases(session, ignoreDbs),
  }));
  if (server.system === targetState.server.system && server.startedAt === targetState.server.startedAt) {
    throw usageError('source and target are the same server', 'give another server with `--into`');
  }
  if (databases.length === 0)
    throw usageError('--ignore-dbs contains every database of the source', 'remove a database from `--ignore-dbs`');
  const fresh = databases.filter(({ name }) => !targetState.databases.includes(name));
  const existing = databases.filter((one) => !fresh.includes(one)).map(({ name }) => name);
  const filled = await readEmptyDatabases(targetState.target, existing, ports, signal);
  return { source: server, databases, missing: fresh, filled };
}

/**
 * The state of these databases of the target. Throws a CliError if one of them is not empty, with the objects that it
 * contains.
 */
export async function readEmptyDatabases(
  target: PostgresqlEndpoint,
  names: readonly string[],
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<readonly FilledDatabase[]> {
  const empty: FilledDatabase[] = [];
  const taken: string[] = [];
  for (const name of names) {
    await withSession({ ...target, dbname: name }, ports, { name: engineName, signal }, async (session) => {
      const found = await listExisting(session);
      if (found.length > 0)
        taken.push(
          sanitizeReportLine(`${name} contains ${found.slice(0, 5).join(', ')}${found.length > 5 ? ', …' : ''}`),
        );
      else {
        const oid = await singleValue(session, databaseOidQuery);
        const before = await readObjectNames(session);
        empty.push({ name, ...(oid === undefined ? {} : { oid }), ...before });
      }
    });
  }
  if (taken.length === 0) return empty;
  throw new CliError('preflight_blocked', 'the target databases are not empty', {
    detail: taken.join('\n'),
    hint: 'give an empty server with `--into`, or skip these databases with `--ignore-dbs`; nothing was changed',
  });
}
