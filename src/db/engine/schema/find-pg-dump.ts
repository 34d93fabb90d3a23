import { delimiter, join } from 'node:path';
import type { ExternalProgramRunner } from '../../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../../platform/host.ts';

/** A pg_dump program that was started once and printed its version. */
export interface PgDumpProgram {
  readonly path: string;
  /** Major version. pg_dump reads servers of its own and of earlier major versions. */
  readonly major: number;
}

export interface FindPgDumpOptions {
  readonly env: ProcessEnvironment;
  /** If set, pg_dump is searched for in this folder only. */
  readonly folder?: string | undefined;
  /** The names of the files in a folder; empty if the folder does not exist. */
  readonly namesIn: (folder: string) => readonly string[];
  readonly run: ExternalProgramRunner;
}

/** The installed pg_dump programs, one per major version, oldest first. */
export async function findPgDumpPrograms(
  places: FindPgDumpOptions,
  signal: AbortSignal,
): Promise<readonly PgDumpProgram[]> {
  const found = await Promise.all(candidatePaths(places).map((path) => probeVersion(path, places, signal)));
  const byMajor = new Map<number, PgDumpProgram>();
  for (const dump of found) {
    if (dump !== undefined && !byMajor.has(dump.major)) byMajor.set(dump.major, dump);
  }
  return [...byMajor.values()].sort((one, other) => one.major - other.major);
}

/** Examples of the version output: `pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, `… 9.6.24`, `… 19beta1`. */
export function parsePgDumpMajor(text: string): number | undefined {
  const major = /^pg_dump \([^)]*\) (\d+)(?:\.|beta|rc|devel|\s|$)/.exec(text)?.[1];
  return major === undefined ? undefined : Number(major);
}

/** The oldest pg_dump that can read the server; undefined if none is new enough. */
export function findOldestUsablePgDump(programs: readonly PgDumpProgram[], version: number): PgDumpProgram | undefined {
  return programs.find(({ major }) => major >= Math.floor(version / 10_000));
}

function candidatePaths({ env, folder, namesIn }: FindPgDumpOptions): readonly string[] {
  if (folder !== undefined) return [join(folder, programName)];
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => entry !== '');
  return [
    ...path,
    ...installationFolders.flatMap(([root, rest]) => namesIn(root).map((name) => join(root, name, rest))),
  ]
    .filter((folder) => namesIn(folder).includes(programName))
    .map((folder) => join(folder, programName));
}

const programName = process.platform === 'win32' ? 'pg_dump.exe' : 'pg_dump';

/** Folders in which Debian, the PostgreSQL packages for Red Hat, Homebrew and Windows install several versions. */
const installationFolders: readonly (readonly [root: string, rest: string])[] = [
  ['/usr/lib/postgresql', 'bin'],
  ['/usr', 'bin'],
  ['/opt/homebrew/opt', 'bin'],
  ['C:\\Program Files\\PostgreSQL', 'bin'],
];

async function probeVersion(
  path: string,
  { env, run }: FindPgDumpOptions,
  signal: AbortSignal,
): Promise<PgDumpProgram | undefined> {
  try {
    const { status, stdout } = await run(path, ['--version'], {
      env: filterEnvironmentForPgDump(env),
      signal,
      maxOutputBytes: 10_000,
    });
    const major = status === 0 ? parsePgDumpMajor(stdout) : undefined;
    return major === undefined ? undefined : { path, major };
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** Environment variables that pg_dump needs to run, without PG* variables, which would change the connection. */
export function filterEnvironmentForPgDump(env: ProcessEnvironment): ProcessEnvironment {
  const names = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP'];
  return {
    ...Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
  };
}
