import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { unpackedCommand, unpackedPackage } from './debian-packages.mjs';

/** The Debian release that has each version. */
const suites = {
  'redis-6.0': 'bullseye',
  'redis-7.0': 'bookworm',
  'redis-8.0': 'trixie',
  'valkey-8.0': 'bookworm-backports',
  'valkey-9.1': 'forky',
};

/**
 * The command that starts a server of this version, from Debian's package, unpacked with its libraries and started through
 * its own loader; undefined when Debian no longer has it, or has another version by now.
 */
export function redisCommand(release) {
  const [product, version] = release.split('-');
  const folder = unpackedPackage(release, {
    suite: suites[release],
    packages: [`${product}-tools`],
    files: /^(lib|lua|zlib|redis|valkey).*\.deb$/,
    isUsable: (fresh) => isServer(fresh, product, version),
  });
  return folder === undefined ? undefined : unpackedCommand(folder, `usr/bin/${product}-server`);
}

function isServer(folder, product, version) {
  if (!existsSync(join(folder, 'usr/bin', `${product}-check-rdb`))) return false;
  // The checker of RDB files is the server by another name.
  symlinkSync(`${product}-check-rdb`, join(folder, 'usr/bin', `${product}-server`));
  const [loader, ...words] = unpackedCommand(folder, `usr/bin/${product}-server`) ?? [];
  if (loader === undefined) return false;
  const { stdout } = spawnSync(loader, [...words, '--version'], { encoding: 'utf8' });
  return stdout?.includes(`v=${version}.`);
}
