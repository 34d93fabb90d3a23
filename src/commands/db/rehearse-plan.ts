import type { EnginePorts } from '../../engine/job.ts';
import { type Database, listDatabases } from '../../engine/postgresql/databases.ts';
import { watchName } from '../../engine/postgresql/names.ts';
import { readServer, type Server } from '../../engine/postgresql/servers.ts';
import { rowsOf, within } from '../../engine/postgresql/session.ts';
import { reasonOf } from '../../engine/words.ts';
import { CliError, usage } from '../../errors.ts';
import { ConnectError, ownCodes } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { occupants, readBare } from '../../rehearsal/occupants.ts';
import type { Filled } from '../../rehearsal/record.ts';

/** The target before anything was done to it. */
export interface Stage {
  /** As the person wrote it, without TLS where it has none and nothing was said of it. */
  readonly door: PostgresSource;
  readonly server: Server;
  readonly databases: readonly string[];
  readonly extensions: readonly string[];
}

/** Looks at the target; it is only read. Throws a CliError when nobody is let in, and when the signal comes. */
export async function surveyStage(
  door: PostgresSource,
  isTlsSaid: boolean,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<Stage> {
  try {
    return await within(door, ports, { name: watchName, signal }, async (session) => {
      const server = await readServer(session);
      const names = async (text: string) => (await rowsOf(session, text)).map(({ name }) => name ?? '');
      return {
        door,
        server,
        databases: await names('SELECT datname AS name FROM pg_database ORDER BY 1'),
        extensions: await names('SELECT name FROM pg_available_extensions ORDER BY 1'),
      };
    });
  } catch (error) {
    const isPlain = error instanceof ConnectError && error.code === ownCodes.noTls;
    if (isPlain && !isTlsSaid) return surveyStage({ ...door, ssl: 'disable' }, true, ports, signal);
    throw new CliError('unreachable', `could not enter the target: ${reasonOf(error, door.password)}`, {
      detail: `${door.host}:${door.port}, database ${door.dbname}, user ${door.username}`,
      hint: 'put right what --into says, or the target; nothing was touched',
    });
  }
}

/** What a rehearsal will make on the target. */
export interface Plan {
  readonly source: Server;
  readonly databases: readonly Database[];
  /** Those that are not there. */
  readonly fresh: readonly Database[];
  /** Those that are there, and empty. */
  readonly filled: readonly Filled[];
}

/** Throws a CliError for a target that must not be filled, naming what it holds. */
export async function planFor(
  source: PostgresSource,
  stage: Stage,
  ignoreDbs: readonly string[],
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<Plan> {
  const { server, databases } = await within(source, ports, { name: watchName, signal }, async (session) => ({
    server: await readServer(session),
    databases: await listDatabases(session, ignoreDbs),
  }));
  if (server.system === stage.server.system && server.started === stage.server.started) {
    throw usage('source and target are the same server', 'name a server of its own with --into');
  }
  if (databases.length === 0) throw usage('every database of the source is left out', 'take one out of --ignore-dbs');
  const fresh = databases.filter(({ name }) => !stage.databases.includes(name));
  const filled: Filled[] = [];
  const taken: string[] = [];
  for (const { name } of databases.filter((one) => !fresh.includes(one))) {
    await within({ ...stage.door, dbname: name }, ports, { name: watchName, signal }, async (session) => {
      const found = await occupants(session);
      if (found.length > 0) taken.push(`${name} holds ${found.slice(0, 5).join(', ')}${found.length > 5 ? ', …' : ''}`);
      else filled.push({ name, ...(await readBare(session)) });
    });
  }
  if (taken.length === 0) return { source: server, databases, fresh, filled };
  throw new CliError('preflight_blocked', 'the target is not empty where the rehearsal would write', {
    detail: taken.join('\n'),
    hint: 'name an empty server with --into, or leave these databases out with `--ignore-dbs`; nothing was touched',
  });
}
