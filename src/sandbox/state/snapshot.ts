import { createHash } from 'node:crypto';
import type { Seed } from '../seed.ts';
import { decodeSeed } from '../seed.ts';
import type { World } from '../world.ts';
import { decodeString, enumOf, JsonDecodeError, objectOf, optional } from './decoder.ts';
import { findInconsistency } from './inconsistency.ts';
import { decodeClockTime, decodeTables } from './sandbox-state-decoder.ts';
import type { State } from './tables.ts';
import { captureState } from './world-state.ts';

/**
 * A snapshot: the state of a sandbox as one JSON object. A snapshot contains neither addresses nor the admin token, because
 * they belong to the process.
 */
export interface Snapshot {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly version: 1;
  /**
   * The time of the snapshot in ISO 8601, by the virtual clock. The value is for information only, because a restore reads the
   * time from `now`.
   */
  readonly taken_at: string;
  /** The time of the snapshot by the virtual clock, in milliseconds since the epoch. */
  readonly now: number;
  /** The SHA-256 hash of `now`, `seed` and `world`. The digest is optional, so that a user can edit a snapshot. */
  readonly digest?: string;
  readonly seed: Seed;
  readonly world: State;
}

export const SNAPSHOT_FORMAT = 'cloudctl-sandbox-snapshot';

export function takeSnapshot(world: World): Snapshot {
  const now = world.now();
  const content = { now, seed: world.seed, world: captureState(world.state) };
  const taken = new Date(now).toISOString();
  return { format: SNAPSHOT_FORMAT, version: 1, taken_at: taken, digest: digestOf(content), ...content };
}

/** Returns a snapshot that can be restored, or a sentence that explains why the value is not a snapshot. */
export function decodeSnapshot(value: unknown): Snapshot | string {
  const given = typeof value === 'object' && value !== null ? value : {};
  if (!('format' in given) || given.format !== SNAPSHOT_FORMAT) return 'The input is not a sandbox snapshot.';
  if (!('version' in given) || given.version !== 1)
    return 'The version of the snapshot is not supported (supported: 1).';
  try {
    const snapshot = decode(value, '');
    if (snapshot.digest !== undefined && snapshot.digest !== digestOf(snapshot)) {
      return 'The snapshot is damaged: the digest does not match. Remove the digest if the snapshot was edited.';
    }
    const inconsistency = findInconsistency(snapshot.seed, snapshot.world);
    return inconsistency === undefined ? snapshot : `The snapshot is damaged: ${inconsistency}.`;
  } catch (error) {
    if (!(error instanceof JsonDecodeError)) throw error;
    return `The snapshot is damaged: ${error.message}.`;
  }
}

const decode = objectOf<Snapshot>({
  format: enumOf(SNAPSHOT_FORMAT),
  version: enumOf(1),
  taken_at: decodeString,
  now: decodeClockTime,
  digest: optional(decodeString),
  seed: decodeSeed,
  world: decodeTables,
});

/** The digest does not depend on the order of object members, which an editor may change. */
function digestOf({ now, seed, world }: Pick<Snapshot, 'now' | 'seed' | 'world'>): string {
  const canonical = JSON.stringify({ now, seed, world }, (_name, value: unknown) => sortMembers(value));
  return createHash('sha256').update(canonical).digest('hex');
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
