import type { SeedData } from '../seed-data.ts';
import { asInteger, asString, type Decoder, objectOf, oneOfValues, optionalMemberDecoder } from './decoder.ts';
import type { SandboxState } from './sandbox-state.ts';
import { decodeSandboxState } from './sandbox-state-decoder.ts';
import { decodeSeed } from './seed-decoder.ts';

/** The values that a sandbox keeps across restarts in addition to its state. */
export interface SandboxIdentity {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The value of the option `seed`, if the ids were generated with a seed. */
  readonly seedNumber?: number;
}

/** Everything that a restart of the sandbox restores. */
export interface SavedState {
  readonly identity: SandboxIdentity;
  readonly seed: SeedData;
  readonly world: SandboxState;
}

/** The only record in the file `snapshot`. */
export interface SavedStateCheckpoint extends SavedState {
  readonly format: typeof STATE_FORMAT;
  readonly version: 1;
  /** The number of the journal that continues the snapshot. */
  readonly journal: number;
  /**
   * The number of the last record that the snapshot includes. The journal begins with the record after the last one in the
   * snapshot.
   */
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
