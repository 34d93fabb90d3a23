import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Postgres } from '../../fixtures/postgres.ts';
import type { RedisServer } from '../../fixtures/redis.ts';
import type { FleetStore } from './fleet-store.ts';

/** Puts the data back that the store had when the backup was made. */
export type Restore = () => Promise<void>;

/** Makes a backup of a running store, as its operator would. */
export type MakeBackup = (store: FleetStore) => Promise<Restore>;

/** The backups that each engine has tools for. */
export const storeBackups: Readonly<Record<'postgresql' | 'redis', Readonly<Record<string, MakeBackup>>>> = {
  postgresql: {
    pg_basebackup: async (store) => {
      const { postgres, folder } = requirePostgres(store);
      await postgres.rules('host replication all 127.0.0.1/32 scram-sha-256', 'host all all 0.0.0.0/0 scram-sha-256');
      client(postgres, 'pg_basebackup', ['-D', folder, '-X', 'stream', '-c', 'fast', ...connection(postgres)]);
      return replaceFiles(store, folder, postgres.data);
    },
    pg_dump: async (store) => {
      const { postgres, folder } = requirePostgres(store);
      const file = join(folder, 'dump');
      const database = ['-d', 'postgres', ...connection(postgres)];
      client(postgres, 'pg_dump', ['-Fc', '-n', 'cloudctl_share', '-f', file, ...database]);
      return async () =>
        client(postgres, 'pg_restore', ['--clean', '--if-exists', '--exit-on-error', ...database, file]);
    },
  },
  redis: {
    'append-only file': async (store) => {
      const { redis, folder } = requireRedis(store);
      // A rewrite would replace files while they are copied.
      redis.cli('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
      cpSync(redis.data, folder, { recursive: true });
      return replaceFiles(store, folder, redis.data);
    },
  },
};

/** The major version of the installed tools of PostgreSQL, which make no backup of a newer server. */
export function readBackupToolMajor(): number {
  const text = execFileSync('pg_dump', ['--version'], { encoding: 'utf8' });
  return Number(/(\d+)/.exec(text)?.[1]);
}

function replaceFiles(store: FleetStore, from: string, to: string): Restore {
  return async () => {
    await store.end('shutdown');
    const { uid, gid } = statSync(to);
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    execFileSync('chown', ['-R', `${uid}:${gid}`, to]);
    await store.start();
  };
}

function client(postgres: Postgres, program: string, words: readonly string[]): void {
  execFileSync(program, words, {
    env: { ...process.env, PGPASSWORD: postgres.password },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function connection({ port }: Postgres): readonly string[] {
  return ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
}

function requirePostgres({ postgres }: FleetStore): { readonly postgres: Postgres; readonly folder: string } {
  if (postgres === undefined) throw new Error('the store is not PostgreSQL');
  return { postgres, folder: makeBackupFolder() };
}

function requireRedis({ redis }: FleetStore): { readonly redis: RedisServer; readonly folder: string } {
  if (redis === undefined) throw new Error('the store is not Redis');
  return { redis, folder: makeBackupFolder() };
}

function makeBackupFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
