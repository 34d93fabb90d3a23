import type { ExternalProgramRunner } from '../../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../../platform/host.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { MigrationError, redactErrorReason } from '../migration-error.ts';
import type { SchemaCopyResult } from '../schema-copier.ts';
import { runSchemaStatementOrReturnError } from './create-schema-parts.ts';
import { filterEnvironmentForPgDump, type PgDumpProgram } from './find-pg-dump.ts';
import { runWithLibpqEnvironment } from './libpq-environment.ts';
import { removePgDumpStatements } from './remove-pg-dump-statements.ts';
import { queryColumnValues } from './schema-session.ts';
import { findSchemaCopyObstacles, findSchemaCopyVersionObstacles } from './target-obstacles.ts';
import type { SchemaCopySessionPair, TargetSchemaCreator } from './target-schema-creator.ts';
import { uncopiedSchemaPropertiesQuery } from './uncopied-schema-properties-query.ts';

export interface PgDumpDeps {
  readonly env: ProcessEnvironment;
  readonly run: ExternalProgramRunner;
}

/**
 * Runs the script of pg_dump in one transaction of its own session: psql is not needed, a name cannot inject a
 * meta-command of psql, and after a failure no created object remains.
 */
export async function copySchemaByPgDump(
  program: PgDumpProgram,
  from: PostgresqlEndpoint,
  sides: SchemaCopySessionPair & { readonly writer: TargetSchemaCreator },
  deps: PgDumpDeps,
  signal: AbortSignal,
): Promise<SchemaCopyResult> {
  const { source, target, writer } = sides;
  const obstacles = [
    ...findSchemaCopyVersionObstacles({ from: source.version, to: target.version }),
    ...(await findSchemaCopyObstacles(source.session, target.session)),
    ...writer.obstacles,
  ];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const warnings = await queryColumnValues(source.session, uncopiedSchemaPropertiesQuery, 'note');
  const text = await readSchemaScript(program, from, deps, signal);
  const rejected = await writer.createFirst();
  if (rejected.length > 0) return { kind: 'refused', objects: rejected };
  const script = removePgDumpStatements(removeUnsupportedPgDumpLines(text, target.version), writer.isLeftOut);
  const { session, transaction, lastStatements } = writer;
  const error =
    (await runSchemaStatementOrReturnError(session, `${transaction.begin};\n${script}`)) ??
    (await runSchemaStatementOrReturnError(session, transaction.end));
  if (error !== undefined) return { kind: 'refused', objects: [`the script of pg_dump (${error})`] };
  return {
    kind: 'copied',
    by: `pg_dump ${program.major}`,
    warnings: [...warnings, ...writer.warnings],
    ...(lastStatements.length === 0 ? {} : { lastStatements }),
  };
}

/** The script of pg_dump without psql meta-commands, and without transaction_timeout for servers before PostgreSQL 17. */
export function removeUnsupportedPgDumpLines(text: string, version: number): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('\\restrict '));
  const last = lines.findLastIndex((line) => line.startsWith('\\unrestrict '));
  const timeout = version < 170_000 ? lines.indexOf('SET transaction_timeout = 0;') : -1;
  return lines.filter((_, at) => at !== first && at !== last && at !== timeout).join('\n');
}

const pgDumpArguments = [
  '--schema-only',
  '--no-owner',
  '--no-privileges',
  '--no-subscriptions',
  '--no-tablespaces',
  '--no-password',
  // `--role=none` is set, because a role that is stored for the database would otherwise read instead of the role that
  // logged in.
  '--role=none',
  '--quote-all-identifiers',
  '--encoding=UTF8',
  '--lock-wait-timeout=60s',
];

async function readSchemaScript(
  program: PgDumpProgram,
  from: PostgresqlEndpoint,
  deps: PgDumpDeps,
  signal: AbortSignal,
): Promise<string> {
  return runWithLibpqEnvironment(from, async (connection) => {
    const { status, stdout, stderr } = await deps.run(program.path, pgDumpArguments, {
      env: filterEnvironmentForPgDump(deps.env),
      given: connection,
      signal,
      maxOutputBytes: maxScriptCharacters,
    });
    if (status === 0) return stdout;
    const reason = stderr.trim() === '' ? `exit status ${status ?? 'unknown (ended by a signal)'}` : stderr;
    throw new MigrationError(
      `could not read the schema with pg_dump: ${redactErrorReason(new Error(reason), from.password)}`,
    );
  });
}

/**
 * The maximum number of characters of a schema script. The maximum length of a protocol message is four times the
 * maximum length of a script.
 */
const maxScriptCharacters = 256 * 1024 * 1024;

/** False if TLS is verified with the CA certificates of the operating system, which libpq does not use. */
export function canConnectByPgDump({ verify }: PostgresqlEndpoint): boolean {
  return verify === undefined || verify.ca !== undefined;
}
