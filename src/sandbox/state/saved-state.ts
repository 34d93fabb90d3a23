import type { SeedData } from '../seed-data.ts';
import { asInteger, asString, type Decoder, objectOf, oneOfValues, optionalMember } from './decoder.ts';
import { decodeSeed } from './seed-decoder.ts';
import type { WorldImage } from './world-image.ts';
import { decodeWorldImage } from './world-image-decoder.ts';

/** What a sandbox keeps from one start to the next beside its world. */
export interface SandboxIdentity {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The number the ids were drawn from, when there was one. */
  readonly seedNumber?: number;
}

/** Everything a start needs to go on where the last one ended. */
export interface SavedState {
  readonly identity: SandboxIdentity;
  readonly seed: SeedData;
  readonly world: WorldImage;
}

/** The one line of the file `snapshot`. */
export interface Checkpoint extends SavedState {
  readonly format: typeof STATE_FORMAT;
  readonly version: 1;
  /** Number of the journal that follows it. */
  readonly journal: number;
  /** Number of the last record that is in it; the journal goes on with the next. */
  readonly record: number;
}

export const STATE_FORMAT = 'cloudctl-sandbox-state';

export const decodeCheckpoint: Decoder<Checkpoint> = objectOf<Checkpoint>({
  format: oneOfValues(STATE_FORMAT),
  version: oneOfValues(1),
  journal: asInteger,
  record: asInteger,
  identity: objectOf<SandboxIdentity>({
    adminToken: asString,
    host: asString,
    port: asInteger,
    apiPort: asInteger,
    seedNumber: optionalMember(asInteger),
  }),
  seed: decodeSeed,
  world: decodeWorldImage,
});
