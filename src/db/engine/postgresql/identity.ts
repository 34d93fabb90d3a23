import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { formatMajorVersion, formatVersion, toMajorVersion } from '../../../postgresql/version.ts';
import { MigrationError } from '../error.ts';
import { lastRows } from './session.ts';

export interface ServerIdentity {
  /** `server_version_num`, for example 170005. */
  readonly version: number;
  /** System identifier of the server, from pg_control. Copies of a data directory have the same system identifier. */
  readonly system: string;
  readonly startedAt: string;
  /** Whether the session belongs to a superuser. */
  readonly isSuperuser: boolean;
}

export async function readIdentity(session: SafeSession): Promise<ServerIdentity> {
  const [row] = await lastRows(
    session,
    `SELECT current_setting('server_version_num') AS version, system_identifier::text AS system,
     pg_postmaster_start_time()::text AS started,
     (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser FROM pg_control_system()`,
  );
  return {
    version: Number(row?.version ?? 0),
    system: row?.system ?? '',
    startedAt: row?.started ?? '',
    isSuperuser: row?.superuser === 't',
  };
}

type ComparedIdentity = Omit<ServerIdentity, 'isSuperuser'>;

/** Checks whether source and target are the same server. Throws a MigrationError. */
export function requireMigratable(source: ComparedIdentity, target: ComparedIdentity): void {
  if (source.system === target.system && source.startedAt === target.startedAt) {
    throw new MigrationError('source and target are the same server');
  }
  if (source.version < 100_000) {
    throw new MigrationError(
      `PostgreSQL ${formatMajorVersion(source.version)} has no logical replication: PostgreSQL 10 or later is required`,
    );
  }
  if (toMajorVersion(source.version) > toMajorVersion(target.version)) {
    throw new MigrationError(
      `the source (PostgreSQL ${formatVersion(source.version)}) is newer than the target (PostgreSQL ${formatVersion(target.version)})`,
    );
  }
}
