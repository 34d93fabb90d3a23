import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../platform/host.ts';
import type { RunProgram } from '../../platform/program.ts';
import type { DatabaseDoor, SchemaCopied } from '../schema-copy.ts';
import { MigrationError, reasonOf } from '../words.ts';
import { tried } from './make.ts';
import { notes } from './notes.ts';
import { bare, type PgDump } from './pg-dump.ts';
import { applicationName, columnOf, type Side } from './session.ts';
import { unfitTarget, unfitVersions } from './target.ts';

export interface DumpPorts {
  readonly env: Environment;
  readonly run: RunProgram;
}

/**
 * What pg_dump writes is said to the target through our own session and in one transaction: no psql is needed, none of
 * its commands can be smuggled in by a name, and a failure leaves nothing.
 */
export async function copyByDump(
  dump: PgDump,
  from: DatabaseDoor,
  sides: { readonly source: Side; readonly target: Side },
  ports: DumpPorts,
  signal: AbortSignal,
): Promise<SchemaCopied> {
  const { source, target } = sides;
  const unfit = [
    ...unfitVersions({ from: source.version, to: target.version }),
    ...(await unfitTarget(source.session, target.session)),
  ];
  if (unfit.length > 0) return { kind: 'refused', objects: unfit };
  const warnings = await columnOf(source.session, notes, 'note');
  const text = await read(dump, from, ports, signal);
  const refusal =
    (await tried(target.session, `BEGIN;\n${spoken(text, target.version)}`)) ?? (await tried(target.session, 'COMMIT'));
  if (refusal !== undefined) return { kind: 'refused', objects: [`what pg_dump wrote (${refusal})`] };
  return { kind: 'copied', by: `pg_dump ${dump.major}`, warnings };
}

/** pg_dump's script without what is meant for psql, and without a setting that older servers do not know. */
export function spoken(text: string, version: number): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('\\restrict '));
  const last = lines.findLastIndex((line) => line.startsWith('\\unrestrict '));
  const timeout = version < 170_000 ? lines.indexOf('SET transaction_timeout = 0;') : -1;
  return lines.filter((_, at) => at !== first && at !== last && at !== timeout).join('\n');
}

const words = [
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

async function read(dump: PgDump, from: DatabaseDoor, ports: DumpPorts, signal: AbortSignal): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-dump-'));
  try {
    const env = { ...bare(ports.env), ...entry(from, folder) };
    const { status, stdout, stderr } = await ports.run(dump.path, words, { env, signal, most: mostBytes });
    if (status === 0) return stdout;
    const reason = stderr.trim() === '' ? `it ended with ${status ?? 'a signal'}` : stderr;
    throw new MigrationError(`could not read the schema with pg_dump: ${reasonOf(new Error(reason), from.password)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Characters of a schema that fit in one message of the protocol, with room to spare. */
const mostBytes = 256 * 1024 * 1024;

/** How libpq enters the source; the password stands in a file that nobody else can read, and never in an argument. */
function entry(from: DatabaseDoor, folder: string): Environment {
  const password = join(folder, 'password');
  writeFileSync(password, `*:*:*:*:${escaped(from.password?.reveal() ?? '')}\n`, { mode: 0o600 });
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
    PGAPPNAME: applicationName,
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

function escaped(password: string): string {
  return password.replace(/[\\:]/g, '\\$&');
}

/** A line end ends a password file's line, and libpq finds the usual authorities only where a file names them. */
export function canEnter({ password, verify }: DatabaseDoor): boolean {
  return !/[\r\n]/.test(password?.reveal() ?? '') && (verify === undefined || verify.ca !== undefined);
}
