import {
  compatibleRedisVersion,
  isVersionAtLeast,
  parseServerVersion,
  parseTargetVersion,
  type RedisServerVersion,
  rdbVersion,
  redisProductNames,
} from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass, unknown, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { infoQuery } from '../queries/info.ts';

export const redisVersionNotNewerCheck = redisCheck({
  id: 'version-not-newer',
  title: 'the target is not older than the source',
  spec: '4.6',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: { server: infoQuery },
  evaluate({ server }, _ground, wish) {
    const source = parseServerVersion(server);
    if (source === undefined) return unknown('INFO names no version');
    const observed = `${redisProductNames[source.product]} ${source.version}`;
    if (isOwnProduct(source)) return ownProduct(observed);
    if (wish.targetVersion === undefined) {
      return unknown(`${observed}; the version of the target was not told`, {
        text: 'Say it: --target-version redis-7.2, or --target-version valkey-8.',
      });
    }
    const target = parseTargetVersion(wish.targetVersion);
    if (target === undefined) return unknown(`${observed}; ${wish.targetVersion} cannot be read as a version`);
    const family = source.product === 'valkey' ? 'valkey' : 'redis';
    const flavors: readonly Family[] = target.product !== undefined ? [target.product] : flavorsOf(target.major);
    const troubles = flavors.map((flavor) => troubleWith(source, family, { ...target, flavor }));
    const bad = troubles.filter((trouble) => trouble !== undefined);
    if (bad.length === 0) return matched(source, observed, wish.targetVersion);
    if (bad.length < troubles.length) {
      return unknown(`${observed} to ${wish.targetVersion}: ${bad.join(' ')}`, {
        text: `Say which of the two the target is: --target-version redis-${target.major} or valkey-${target.major}.`,
      });
    }
    return fail(redisMethods, observed, {
      required: `a target at least as new, that reads its format; not ${wish.targetVersion}`,
      detail: bad[0] ?? '',
      fix: { text: 'Take a newer target of the same product.' },
    });
  },
});

type Family = 'redis' | 'valkey';
interface Target {
  readonly flavor: Family;
  readonly major: number;
  readonly minor: number | undefined;
}

/** A bare number may mean either; Valkey began with 7.2, and Redis ends with 8 so far. */
function flavorsOf(major: number): readonly Family[] {
  if (major < 7) return ['redis'];
  return major > 8 ? ['valkey'] : ['redis', 'valkey'];
}

/** Why the target cannot take what the source writes. */
function troubleWith(source: RedisServerVersion, family: Family, target: Target): string | undefined {
  const rdb = rdbVersion(family, source.major, source.minor);
  const name = `${redisProductNames[target.flavor]} ${target.major}${target.minor === undefined ? '' : `.${target.minor}`}`;
  const refusal = `the target logs \`Can't handle RDB format version ${rdb}\` and begins again, for ever.`;
  if (family !== target.flavor && rdb >= (target.flavor === 'valkey' ? 12 : 80)) {
    return `${name} reads no format of ${redisProductNames[family]} ${source.major}.${source.minor} (RDB ${rdb}): ${refusal}`;
  }
  // Each counts by itself since they parted; a Valkey says which Redis it is like.
  const like = family === target.flavor ? source : (compatibleRedisVersion(source) ?? source);
  if (isVersionAtLeast(target, like.major, like.minor)) return undefined;
  const reads = rdbVersion(target.flavor, target.major, target.minor ?? 0);
  return reads < rdb
    ? `${name} is older and reads formats up to RDB ${reads}, the source writes RDB ${rdb}: ${refusal}`
    : `${name} is older: commands that it does not know break the stream.`;
}

function matched(source: RedisServerVersion, observed: string, target: string): CheckOutcome {
  if (source.product !== 'keydb') return pass(`${observed} to ${target}`);
  return warn(`${observed} to ${target}`, {
    required: 'Redis or Valkey',
    detail: 'KeyDB is a fork: what only it has (expiring members, several primaries) the target cannot load.',
    fix: { text: 'Rehearse it with a copy of the data first (db rehearse).' },
  });
}

/** They speak to clients as Redis does, and to replicas in a way of their own. */
function isOwnProduct({ product: flavor }: RedisServerVersion): boolean {
  return flavor === 'dragonfly' || flavor === 'garnet' || flavor === 'kvrocks';
}

function ownProduct(observed: string): CheckOutcome {
  return fail(['continuous'], observed, {
    required: 'Redis or Valkey',
    detail: 'It replicates in a way of its own, which a replica of Redis does not understand.',
    fix: { text: 'Take the keys by SCAN, DUMP and RESTORE.' },
  });
}
