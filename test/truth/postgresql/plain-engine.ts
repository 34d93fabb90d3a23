import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Major } from '../../../scripts/postgres.mjs';
import { postgresClient } from '../../../scripts/postgres-client.mjs';
import { quoteIdentifier, quoteLiteral } from '../../../src/postgresql/quote.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import {
  createErrorCounter,
  lastComplaint,
  type MigrationPlan,
  type MigrationResult,
  type TruthEngine,
} from './migrate.ts';
import { differences } from './rows.ts';

/**
 * What an administrator types who has nothing but PostgreSQL: `pg_dump --schema-only | psql` of the target's release with
 * their defaults (owners and grants included, names quoted only where that release requires it), then CREATE SUBSCRIPTION.
 * Nothing of `src/db/engine` is used, since the real service need not do what our engine does.
 */
export const plainEngine: TruthEngine = {
  async start(plan) {
    const name = `plain_${randomBytes(4).toString('hex')}`;
    const problems = new Map<string, readonly string[]>();
    for (const database of plan.databases) {
      problems.set(database, await problemsOf(() => subscribe(plan, database, name)));
    }
    const end = Date.now() + plan.timeLimit;
    for (const database of plan.databases.filter((one) => problems.get(one)?.length === 0)) {
      problems.set(database, await problemsOf(() => waitForCopy(plan, database, end)));
    }
    return { problems, stop: () => removeFrom(plan.source, plan.databases, name) };
  },

  async dump(plan): Promise<MigrationResult> {
    const problems = new Map<string, readonly string[]>();
    for (const database of plan.databases) problems.set(database, await problemsOf(() => restore(plan, database, [])));
    return { problems, remarks: [] };
  },
};

/**
 * A third opinion: Debian's `pgcopydb clone`, which copies a point in time with `pg_dump | pg_restore`, COPY and indexes of its
 * own. It is not asked to follow: for that it needs a plugin on the source. Resolves with what is wrong on the target, by
 * database; undefined where there is no pgcopydb, or it does not know the release of the source.
 */
export async function cloneWithPgcopydb(
  plan: MigrationPlan,
  sourceVersion: Major,
): Promise<MigrationResult['problems'] | undefined> {
  if (!releasesOfPgcopydb().includes(sourceVersion)) return undefined;
  const problems = new Map<string, readonly string[]>();
  for (const database of plan.databases) {
    problems.set(database, await clone(plan, database));
  }
  return problems;
}

/** The releases that it says it is compatible with. */
function releasesOfPgcopydb(): readonly number[] {
  const { stdout } = spawnSync('pgcopydb', ['--version'], { encoding: 'utf8' });
  const [, list = ''] = /compatible with Postgres (.*)/.exec(stdout ?? '') ?? [];
  return [...list.matchAll(/\d+/g)].map(Number);
}

