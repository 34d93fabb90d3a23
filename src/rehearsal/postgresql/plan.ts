import { redactedReason } from '../../engine/migration-error.ts';
import type { EngineDependencies } from '../../engine/migration-job.ts';
import { type DatabaseDefinition, listSourceDatabases } from '../../engine/postgresql/database-definition.ts';
import { queryLastRows, withEngineSession } from '../../engine/postgresql/engine-session.ts';
import { engineApplicationName } from '../../engine/postgresql/object-names.ts';
import { readServerIdentity, type ServerIdentity } from '../../engine/postgresql/server-identity.ts';
import { CliError, usageError } from '../../errors.ts';
import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { FilledDatabase } from '../rehearsal-record.ts';
import { describeExistingObjects, readEmptyDatabase } from './existing-objects.ts';

/** The target before anything was done to it. */
export interface TargetState {
  /** As the person wrote it, without TLS where it has none and nothing was said of it. */
  readonly target: PostgresqlSource;
  readonly server: ServerIdentity;
  readonly databases: readonly string[];
  readonly extensions: readonly string[];
}

/** Looks at the target; it is only read. Throws a CliError when nobody is let in, and when the signal comes. */
export async function inspectTarget(
  door: PostgresqlSource,
  isTlsSaid: boolean,
  ports: EngineDependencies,
  signal: AbortSignal,
): Promise<TargetState> {
  try {
    return await withEngineSession(door, ports, { name: engineApplicationName, signal }, async (session) => {
      const server = await readServerIdentity(session);
      const names = async (text: string) => (await queryLastRows(session, text)).map(({ name }) => name ?? '');
      return {
        target: door,
        server,
        databases: await names('SELECT datname AS name FROM pg_database ORDER BY 1'),
        extensions: await names('SELECT name FROM pg_available_extensions ORDER BY 1'),
      };
    });
  } catch (error) {
    const isPlain = error instanceof ConnectError && error.code === connectErrorCodes.noTls;
    if (isPlain && !isTlsSaid) return inspectTarget({ ...door, ssl: 'disable' }, true, ports, signal);
    throw new CliError('unreachable', `could not enter the target: ${redactedReason(error, door.password)}`, {
      detail: `${door.host}:${door.port}, database ${door.dbname}, user ${door.username}`,
      hint: 'put right what --into says, or the target; nothing was touched',
    });
  }
}

/** What a rehearsal will make on the target. */
export interface RehearsalPlan {
  readonly source: ServerIdentity;
  readonly databases: readonly DatabaseDefinition[];
  /** Those that are not there. */
  readonly missing: readonly DatabaseDefinition[];
  /** Those that are there, and empty. */
  readonly filled: readonly FilledDatabase[];
}

/** Throws a CliError for a target that must not be filled, naming what it holds. */
export async function planRehearsal(
  source: PostgresqlSource,
  stage: TargetState,
  ignoreDbs: readonly string[],
  ports: EngineDependencies,
  signal: AbortSignal,
): Promise<RehearsalPlan> {
  const { server, databases } = await withEngineSession(
    source,
    ports,
    { name: engineApplicationName, signal },
    async (session) => ({
      server: await readServerIdentity(session),
      databases: await listSourceDatabases(session, ignoreDbs),
    }),
  );
  if (server.system === stage.server.system && server.startedAt === stage.server.startedAt) {
    throw usageError('source and target are the same server', 'name a server of its own with --into');
  }
  if (databases.length === 0)
    throw usageError('every database of the source is left out', 'take one out of --ignore-dbs');
  const fresh = databases.filter(({ name }) => !stage.databases.includes(name));
  const filled: FilledDatabase[] = [];
  const taken: string[] = [];
  for (const { name } of databases.filter((one) => !fresh.includes(one))) {
    await withEngineSession(
      { ...stage.target, dbname: name },
      ports,
      { name: engineApplicationName, signal },
      async (session) => {
        const found = await describeExistingObjects(session);
        if (found.length > 0)
          taken.push(`${name} holds ${found.slice(0, 5).join(', ')}${found.length > 5 ? ', …' : ''}`);
        else filled.push({ name, ...(await readEmptyDatabase(session)) });
      },
    );
  }
  if (taken.length === 0) return { source: server, databases, missing: fresh, filled };
  throw new CliError('preflight_blocked', 'the target is not empty where the rehearsal would write', {
    detail: taken.join('\n'),
    hint: 'name an empty server with --into, or leave these databases out with `--ignore-dbs`; nothing was touched',
  });
}
