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
  title: 'the target can read the data format of the source',
  headline: 'The target cannot read the data format of the source',
  spec: '4.6',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery },
  evaluate({ info }, _facts, { targetVersion }) {
    const source = parseServerVersion(info);
    if (source === undefined) return unknown('INFO has no version');
    const observed = `${redisProductNames[source.product]} ${source.version}`;
    if (hasOwnReplication(source)) return ownReplication(observed);
    if (targetVersion === undefined) {
      return unknown(`${observed}; the version of the target is not known`, {
        text: 'Give it with --target-version redis-7.2 or --target-version valkey-8.',
      });
    }
    const target = parseTargetVersion(targetVersion);
    if (target === undefined) return unknown(`${observed}; could not parse the target version ${targetVersion}`);
    const family = source.product === 'valkey' ? 'valkey' : 'redis';
    const products = target.product !== undefined ? [target.product] : productsOf(target.major);
    const problems = products.map((product) => incompatibility(source, family, { ...target, product }));
    const [first, ...others] = problems.filter((problem) => problem !== undefined);
    if (first === undefined) return compatible(source, observed, targetVersion);
    if (others.length + 1 < problems.length) {
      return unknown(`${observed} to ${targetVersion}: ${[first, ...others].join(' ')}`, {
        text: `Say which product the target is: --target-version redis-${target.major} or valkey-${target.major}.`,
      });
    }
    return fail(redisMethods, observed, {
      required: `a target at least as new that reads the format of the source; not ${targetVersion}`,
      detail: first,
      fix: { text: 'Use a newer target of the same product.' },
    });
  },
});

type ProductFamily = 'redis' | 'valkey';

interface ProductVersion {
  readonly product: ProductFamily;
  readonly major: number;
  readonly minor: number | undefined;
}

/** A number alone may mean either product: Valkey starts with 7.2, and Redis ends with 8 so far. */
function productsOf(major: number): readonly ProductFamily[] {
  if (major < 7) return ['redis'];
  return major > 8 ? ['valkey'] : ['redis', 'valkey'];
}

/** Why the target cannot read what the source writes; undefined: it can. */
function incompatibility(
  source: RedisServerVersion,
  family: ProductFamily,
  target: ProductVersion,
): string | undefined {
  const rdb = rdbVersion(family, source.major, source.minor);
  const name = `${redisProductNames[target.product]} ${target.major}${target.minor === undefined ? '' : `.${target.minor}`}`;
  const refusal = `the target logs \`Can't handle RDB format version ${rdb}\` and retries without end.`;
  if (family !== target.product && rdb >= (target.product === 'valkey' ? 12 : 80)) {
    return `${name} reads no format of ${redisProductNames[family]} ${source.major}.${source.minor} (RDB ${rdb}): ${refusal}`;
  }
  // The products number their versions separately; a Valkey reports the Redis version that it is compatible with.
  const comparable = family === target.product ? source : (compatibleRedisVersion(source) ?? source);
  if (isVersionAtLeast(target, comparable.major, comparable.minor)) return undefined;
  const reads = rdbVersion(target.product, target.major, target.minor ?? 0);
  return reads < rdb
    ? `${name} is older and reads formats up to RDB ${reads}, the source writes RDB ${rdb}: ${refusal}`
    : `${name} is older: commands that it does not know break the replication stream.`;
}

function compatible(source: RedisServerVersion, observed: string, target: string): CheckOutcome {
  if (source.product !== 'keydb') return pass(`${observed} to ${target}`);
  return warn(`${observed} to ${target}`, {
    headline: 'The source is KeyDB',
    required: 'Redis or Valkey',
    detail: 'KeyDB is a fork: the target cannot load its own features (expiring members, several primaries).',
    fix: { text: 'Rehearse the migration with a copy of the data first (db rehearse).' },
  });
}

/** These products use the Redis protocol for clients, and another one for replication. */
function hasOwnReplication({ product }: RedisServerVersion): boolean {
  return product === 'dragonfly' || product === 'garnet' || product === 'kvrocks';
}

function ownReplication(observed: string): CheckOutcome {
  return fail(['continuous'], observed, {
    headline: 'The source has a replication protocol of its own',
    required: 'Redis or Valkey',
    detail: 'It has a replication protocol of its own, which a Redis replica does not support.',
    fix: { text: 'Copy the keys with SCAN, DUMP and RESTORE.' },
  });
}
