import { spawnSync } from 'node:child_process';
import { unpackedCommand, unpackedPackage } from './debian-packages.mjs';

/** The Debian release that has each version. */
const suites = { 13: 'bullseye', 15: 'bookworm', 17: 'trixie', 18: 'forky' };

/** `pg_dump` or `psql` of this major version, from Debian's package; undefined when it cannot be had. */
export function postgresClient(program, major) {
  if (!(major in suites)) return undefined;
  const path = `usr/lib/postgresql/${major}/bin/${program}`;
  const folder = unpackedPackage(`postgres-client-${major}`, {
    suite: suites[major],
    packages: [`postgresql-client-${major}`],
    files: /^(lib|zlib|postgresql-client-\d).*\.deb$/,
    isUsable: (fresh) => {
      const [loader, ...words] = unpackedCommand(fresh, path) ?? [];
      if (loader === undefined) return false;
      const { stdout } = spawnSync(loader, [...words, '--version'], { encoding: 'utf8' });
      return stdout?.includes(`(PostgreSQL) ${major}.`);
    },
  });
  return folder === undefined ? undefined : unpackedCommand(folder, path);
}
