import type { SeedData } from '../seed-data.ts';
import { asInteger, asString, type Decoder, objectOf, oneOfValues, optionalMemberDecoder } from './decoder.ts';
import type { SandboxState } from './sandbox-state.ts';
import { decodeSandboxState } from './sandbox-state-decoder.ts';
import { decodeSeed } from './seed-decoder.ts';

/** The values that a sandbox keeps across restarts, beside its world. */
export interface SandboxIdentity {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The option `seed`, if the ids were generated with one. */
  readonly seedNumber?: number;
}

/** Everything that a restart restores. */
export interface SavedState {
  readonly identity: SandboxIdentity;
  readonly seed: SeedData;
  readonly world: SandboxState;
}

/** The record of the file `snapshot`. */
export interface SavedStateCheckpoint extends SavedState {
  readonly format: typeof STATE_FORMAT;
  readonly version: 1;
  /** Number of the journal that continues it. */
  readonly journal: number;
  /** Number of the last record that it includes. The journal begins with the next one. */
  readonly record: number;
}

export const STATE_FORMAT = 'cloudctl-sandbox-state';

export const decodeCheckpoint: Decoder<SavedStateCheckpoint> = objectOf<SavedStateCheckpoint>({
  format: oneOfValues(STATE_FORMAT),
  version: oneOfValues(1),
  journal: asInteger,
  record: asInteger,
  identity: objectOf<SandboxIdentity>({
    adminToken: asString,
    host: asString,
    port: asInteger,
    apiPort: asInteger,
    seedNumber: optionalMemberDecoder(asInteger),
  }),
  seed: decodeSeed,
  world: decodeSandboxState,
});
