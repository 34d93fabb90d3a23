import { createHash } from 'node:crypto';
import type { SeedData } from '../seed-data.ts';
import type { World } from '../world.ts';
import { asInteger, asString, DecodeError, objectOf, oneOfValues, optionalMember } from './decoder.ts';
import { findInconsistency } from './inconsistency.ts';
import { decodeSeed } from './seed-decoder.ts';
import type { WorldImage } from './world-image.ts';
import { decodeWorldImage } from './world-image-decoder.ts';
import { toWorldImage } from './world-state.ts';

/** Everything a sandbox knows at one instant, as one JSON object. Addresses and the admin token belong to the process and stay. */
export interface WorldSnapshot {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly version: 1;
  /** Of the virtual clock, in ISO 8601; for people. */
  readonly taken_at: string;
  /** The same in milliseconds. */
  readonly now: number;
  /** SHA-256 of `now`, `seed` and `world`; whoever edits a snapshot by hand leaves it out. */
  readonly digest?: string;
  readonly seed: SeedData;
  readonly world: WorldImage;
}

const SNAPSHOT_FORMAT = 'cloudctl-sandbox-snapshot';

export function takeSnapshot(world: World): WorldSnapshot {
  const now = world.now();
  const content = { now, seed: world.seed, world: toWorldImage(world.state) };
  const taken = new Date(now).toISOString();
  return { format: SNAPSHOT_FORMAT, version: 1, taken_at: taken, digest: digestOf(content), ...content };
}

/** A snapshot that may be restored, or a sentence about why it may not. */
export function parseWorldSnapshot(value: unknown): WorldSnapshot | string {
  const given = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (given !== SNAPSHOT_FORMAT) return 'It is no snapshot of a sandbox.';
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined;
  if (version !== 1) return 'It is a snapshot of another version; this sandbox reads version 1.';
  try {
    const snapshot = decode(value, '');
    if (snapshot.digest !== undefined && snapshot.digest !== digestOf(snapshot)) {
      return 'It is damaged: its digest does not fit. Leave the digest out if it was changed on purpose.';
    }
    const problem = findInconsistency(snapshot.seed, snapshot.world);
    return problem === undefined ? snapshot : `It is damaged: ${problem}.`;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return `It is damaged: ${error.message}.`;
  }
}

const decode = objectOf<WorldSnapshot>({
  format: oneOfValues(SNAPSHOT_FORMAT),
  version: oneOfValues(1),
  taken_at: asString,
  now: asInteger,
  digest: optionalMember(asString),
  seed: decodeSeed,
  world: decodeWorldImage,
});

function digestOf({ now, seed, world }: Pick<WorldSnapshot, 'now' | 'seed' | 'world'>): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted({ now, seed, world })))
    .digest('hex');
}

/** The order of members says nothing, so it does not count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one)]));
}
