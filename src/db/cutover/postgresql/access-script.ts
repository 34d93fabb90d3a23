import { maxTextLength, sanitizeReportLine } from '../../../base/sanitize.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { formatPsqlConnect, psqlSetup, singleLineSql } from '../../../postgresql/psql-script.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { openPinned, redactReason } from '../../engine/tools.ts';
import { TargetRefusal } from '../pair.ts';
import { type AccessCatalog, readAccessCatalog } from './access-catalog.ts';
import { type AccessOptions, findAccessDifference } from './access-difference.ts';
import type { AccessStatement } from './access-statements.ts';
import { describeServers } from './compare.ts';
import { findStateDifference, readDatabaseState, type StateDifference } from './database-state.ts';
import { withReadSession } from './sequences.ts';

export interface DatabaseAccess {
  readonly database: string;
  readonly statements: readonly AccessStatement[];
  readonly notes: readonly string[];
  /** Differences that no statement of this script removes. */
  readonly state?: StateDifference;
  /** Why a server could not be read; the database has no statements then. */
  readonly failure?: string;
}

export interface ServerAccess {
  readonly databases: readonly DatabaseAccess[];
  /** Roles that can log in on the source, and are not proven to have the same password on the target. */
  readonly passwords: PasswordState;
}

interface PasswordState {
  /** Without a password, or not on the target at all. */
  readonly missing: readonly string[];
  /** With a password that is not proven to be that of the source. */
  readonly unproven: readonly string[];
  readonly proven: readonly string[];
}

export interface CompareAccessOptions extends Omit<AccessOptions, 'withRoles'> {
  readonly ignoreDbs: readonly string[];
  readonly signal: AbortSignal;
}

/** Compares who may do what on both servers, in every database that a migration copies. Both servers are only read. */
export async function compareAccess(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  { ignoreDbs, signal, ...options }: CompareAccessOptions,
): Promise<ServerAccess> {
  const { names } = await describeServers(source, target, ignoreDbs, signal);
  const databases: DatabaseAccess[] = [];
  let passwords: PasswordState | undefined;
  for (const database of names) {
    try {
      const [here, there] = await Promise.all(
        [source, target].map((server) =>
          withReadSession(server, database, signal, async (session) => {
            const catalog = await readAccessCatalog(session);
            return { catalog, state: await readDatabaseState(session, catalog.version) };
          }),
        ),
      );
      if (here === undefined || there === undefined) continue;
      const found = findAccessDifference(here.catalog, there.catalog, {
        ...options,
        withRoles: passwords === undefined,
      });
      passwords ??= passwordState(here.catalog, there.catalog);
      const statements = found.statements.map((one) =>
        singleLineSql(one.sql) === undefined ? { ...one, left: unexpectedText } : one,
      );
      const state = findStateDifference(here.state, there.state);
      databases.push({ database, statements, notes: found.notes, state });
    } catch (error) {
      const isOfServer = error instanceof ConnectError || error instanceof QueryError;
      if (signal.aborted || !isOfServer) throw error;
      const failure = redactReason(error, source.password, target.password);
      databases.push({ database, statements: [], notes: [], failure });
    }
  }
  return { databases, passwords: passwords ?? { missing: [], unproven: [], proven: [] } };
}

/**
 * The same verifier is the same password, and a session of the role on the target shows that it can log in. A service gives
 * new roles random passwords, so any other password proves nothing.
 */
function passwordState(source: AccessCatalog, target: AccessCatalog): PasswordState {
  const names = [...source.roles.values()]
    .filter(({ isBuiltIn, attributes }) => !isBuiltIn && attributes.LOGIN)
    .map(({ name }) => name)
    .filter((name) => source.passwords === undefined || source.passwords.get(name) !== undefined);
  const isMissing = (name: string) =>
    !target.roles.has(name) || (target.passwords !== undefined && target.passwords.get(name) === undefined);
  const isProven = (name: string) => {
    const verifier = target.passwords?.get(name);
    return target.sessions.has(name) || (verifier !== undefined && verifier === source.passwords?.get(name));
  };
  return {
    missing: names.filter((name) => isMissing(name) && !target.sessions.has(name)),
    unproven: names.filter((name) => !isMissing(name) && !isProven(name)),
    proven: names.filter(isProven),
  };
}

