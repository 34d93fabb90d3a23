import { delimiter, join } from 'node:path';
import type { Environment } from '../../platform/host.ts';
import type { RunProgram } from '../../platform/program.ts';

/** A pg_dump that answered. */
export interface PgDump {
  readonly path: string;
  /** 17 of 17.10: it reads servers of its own release and of older ones. */
  readonly major: number;
}

export interface Places {
  readonly env: Environment;
  /** Looked into instead of all others. */
  readonly folder?: string | undefined;
  /** Names in a folder; none when there is no such folder. */
  readonly namesIn: (folder: string) => readonly string[];
  readonly run: RunProgram;
}

/** Every pg_dump of this machine that answers, the oldest release first and each release once. */
export async function findPgDumps(places: Places, signal: AbortSignal): Promise<readonly PgDump[]> {
  const found = await Promise.all(candidates(places).map((path) => ask(path, places, signal)));
  const byMajor = new Map<number, PgDump>();
  for (const dump of found) {
    if (dump !== undefined && !byMajor.has(dump.major)) byMajor.set(dump.major, dump);
  }
  return [...byMajor.values()].sort((one, other) => one.major - other.major);
}

/** `pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, `… 9.6.24`, `… 19beta1`. */
export function majorOf(text: string): number | undefined {
  const major = /^pg_dump \([^)]*\) (\d+)(?:\.|beta|rc|devel|\s|$)/.exec(text)?.[1];
  return major === undefined ? undefined : Number(major);
}

/** The closest to the server's own release; undefined: none is new enough. */
export function closest(dumps: readonly PgDump[], version: number): PgDump | undefined {
  return dumps.find(({ major }) => major >= Math.floor(version / 10_000));
}

function candidates({ env, folder, namesIn }: Places): readonly string[] {
  if (folder !== undefined) return [join(folder, program)];
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => entry !== '');
  return [...path, ...installations.flatMap(([root, rest]) => namesIn(root).map((name) => join(root, name, rest)))]
    .filter((place) => namesIn(place).includes(program))
    .map((place) => join(place, program));
}

const program = process.platform === 'win32' ? 'pg_dump.exe' : 'pg_dump';

/** Where Debian, Red Hat's packages by PostgreSQL, Homebrew and Windows keep releases beside each other. */
const installations: readonly (readonly [root: string, rest: string])[] = [
  ['/usr/lib/postgresql', 'bin'],
  ['/usr', 'bin'],
  ['/opt/homebrew/opt', 'bin'],
  ['C:\\Program Files\\PostgreSQL', 'bin'],
];

async function ask(path: string, { env, run }: Places, signal: AbortSignal): Promise<PgDump | undefined> {
  try {
    const { status, stdout } = await run(path, ['--version'], { env: bare(env), signal, most: 10_000 });
    const major = status === 0 ? majorOf(stdout) : undefined;
    return major === undefined ? undefined : { path, major };
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** What a program needs to run; nothing of PG… that could lead it elsewhere. */
export function bare(env: Environment): Environment {
  const names = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP'];
  return {
    ...Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
  };
}
