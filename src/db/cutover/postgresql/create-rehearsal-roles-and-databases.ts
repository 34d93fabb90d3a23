import { CliError } from '../../../base/errors.ts';
import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { sqlStateOf } from '../../engine/error.ts';
import type { EngineSystem } from '../../engine/input.ts';
import { createDatabase } from '../../engine/postgresql/databases.ts';
import { engineName } from '../../engine/postgresql/names.ts';
import { lastRows, singleValue, withSession } from '../../engine/postgresql/session.ts';
import { copyRoles } from '../../engine/postgresql/target.ts';
import type { RehearsalCreatedObject, RehearsalRecordFile } from '../rehearsal-record.ts';
import type { RehearsalEndpoints } from './clean-up.ts';
import { type RehearsalPlan, readEmptyTargetDatabases } from './plan.ts';

interface CreationParams {
  readonly endpoints: RehearsalEndpoints<PostgresqlEndpoint>;
  readonly plan: Pick<RehearsalPlan, 'missing' | 'filled'>;
  readonly file: RehearsalRecordFile;
  readonly signal: AbortSignal;
}

/**
 * The rehearsal creates roles and databases itself before the migration starts, so that its record lists exactly what
 * must be removed: objects that a statement of this function created. Throws a CliError if another program has created
 * one of the databases since the plan, or has filled an empty one.
 */
export async function createRehearsalRolesAndDatabases(
  { endpoints, plan, file, signal }: CreationParams,
  ports: EngineSystem,
): Promise<void> {
  const opening = { name: engineName, signal };
  // Between the plan and this moment the user has confirmed the rehearsal, which may have taken hours.
  const names = plan.filled.map(({ name }) => name);
  const filled = await readEmptyTargetDatabases(endpoints.target, names, ports, signal);
  await withSession(endpoints.source, ports, opening, (source) =>
    withSession(endpoints.target, ports, opening, async (target) => {
      const there = await listRoleNames(target);
      const wanted = (await listRoleNames(source)).filter((name) => !there.includes(name));
      file.change({ roles: wanted.map((name) => ({ name })), filled });
      await createRoles(source, target, { wanted, file, random: ports.random });
      for (const { name, ...properties } of plan.missing) {
        const others = file.current().databases;
        file.change({ databases: [...others, { name }] });
        let isCreated = false;
        const session = observeStatements(target, async (text) => {
          isCreated ||= text.startsWith('CREATE DATABASE ');
        });
        await createDatabase(session, { name, ...properties }).catch((error: unknown) => {
          // duplicate_database, or unique_violation if another session creates the database at the same time
          if (!['42P04', '23505'].includes(sqlStateOf(error) ?? '')) throw error;
        });
        if (!isCreated) {
          file.change({ databases: others });
          throw databaseOfOthersError(name);
        }
        const oid = await singleValue(target, `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`);
        file.change({ databases: [...others, { name, ...(oid === undefined ? {} : { oid }) }] });
      }
    }),
  );
}

/** Creates the roles of the source. The record keeps those that a CREATE ROLE of this session created. */
async function createRoles(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
  {
    wanted,
    file,
    random,
  }: {
    readonly wanted: readonly string[];
    readonly file: RehearsalRecordFile;
    readonly random: (bytes: number) => Uint8Array;
  },
): Promise<void> {
  const created: RehearsalCreatedObject[] = [];
  const session = observeStatements(target, async (text) => {
    const name = wanted.find((one) => text.startsWith(`CREATE ROLE ${quoteIdentifier(one)} `));
    if (name === undefined) return;
    const oid = await singleValue(target, `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`);
    created.push({ name, ...(oid === undefined ? {} : { oid }) });
    file.change({ roles: [...created, ...file.current().roles.filter((role) => role.name !== name)] });
  });
  await copyRoles(source, session, random);
  file.change({ roles: created });
}

/** A session that reports each statement after it has succeeded. */
function observeStatements(
  session: SearchPathSafeSession,
  onSuccess: (text: string) => Promise<void>,
): SearchPathSafeSession {
  return {
    ...session,
    async query(text, limit) {
      const rows = await session.query(text, limit);
      await onSuccess(text);
      return rows;
    },
  };
}

async function listRoleNames(session: SearchPathSafeSession): Promise<readonly string[]> {
  const rows = await lastRows(
    session,
    `SELECT rolname AS name FROM pg_roles WHERE oid >= ${firstNormalObjectId} ORDER BY 1`,
  );
  return rows.map(({ name }) => name ?? '');
}

function databaseOfOthersError(name: string): CliError {
  return new CliError('preflight_blocked', `another program has created the database ${name} on the target`, {
    detail: 'the database did not exist when the rehearsal was planned; it was not changed',
    hint: 'run the command again after the other program has ended',
  });
}
