import type { CopySession } from '../../postgresql/connection.ts';
import { releaseOf, releaseWords, versionWords } from '../../postgresql/version.ts';
import { MigrationError } from '../words.ts';
import { rowsOf } from './session.ts';

export interface Server {
  /** server_version_num */
  readonly version: number;
  /** The system identifier of pg_control; copies of a data directory have the same. */
  readonly system: string;
  readonly started: string;
}

export async function readServer(session: CopySession): Promise<Server> {
  const [row] = await rowsOf(
    session,
    `SELECT current_setting('server_version_num') AS version, system_identifier::text AS system,
     pg_postmaster_start_time()::text AS started FROM pg_control_system()`,
  );
  return { version: Number(row?.version ?? 0), system: row?.system ?? '', started: row?.started ?? '' };
}

/** spec §4.6. Throws a MigrationError. */
export function judgeServers(source: Server, target: Server): void {
  if (source.system === target.system && source.started === target.started) {
    throw new MigrationError('source and target are the same server');
  }
  if (source.version < 100_000) {
    throw new MigrationError(`PostgreSQL ${releaseWords(source.version)} knows no publications`);
  }
  if (releaseOf(source.version) > releaseOf(target.version)) {
    throw new MigrationError(
      `the source is PostgreSQL ${versionWords(source.version)}, newer than the target's ${versionWords(target.version)}`,
    );
  }
}
