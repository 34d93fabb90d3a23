import { parseKeyspace } from '../../../../redis/info.ts';
import {
  compatibleVersion,
  isAtLeast,
  parseServerVersion,
  parseTargetVersion,
  productNames,
  rdbVersionOf,
  type ServerVersion,
} from '../../../../redis/version.ts';
import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  type MigrationMethod,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const redisVersionNotNewerCheck = declareRedisCheck({
  id: 'version-not-newer',
  title: 'the target can read the data format of the source',
  headline: 'The target cannot read the data format of the source',
  spec: 'S9.9',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery },
  evaluate({ info }, _facts, { targetVersion }) {
    const source = parseServerVersion(info);
    if (source === undefined) return unknownOutcome('INFO has no version');
    const observed = `${productNames[source.product]} ${source.version}`;
    if (hasOwnReplication(source)) return ownReplication(observed);
    if (targetVersion === undefined) {
      return settledByVersion(`${observed}; the version of the target is not known`, {
        text: 'Provide the version of the target, for example --target-version redis-7.2 or --target-version valkey-8.',
      });
    }
    const target = parseTargetVersion(targetVersion);
    if (target === undefined) return unknownOutcome(`${observed}; could not parse the target version ${targetVersion}`);
    const family = source.product === 'valkey' ? 'valkey' : 'redis';
    const products = target.product !== undefined ? [target.product] : productsOf(target.major);
    const hasExpiringFields = parseKeyspace(info).some(({ subexpiry }) => subexpiry > 0);
    const problems = products.map((product) =>
      incompatibility({ source, family, hasExpiringFields }, { ...target, product }),
    );
    const found = problems.filter((problem) => problem !== undefined);
    const reasons = found.map(({ reason }) => reason).join(' ');
    const [first] = found;
    if (first === undefined) return compatible(source, observed, targetVersion);
    if (problems.some((problem) => problem?.blocks.length !== first.blocks.length)) {
      return settledByVersion(`${observed} to ${targetVersion}: ${reasons}`, {
        text: `Say which product the target is: --target-version redis-${target.major} or valkey-${target.major}.`,
      });
    }
    return failOutcome(first.blocks, observed, {
      ...(first.blocks.includes('continuous') ? {} : { headline: 'The target cannot read the keys of a scan' }),
      required: `a target at least as new that reads the format of the source; not ${targetVersion}`,
      detail: first.reason,
      fix: { text: first.fix ?? 'Use a newer target of the same product.' },
    });
  },
});

function settledByVersion(reason: string, fix: FindingFix): CheckOutcome {
  return { ...unknownOutcome(reason, fix), settledBy: '--target-version' };
}

export type ProductFamily = 'redis' | 'valkey';

interface ProductVersion {
  readonly product: ProductFamily;
  readonly major: number;
  readonly minor: number | undefined;
}

/**
 * A version number alone may mean either product: Valkey begins with version 7.2, and the latest major version of Redis
 * is 8.
 */
export function productsOf(major: number): readonly ProductFamily[] {
  if (major < 7) return ['redis'];
  return major > 8 ? ['valkey'] : ['redis', 'valkey'];
}

interface SourceFormat {
  readonly source: ServerVersion;
  readonly family: ProductFamily;
  readonly hasExpiringFields: boolean;
}

interface Incompatibility {
  readonly blocks: readonly MigrationMethod[];
  readonly reason: string;
  readonly fix?: string;
}

/** Why the target cannot read what the source writes; undefined if it can. */
function incompatibility(format: SourceFormat, target: ProductVersion): Incompatibility | undefined {
  const { source, family } = format;
  const rdb = rdbVersionOf(family, source.major, source.minor);
  const sent = sentRdbVersion(rdb, target);
  const name = `${productNames[target.product]} ${target.major}${target.minor === undefined ? '' : `.${target.minor}`}`;
  const refusal = `the target logs \`Can't handle RDB format version ${sent}\` and retries without end.`;
  const blocked = (reason: string) => ({ blocks: redisMethods, reason });
  if (family === 'redis' && target.product === 'valkey' && rdb >= 12) {
    return blocked(`${name} reads no format of Redis ${source.major}.${source.minor} (RDB ${rdb}): ${refusal}`);
  }
  // Redis and Valkey number their versions separately; Valkey reports the Redis version with which it is compatible.
  const comparable = family === target.product ? source : (compatibleVersion(source) ?? source);
  const isNewEnough = isAtLeast(target, comparable.major, comparable.minor);
  const reads = rdbVersionOf(target.product, target.major, target.minor ?? 0);
  if (!isNewEnough && reads < sent) {
    return blocked(`${name} is older and reads formats up to RDB ${reads}, the source sends RDB ${sent}: ${refusal}`);
  }
  if (!isNewEnough) return blocked(`${name} is older: commands that it does not know break the replication stream.`);
  return sent === rdb ? undefined : olderFormat(format, rdb, sent, { ...target, name });
}

/**
 * The RDB format version that the source sends in a copy: Valkey 9 and later send RDB 11 to a replica that does not
 * report to be a Valkey 9 (replicaRdbVersion in src/replication.c), while DUMP always uses the version of the source.
 */
function sentRdbVersion(rdb: number, target: ProductVersion): number {
  return rdb >= 80 && !(target.product === 'valkey' && isAtLeast(target, 9, 0)) ? 11 : rdb;
}

/**
 * A Redis target can replicate from Valkey 9, because Valkey 9 sends it an RDB format that is older than the separation
 * of Valkey from Redis.
 */
function olderFormat(
  { hasExpiringFields }: SourceFormat,
  rdb: number,
  sent: number,
  target: ProductVersion & { readonly name: string },
): Incompatibility {
  const scan = `RESTORE refuses what DUMP returns (RDB ${rdb}): \`DUMP payload version or checksum are wrong\`.`;
  if (hasExpiringFields) {
    return {
      blocks: redisMethods,
      reason: `The source sends RDB ${sent} to ${target.name}, which cannot hold hash fields that expire: the copy ends, and the target retries without end. ${scan}`,
      fix: 'Use Valkey 9 or newer as the target, or remove the expiry of the hash fields (HPERSIST).',
    };
  }
  return {
    blocks: ['scan'],
    reason: `Replication works: the source sends RDB ${sent} to ${target.name}. ${scan}`,
    fix: 'Use continuous replication, or Valkey 9 or newer as the target.',
  };
}

function compatible(source: ServerVersion, observed: string, target: string): CheckOutcome {
  if (source.product !== 'keydb') return passOutcome(`${observed} to ${target}`);
  return warnOutcome(`${observed} to ${target}`, {
    headline: 'The source is KeyDB',
    required: 'Redis or Valkey',
    detail:
      'KeyDB is a fork of Redis: the target cannot load the features that only KeyDB has (expiring members, several primaries).',
    fix: { text: 'Rehearse the migration with a copy of the data first (db rehearse).' },
  });
}

/** Products that use the Redis protocol for clients, but another protocol for replication. */
function hasOwnReplication({ product }: ServerVersion): boolean {
  return product === 'dragonfly' || product === 'garnet' || product === 'kvrocks';
}

function ownReplication(observed: string): CheckOutcome {
  return failOutcome(['continuous'], observed, {
    headline: 'The source has a replication protocol of its own',
    required: 'Redis or Valkey',
    detail: 'The source has a replication protocol of its own, which a Redis replica does not support.',
    fix: { text: 'Copy the keys with SCAN, DUMP and RESTORE.' },
  });
}
