import type { InfoField, RedisInfo } from './info.ts';

/**
 * Server products with the Redis protocol. All products except Redis, Valkey and KeyDB are independent implementations.
 */
type RedisProduct = 'redis' | 'valkey' | 'keydb' | 'dragonfly' | 'garnet' | 'kvrocks';

export interface ServerVersion {
  readonly product: RedisProduct;
  /** The version as the server reports it. */
  readonly version: string;
  readonly major: number;
  readonly minor: number;
  /** The Redis version with which the server reports to be compatible. */
  readonly redis: string;
}

export const productNames: Readonly<Record<RedisProduct, string>> = {
  redis: 'Redis',
  valkey: 'Valkey',
  keydb: 'KeyDB',
  dragonfly: 'Dragonfly',
  garnet: 'Garnet',
  kvrocks: 'Kvrocks',
};

/** The product and version in the reply to INFO; undefined: INFO has no version. */
export function parseServerVersion(info: RedisInfo): ServerVersion | undefined {
  const redis = info.get('redis_version') ?? '';
  const own = versionFields.find(([, name]) => info.has(name));
  const product = own?.[0] ?? (isKeydb(info) ? 'keydb' : info.get('server_name') === 'valkey' ? 'valkey' : 'redis');
  const version = (own === undefined ? redis : (info.get(own[1]) ?? '')).replace(/^(df-)?v/, '');
  const [major, minor] = numbersOf(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { product, version, major, minor, redis };
}

const versionFields: readonly (readonly [RedisProduct, InfoField])[] = [
  ['valkey', 'valkey_version'],
  ['dragonfly', 'dragonfly_version'],
  ['garnet', 'garnet_version'],
  ['kvrocks', 'kvrocks_version'],
];

function isKeydb(info: RedisInfo): boolean {
  return info.has('mvcc_depth') || (info.get('executable') ?? '').includes('keydb');
}

interface TargetVersion {
  /** The server product; undefined if only a version number was given. */
  readonly product: 'redis' | 'valkey' | undefined;
  readonly major: number;
  /** The minor version; undefined if only the major version was given. */
  readonly minor: number | undefined;
}

/** Parses a version such as `8`, `7.2`, `valkey-8`, `Redis 7.2.4`; undefined if the text is not a version. */
export function parseTargetVersion(text: string): TargetVersion | undefined {
  const [, name, major, minor] = /^\s*(redis|valkey)?[\s\-:/v]*(\d+)(?:\.(\d+))?(?:\.\S*)?\s*$/i.exec(text) ?? [];
  if (major === undefined) return undefined;
  const product = name?.toLowerCase();
  return {
    product: product === 'redis' || product === 'valkey' ? product : undefined,
    major: Number(major),
    minor: minor === undefined ? undefined : Number(minor),
  };
}

/** The Redis version with which a server reports to be compatible; undefined if not reported. */
export function compatibleVersion({
  redis,
}: ServerVersion): { readonly major: number; readonly minor: number } | undefined {
  const [major, minor] = numbersOf(redis) ?? [];
  return major === undefined || minor === undefined ? undefined : { major, minor };
}

/**
 * Whether a version is at least another version; without a minor version, the newest release of the major version is
 * assumed.
 */
export function isAtLeast(
  version: { readonly major: number; readonly minor: number | undefined },
  major: number,
  minor: number,
): boolean {
  return version.major > major || (version.major === major && (version.minor ?? Number.POSITIVE_INFINITY) >= minor);
}

/** Whether the server is Redis of at least this version, or Valkey, which began as Redis 7.2. */
export function isServerAtLeast(version: ServerVersion | undefined, major: number, minor: number): boolean {
  return version !== undefined && (version.product === 'valkey' || isAtLeast(version, major, minor));
}

/**
 * The RDB format that a release writes (RDB_VERSION in src/rdb.h). 12 to 79 belong to Redis since it changed its
 * licence, and no Valkey reads them; 80 and above belong to Valkey, and no Redis reads those. A release candidate has
 * the number of the previous version (7.4-rc1 is 7.3.240), but writes the RDB format of the release.
 */
export function rdbVersionOf(flavor: 'redis' | 'valkey', major: number, minor: number): number {
  const row = tables[flavor].find(([since]) => major > since[0] || (major === since[0] && minor >= since[1]));
  return row?.[1] ?? 6;
}

type Rows = readonly (readonly [since: readonly [number, number], rdb: number])[];

const tables: Readonly<Record<'redis' | 'valkey', Rows>> = {
  redis: [
    [[7, 3], 12],
    [[7, 1], 11],
    [[6, 9], 10],
    [[4, 9], 9],
    [[3, 9], 8],
    [[3, 1], 7],
  ],
  valkey: [
    [[9, 2], 81],
    [[9, 0], 80],
    [[7, 2], 11],
  ],
};

function numbersOf(version: string): readonly [number, number] | undefined {
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}