/**
 * Runs ANALYZE where tables were never analyzed, and the statements that the login of the target can run; resolves with the
 * statements. Rejects with a `TargetRefusal` when the target refuses one.
 */
export async function restoreAccess(
  target: PostgresqlEndpoint,
  { databases }: Pick<ServerAccess, 'databases'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const done: string[] = [];
  for (const { database, statements, state } of databases) {
    const own = statements.flatMap(({ sql, left }) => (left === undefined ? [sql] : []));
    // First, while the login still owns the tables: only their owner may analyze them.
    const all = [...((state?.unanalyzed ?? []).length > 0 ? ['ANALYZE'] : []), ...own];
    if (all.length === 0) continue;
    const session = await openPinned(
      { ...target, dbname: database },
      { name: 'cloudctl-cutover', limit: 10_000, signal, settings: { lock_timeout: '5s' } },
    );
    try {
      for (const sql of [...psqlSetup, ...all]) {
        await session.query(sql, statementLimit).catch((error: unknown) => {
          if (!(error instanceof QueryError) || error.lost) throw error;
          throw new TargetRefusal(database, sql, error.message);
        });
      }
    } finally {
      await session.end();
    }
    done.push(...all.map((sql) => `${database}: ${sql}`));
  }
  return done;
}

/** Milliseconds; ANALYZE of many tables takes minutes. */
const statementLimit = 3_600_000;

/** A psql script that removes the differences; undefined if no statement and no comment is left. */
export function renderAccessScript({ databases, passwords }: ServerAccess): string | undefined {
  const parts = databases
    .filter(({ statements }) => statements.length > 0)
    .map(({ database, statements }) => databasePart(database, statements));
  if (parts.length === 0) return undefined;
  const roles = [...passwords.missing, ...passwords.unproven];
  const last =
    roles.length === 0
      ? []
      : [
          [
            '-- Set the passwords of these roles with psql; they were not read from the source.',
            ...roles.map((name) => comment(`\\password ${quoteIdentifier(name)}`)),
          ].join('\n'),
        ];
  const head = [
    '-- Roles, owners, privileges and settings that the target lacks. Run it on the target with psql, when the migration has ended.',
    '-- It can be run again: every statement is idempotent.',
    '\\set ON_ERROR_STOP on',
    '\\encoding UTF8',
  ];
  return [head.join('\n'), ...parts, ...last].join('\n\n');
}

const unexpectedText = 'it contains unexpected text from the server';

function databasePart(database: string, statements: readonly AccessStatement[]): string {
  const connect = formatPsqlConnect(database);
  if (connect === undefined) return '-- A database was left out here: the server sent an empty name.';
  const lines = statements.map(({ sql, left }) => {
    const line = singleLineSql(sql);
    if (line === undefined) return `-- A statement was left out here: ${unexpectedText}.`;
    return left === undefined ? line : `${comment(line)}  -- ${sanitizeReportLine(left)}`;
  });
  return [connect, ...psqlSetup, ...lines].join('\n');
}

function comment(text: string): string {
  return `--   ${sanitizeReportLine(text, maxTextLength)}`;
}

/** What the script leaves to somebody else, by its reason: at most three statements of each. */
export function describeLeftStatements({ databases }: Pick<ServerAccess, 'databases'>): readonly string[] {
  const groups = new Map<string, { readonly database: string; readonly reason: string; readonly sql: string[] }>();
  for (const { database, statements } of databases)
    for (const { sql, left } of statements) {
      if (left === undefined) continue;
      const key = JSON.stringify([database, left]);
      const group = groups.get(key) ?? { database, reason: left, sql: [] };
      group.sql.push(sql);
      groups.set(key, group);
    }
  return [...groups.values()].map(({ database, reason, sql }) => {
    const more = sql.length > 3 ? `; and ${sql.length - 3} more` : '';
    return `left: in ${database}, ${reason}: ${sql.slice(0, 3).join('; ')}${more}`;
  });
}
