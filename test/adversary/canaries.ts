import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from '../../scripts/postgres.mjs';
import type { Postgres } from '../fixtures/postgres.ts';

/** What an attack leaves when it succeeds. hostile-owner.sql describes each. */
export interface Canaries {
  /** A short path: it is part of names of at most 63 bytes. */
  readonly folder: string;
  readonly file: string;
  /** Runs one of the SQL files of this folder on a server, as its superuser. */
  infect(server: PostgresServer, name: 'hostile-owner.sql' | 'hostile-superuser.sql'): void;
  /** Attacks that ran with the rights of a superuser, of whatever server. */
  asSuperuser(): readonly string[];
  /** Attacks that ran on this server as anybody but mallory. */
  asSomebody(server: PostgresServer): readonly string[];
  /** Whether a name was executed as a command of this machine. */
  wasExecuted(): boolean;
  reset(): void;
  remove(): void;
}

export function makeCanaries(): Canaries {
  const folder = mkdtempSync(join(tmpdir(), 'ca-'));
  // Servers run as another user than the tests.
  chmodSync(folder, 0o777);
  const file = join(folder, 'c');
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  const read = new Map<PostgresServer, number>();
  const seen = new Map<PostgresServer, readonly string[]>();
  return {
    folder,
    file,
    infect(server, name) {
      const sql = fileURLToPath(new URL(name, import.meta.url));
      const conninfo = `host=${server.folder} port=${server.port} user=postgres dbname=postgres`;
      execFileSync('psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-v', `canary=${file}`, '-f', sql, conninfo], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      read.set(server, server.log().length);
    },
    asSuperuser: () => distinct(lines().map((line) => /^attack=(\S+ port=\S+ database=\S+)/.exec(line)?.[1] ?? '')),
    asSomebody(server) {
      const log = server.log().slice(read.get(server) ?? 0);
      const found = [...log.matchAll(/CANARY attack=(\S+) .*? session_user=(?!mallory)(\S+)/g)];
      seen.set(
        server,
        found.map(([, attack, user]) => `${attack} as ${user}`),
      );
      return distinct(seen.get(server) ?? []);
    },
    wasExecuted: () => existsSync(`${file}.run`),
    reset() {
      for (const path of [file, `${file}.run`]) rmSync(path, { force: true });
      for (const server of read.keys()) read.set(server, server.log().length);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value) => value !== ''))].sort();
}

/** Superusers of a server whom nobody but an attacker has made. */
export async function strangeSuperusers(server: PostgresServer): Promise<readonly string[]> {
  const rows = await server.query<{ rolname: string }>(
    "SELECT rolname FROM pg_catalog.pg_roles WHERE rolsuper AND rolname <> 'postgres' ORDER BY 1",
  );
  return rows.map(({ rolname }) => rolname);
}

export interface PsqlRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines that report an error. */
  readonly errors: readonly string[];
}

/** Runs a script as its header says, as the superuser of a server, in a folder where a name may not become a file. */
export function runByPsql(server: Postgres, script: string, folder: string, database = 'postgres'): PsqlRun {
  const path = join(folder, 'script.sql');
  writeFileSync(path, script);
  const conninfo = `host=127.0.0.1 port=${server.ownPort} user=postgres dbname=${database}`;
  const { status, stdout, stderr } = spawnSync('psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-f', path, conninfo], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 2 ** 28,
    env: { PATH: process.env.PATH, HOME: folder, PGPASSWORD: server.password, PGCONNECT_TIMEOUT: '5' },
  });
  const errors = stderr.split('\n').filter((line) => /\b(ERROR|FATAL|error):/.test(line));
  return { code: status, stdout, stderr, errors };
}

/** A script whose optional parts are no comments any more. */
export function withOptionalParts(script: string): string {
  return script.replaceAll(/^-- {3}/gm, '');
}
