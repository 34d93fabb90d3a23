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
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { commandCallsQuery, infoQuery } from '../queries.ts';

export const redisVersionNotNewerCheck = declareRedisCheck({
  id: 'version-not-newer',
  title: 'the target can read the data format of the source',
  headline: 'The target cannot read the data format of the source',
  spec: 'S9.9',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery, calls: markOptional(commandCallsQuery) },
  evaluate({ info, calls }, _facts, { targetVersion }) {
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
    const called = new Set(
      [...valueOr(calls, new Map<string, number>())].flatMap(([name, n]) => (n > 0 ? [name] : [])),
    );
    const problems = products.map((product) =>
      incompatibility({ source, family, hasExpiringFields, called }, { ...target, product }),
    );
    const found = problems.filter((problem) => problem !== undefined);
    const reasons = found.map(({ reason }) => reason).join(' ');
    const [first] = found;
    if (first === undefined) return compatible(source, observed, targetVersion, products, target);
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

type ProductFamily = 'redis' | 'valkey';

interface ProductVersion {
  readonly product: ProductFamily;
  readonly major: number;
  readonly minor: number | undefined;
}

/**
 * A version number alone may mean either product: Valkey begins with version 7.2, and the latest major version of Redis
 * is 8.
 */
function productsOf(major: number): readonly ProductFamily[] {
  if (major < 7) return ['redis'];
  return major > 8 ? ['valkey'] : ['redis', 'valkey'];
}

interface SourceFormat {
  readonly source: ServerVersion;
  readonly family: ProductFamily;
  readonly hasExpiringFields: boolean;
  /** Commands that clients called since the server started. */
  readonly called: ReadonlySet<string>;
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
  { hasExpiringFields, called }: SourceFormat,
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
  const unknownCommands = [...called].filter((name) => !isKnownTo(target, name)).map((name) => name.toUpperCase());
  if (unknownCommands.length > 0) {
    return {
      blocks: redisMethods,
      reason: `Applications call commands that ${target.name} does not know: ${unknownCommands.join(', ')}. The changes by these commands are lost. ${scan}`,
    };
  }
  return {
    blocks: ['scan'],
    reason: `Replication works: the source sends RDB ${sent} to ${target.name}. ${scan}${isKnownTo(target, ifEqual) ? '' : ` ${lostOptions}`}`,
    fix: 'Use continuous replication, or Valkey 9 or newer as the target.',
  };
}

/** INFO counts calls of commands, but not their options. */
const lostOptions =
  'Changes by SET IFEQ and GEOSEARCHSTORE BYPOLYGON are lost, because Redis before 8.4 does not know these options.';

const ifEqual = 'set ifeq';

/** Commands of Valkey 9 that change keys, and the Redis version that also has them. */
const commandsSince: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  hexpire: [7, 4],
  hpexpire: [7, 4],
  hexpireat: [7, 4],
  hpexpireat: [7, 4],
  hpersist: [7, 4],
  hsetex: [8, 0],
  hgetex: [8, 0],
  hgetdel: [8, 0],
  msetex: [8, 4],
  [ifEqual]: [8, 4],
};

function isKnownTo(target: ProductVersion, command: string): boolean {
  const [major, minor] = commandsSince[command] ?? [0, 0];
  return isAtLeast(target, major, minor);
}

function compatible(
  source: ServerVersion,
  observed: string,
  target: string,
  products: readonly ProductFamily[],
  version: { readonly major: number; readonly minor: number | undefined },
): CheckOutcome {
  const hasIfEqual = source.product === 'valkey' && isAtLeast(source, 8, 1);
  if (hasIfEqual && products.includes('redis') && !isKnownTo({ ...version, product: 'redis' }, ifEqual)) {
    return warnOutcome(`${observed} to ${target}`, {
      headline: 'The target may not know some options of commands',
      required: 'a Valkey, or Redis 8.4 or later',
      detail: lostOptions,
      fix: {
        text: 'Use Valkey as the target, or make sure that no application uses options that Redis does not know.',
      },
    });
  }
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