async function clone(plan: MigrationPlan, database: string): Promise<readonly string[]> {
  await createDatabase(plan, database);
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-pgcopydb-'));
  const env = {
    PGCOPYDB_SOURCE_PGURI: uriOf(connectionWords(plan, database)),
    PGCOPYDB_TARGET_PGURI: uriOf({
      host: plan.target.folder,
      port: String(plan.target.port),
      user: plan.targetLogin?.username ?? 'postgres',
      dbname: database,
    }),
  };
  try {
    const words = ['clone', '--dir', join(folder, 'work'), ...optionsOfLogin(plan)];
    // When it fails, it ends every process of its group; when a COPY fails, it may end without an error.
    const log = await run(['setsid', 'pgcopydb'], words, env).then(
      ({ stderr }) => ({ stderr, failed: false }),
      (error: Error) => ({ stderr: error.message, failed: true }),
    );
    const found = log.failed ? [] : await differences(plan.source, plan.target, database, plan.announced);
    const errors = log.stderr.split('\n').flatMap((line) => /(?:ERROR|FATAL) +(.*)/.exec(line)?.[1] ?? []);
    return log.failed || found.length > 0 ? [[...found, ...errors].join('; ') || log.stderr] : [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function uriOf(words: Readonly<Record<string, string>>): string {
  return `postgres://?${Object.entries(words)
    .map(([word, value]) => `${word}=${encodeURIComponent(value)}`)
    .join('&')}`;
}

/**
 * The schemas with an object that is not created, a table that is not copied, or other rows than on the source, when psql goes
 * on after an error, as it does by default.
 */
export async function findFailedSchemas(plan: MigrationPlan, database: string): Promise<ReadonlySet<string>> {
  const name = `plain_${randomBytes(4).toString('hex')}`;
  const failed = new Set<string>();
  const errors = await restore(plan, database, ['--schema-only'], { stopsAtError: false });
  for (const { schema } of errors) failed.add(schema);
  try {
    // A table that was not created would end CREATE SUBSCRIPTION.
    const tables = await plan.target.query(
      "SELECT c.oid::regclass AS name FROM pg_class c WHERE c.relkind = 'r' AND c.oid >= 16384 AND c.relnamespace <> 'pg_toast'::regnamespace",
      database,
    );
    await replicate(plan, database, name, `TABLE ${tables.map((row) => row.name).join(', ')}`);
    await waitForCopy(plan, database, Date.now() + plan.timeLimit).catch(() => {});
    const waiting = await plan.target.query(
      `SELECT n.nspname AS schema FROM pg_subscription_rel r JOIN pg_class c ON c.oid = r.srrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE r.srsubstate <> 'r'`,
      database,
    );
    for (const { schema } of waiting) failed.add(String(schema));
    const differing = await differences(plan.source, plan.target, database, []);
    for (const text of differing) failed.add(text.replace(/[. ].*/, ''));
  } finally {
    await removeFrom(plan.source, [database], name);
  }
  return failed;
}

async function problemsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

async function subscribe(plan: MigrationPlan, database: string, name: string): Promise<void> {
  await restore(plan, database, ['--schema-only']);
  await replicate(plan, database, name);
}

async function replicate(plan: MigrationPlan, database: string, name: string, what = 'ALL TABLES'): Promise<void> {
  const source = sourceEnvironment(plan, database);
  await psql(plan, source, `CREATE PUBLICATION ${name} FOR ${what}`);
  const conninfo = Object.entries(connectionWords(plan, database))
    .map(([word, value]) => `${word}='${value.replace(/['\\]/g, '\\$&')}'`)
    .join(' ');
  const slot = `${name}_${plan.databases.indexOf(database)}`;
  await psql(
    plan,
    targetEnvironment(plan, database),
    `SET statement_timeout = ${plan.timeLimit};
     CREATE SUBSCRIPTION ${name} CONNECTION ${quoteLiteral(conninfo)} PUBLICATION ${name} WITH (slot_name = ${slot}, copy_data = true)`,
  );
}

async function waitForCopy({ target }: MigrationPlan, database: string, end: number): Promise<void> {
  const logged = target.log().length;
  const repeats = createErrorCounter(target);
  for (;;) {
    const waiting = await target.query(
      "SELECT srrelid::regclass::text AS name, srsubstate AS state FROM pg_subscription_rel WHERE srsubstate <> 'r'",
      database,
    );
    if (waiting.length === 0) return;
    if (repeats(waiting.map((row) => `${row.name} ${row.state}`).join()) || Date.now() > end) {
      throw new Error(`not copied: ${waiting.slice(0, 3).map((row) => row.name)}${lastComplaint(target, logged)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

interface RestoreError {
  readonly schema: string;
  readonly message: string;
}

/**
 * `pg_dump | psql` into a new database of the same encoding and locale.
 * @returns the errors of psql, with the schema of the object, when it does not stop at the first
 */
async function restore(
  plan: MigrationPlan,
  database: string,
  words: readonly string[],
  { stopsAtError = true } = {},
): Promise<readonly RestoreError[]> {
  const { stdout: script } = await run(
    client('pg_dump', plan),
    ['--no-password', ...optionsOfLogin(plan), ...words],
    sourceEnvironment(plan, database),
  );
  await createDatabase(plan, database);
  const { stderr } = await psql(plan, targetEnvironment(plan, database), script, stopsAtError);
  const lines = script.toString().split('\n');
  return [...stderr.matchAll(/^psql:<stdin>:(\d+): ERROR: +(.*)$/gm)].map(([, line, message = '']) => {
    const comment = lines.slice(0, Number(line)).findLast((text) => text.startsWith('-- Name: ')) ?? '';
    const [, name = '', schema = ''] = /^-- Name: (.*); Type: .*; Schema: (.*); Owner: /.exec(comment) ?? [];
    return { schema: schema === '-' ? name : schema, message };
  });
}

/** The objects of a login without SUPERUSER cannot be given to other owners. */
function optionsOfLogin({ targetLogin }: MigrationPlan): readonly string[] {
  return targetLogin === undefined ? [] : ['--no-owner', '--no-acl'];
}

async function createDatabase(plan: MigrationPlan, database: string): Promise<void> {
  await createRoles(plan);
  await plan.target.query(await databaseDefinition(plan.source, database));
  if (plan.targetLogin !== undefined)
    await plan.target.query(`ALTER DATABASE ${quoteIdentifier(database)} OWNER TO ${plan.targetLogin.username}`);
}

async function databaseDefinition(source: Postgres, database: string): Promise<string> {
  const [row] = await source.query(
    `SELECT to_jsonb(d) AS definition, pg_encoding_to_char(encoding) AS encoding FROM pg_database d WHERE datname = ${quoteLiteral(database)}`,
  );
  if (row === undefined) throw new Error(`the source has no database ${database}`);
  const definition = row.definition as Readonly<Record<string, string | null>>;
  const locale = definition.datlocale ?? definition.daticulocale;
  const provider =
    definition.datlocprovider === 'i' && locale != null
      ? `LOCALE_PROVIDER icu ICU_LOCALE ${quoteLiteral(locale)}`
      : definition.datlocprovider === 'b' && locale != null
        ? `LOCALE_PROVIDER builtin BUILTIN_LOCALE ${quoteLiteral(locale)}`
        : '';
  return `CREATE DATABASE ${quoteIdentifier(database)} TEMPLATE template0 ENCODING ${quoteLiteral(String(row.encoding))}
    LC_COLLATE ${quoteLiteral(definition.datcollate ?? 'C')} LC_CTYPE ${quoteLiteral(definition.datctype ?? 'C')} ${provider}`;
}

/** As `pg_dumpall --roles-only --no-role-passwords` prints them. */
async function createRoles({ source, target }: MigrationPlan): Promise<void> {
  const statements = await source.query(`SELECT statement FROM (
    SELECT 1 AS step, format('CREATE ROLE %I %s %s %s %s', rolname, CASE WHEN rolsuper THEN 'SUPERUSER' ELSE 'NOSUPERUSER' END,
      CASE WHEN rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END, CASE WHEN rolinherit THEN 'INHERIT' ELSE 'NOINHERIT' END,
      CASE WHEN rolbypassrls THEN 'BYPASSRLS' ELSE 'NOBYPASSRLS' END) FROM pg_roles WHERE oid >= 16384
    UNION ALL SELECT 2, format('GRANT %s TO %s', roleid::regrole, member::regrole) FROM pg_auth_members WHERE member >= 16384
  ) AS s(step, statement) ORDER BY step`);
  // A role may be left from another case.
  for (const { statement } of statements) await target.query(String(statement)).catch(() => {});
}

async function removeFrom(source: Postgres, databases: readonly string[], name: string): Promise<readonly string[]> {
  const slots = `FROM pg_replication_slots WHERE slot_name LIKE '${name}%' OR slot_name LIKE 'pg\\_%\\_sync\\_%'`;
  await source.query(`SELECT pg_terminate_backend(active_pid) ${slots}`).catch(() => {});
  await source.query(`SELECT pg_drop_replication_slot(slot_name) ${slots}`).catch(() => {});
  for (const database of databases) await source.query(`DROP PUBLICATION IF EXISTS ${name}`, database).catch(() => {});
  return [];
}

function client(program: 'pg_dump' | 'psql', { targetVersion }: MigrationPlan): readonly [string, ...string[]] {
  const command = postgresClient(program, targetVersion);
  if (command === undefined) throw new Error(`Debian has no package of ${program} ${targetVersion}`);
  return command;
}

function connectionWords({ connection }: MigrationPlan, dbname: string): Readonly<Record<string, string>> {
  const { host, port, username, password, ssl } = connection;
  return {
    host,
    port: String(port),
    dbname,
    user: username,
    ...(password === undefined ? {} : { password: password.reveal() }),
    sslmode: ssl === 'disable' ? 'disable' : 'require',
    gssencmode: 'disable',
    connect_timeout: '10',
  };
}

type LibpqEnvironment = Readonly<Record<string, string>>;

function sourceEnvironment(plan: MigrationPlan, database: string): LibpqEnvironment {
  const { host = '', port = '', user = '', password, sslmode = '' } = connectionWords(plan, database);
  return {
    PGHOST: host,
    PGPORT: port,
    PGUSER: user,
    PGDATABASE: database,
    PGSSLMODE: sslmode,
    ...(password === undefined ? {} : { PGPASSWORD: password }),
  };
}

/** Through the socket, which needs no password. */
function targetEnvironment({ target, targetLogin }: MigrationPlan, database: string): LibpqEnvironment {
  const user = targetLogin?.username ?? 'postgres';
  return { PGHOST: target.folder, PGPORT: String(target.port), PGUSER: user, PGDATABASE: database };
}

async function psql(
  plan: MigrationPlan,
  env: LibpqEnvironment,
  script: string | Buffer,
  stopsAtError = true,
): Promise<ProgramOutput> {
  const words = ['-X', '-q', '-v', `ON_ERROR_STOP=${stopsAtError ? 1 : 0}`, '-f', '-'];
  return run(client('psql', plan), words, env, script);
}

interface ProgramOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Rejects with what the program printed on standard error, when it fails. */
function run(
  [program, ...first]: readonly [string, ...string[]],
  words: readonly string[],
  env: LibpqEnvironment,
  input: string | Buffer = '',
): Promise<ProgramOutput> {
  const all = { ...env, PATH: process.env.PATH, HOME: '/dev/null', LC_ALL: 'C', PGCONNECT_TIMEOUT: '10' };
  const child = spawn(program, [...first, ...words], { env: all, timeout: 60_000, killSignal: 'SIGKILL' });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => errors.push(chunk));
  // psql does not read on after an error.
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const stderr = Buffer.concat(errors).toString();
      if (code === 0) resolve({ stdout: Buffer.concat(output), stderr });
      else reject(new Error(stderr.trim().replace(/^psql:<stdin>:\d+: /gm, '') || `${words} ended with ${code}`));
    });
  });
}
