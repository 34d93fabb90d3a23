import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunExternalProgram } from '../../platform/external-program.ts';
import type { Environment } from '../../platform/host.ts';
import { MigrationError, redactedReason } from '../migration-error.ts';
import type { DatabaseEndpoint, SchemaCopyResult } from '../schema-copier.ts';
import { tryStatement } from './create-parts.ts';
import { minimalEnvironment, type PgDumpProgram } from './find-pg-dump.ts';
import { omissionsQuery } from './omissions-query.ts';
import { queryColumn, type SchemaSession, schemaApplicationName } from './schema-session.ts';
import { targetObstacles, versionObstacles } from './target-obstacles.ts';

export interface PgDumpDependencies {
  readonly env: Environment;
  readonly run: RunExternalProgram;
}

/**
 * What pg_dump writes is said to the target through our own session and in one transaction: no psql is needed, none of
 * its commands can be smuggled in by a name, and a failure leaves nothing.
 */
export async function copySchemaByPgDump(
  dump: PgDumpProgram,
  from: DatabaseEndpoint,
  sides: { readonly source: SchemaSession; readonly target: SchemaSession },
  ports: PgDumpDependencies,
  signal: AbortSignal,
): Promise<SchemaCopyResult> {
  const { source, target } = sides;
  const unfit = [
    ...versionObstacles({ from: source.version, to: target.version }),
    ...(await targetObstacles(source.session, target.session)),
  ];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const warnings = await queryColumn(source.session, omissionsQuery, 'note');
  const text = await readSchemaScript(dump, from, ports, signal);
  const refusal =
    (await tryStatement(target.session, `BEGIN;\n${withoutPsqlCommands(text, target.version)}`)) ??
    (await tryStatement(target.session, 'COMMIT'));
  if (refusal !== undefined) return { kind: 'refused', objects: [`what pg_dump wrote (${refusal})`] };
  return { kind: 'copied', by: `pg_dump ${dump.major}`, warnings };
}

/** pg_dump's script without what is meant for psql, and without a setting that older servers do not know. */
export function withoutPsqlCommands(text: string, version: number): string {
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
  '--quote-all-identifiers',
  '--encoding=UTF8',
  '--lock-wait-timeout=60s',
];

async function readSchemaScript(
  dump: PgDumpProgram,
  from: DatabaseEndpoint,
  ports: PgDumpDependencies,
  signal: AbortSignal,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-dump-'));
  try {
    const env = { ...minimalEnvironment(ports.env), ...libpqEnvironment(from, folder) };
    const { status, stdout, stderr } = await ports.run(dump.path, pgDumpArguments, {
      env,
      signal,
      maxOutputBytes: maxScriptCharacters,
    });
    if (status === 0) return stdout;
    const reason = stderr.trim() === '' ? `it ended with ${status ?? 'a signal'}` : stderr;
    throw new MigrationError(
      `could not read the schema with pg_dump: ${redactedReason(new Error(reason), from.password)}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Characters of a schema that fit in one message of the protocol, with room to spare. */
const maxScriptCharacters = 256 * 1024 * 1024;

/** How libpq enters the source; the password stands in a file that nobody else can read, and never in an argument. */
function libpqEnvironment(from: DatabaseEndpoint, folder: string): Environment {
  const password = join(folder, 'password');
  writeFileSync(password, `*:*:*:*:${escapePassword(from.password?.reveal() ?? '')}\n`, { mode: 0o600 });
  const { ca, what } = from.verify ?? {};
  const authority = join(folder, 'authority.pem');
  if (ca !== undefined) writeFileSync(authority, ca.pem, { mode: 0o600 });
  return {
    PGHOST: from.host,
    ...(from.address === undefined ? {} : { PGHOSTADDR: from.address }),
    PGPORT: String(from.port),
    PGDATABASE: from.dbname,
    PGUSER: from.username,
    PGPASSFILE: password,
    PGAPPNAME: schemaApplicationName,
    PGGSSENCMODE: 'disable',
    PGSSLMODE:
      from.ssl === 'disable'
        ? 'disable'
        : what === undefined
          ? 'require'
          : what === 'full'
            ? 'verify-full'
            : 'verify-ca',
    PGCONNECT_TIMEOUT: '30',
    HOME: folder,
    ...(ca === undefined ? {} : { PGSSLROOTCERT: authority }),
  };
}

function escapePassword(password: string): string {
  return password.replace(/[\\:]/g, '\\$&');
}

/** A line end ends a password file's line, and libpq finds the usual authorities only where a file names them. */
export function canConnectByPgDump({ password, verify }: DatabaseEndpoint): boolean {
  return !/[\r\n]/.test(password?.reveal() ?? '') && (verify === undefined || verify.ca !== undefined);
}
