import type { Seed } from '../seed.ts';
import { type Decoder, object, oneOf, optional, text, whole } from './decoder.ts';
import type { WorldImage } from './image.ts';
import { decodeImage } from './image-decoder.ts';
import { decodeSeed } from './seed-decoder.ts';

/** What a sandbox keeps from one start to the next beside its world. */
export interface Identity {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The number the ids were drawn from, when there was one. */
  readonly seedNumber?: number;
}

/** Everything a start needs to go on where the last one ended. */
export interface Saved {
  readonly identity: Identity;
  readonly seed: Seed;
  readonly world: WorldImage;
}

/** The one line of the file `snapshot`. */
export interface Checkpoint extends Saved {
  readonly format: typeof FORMAT;
  readonly version: 1;
  /** Number of the journal that follows it. */
  readonly journal: number;
  /** Number of the last record that is in it; the journal goes on with the next. */
  readonly record: number;
}

export const FORMAT = 'cloudctl-sandbox-state';

export const decodeCheckpoint: Decoder<Checkpoint> = object<Checkpoint>({
  format: oneOf(FORMAT),
  version: oneOf(1),
  journal: whole,
  record: whole,
  identity: object<Identity>({
    adminToken: text,
    host: text,
    port: whole,
    apiPort: whole,
    seedNumber: optional(whole),
  }),
  seed: decodeSeed,
  world: decodeImage,
});
