import type { SandboxSeedData } from '../seed-data.ts';
import { decodeSandboxSeedData } from './decode-seed-data.ts';
import {
  createEnumDecoder,
  createObjectDecoder,
  createOptionalMemberDecoder,
  decodeInteger,
  decodeString,
  type JsonDecoder,
} from './decoder.ts';
import type { SandboxState } from './sandbox-state.ts';
import { decodeSandboxState } from './sandbox-state-decoder.ts';

/** The values that a sandbox keeps across restarts in addition to its state. */
export interface PersistedSandboxServerSettings {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The value of the option `seed`, if the ids were generated with a seed. */
  readonly seedNumber?: number;
}

/** Everything that a restart of the sandbox restores. */
export interface SavedSandboxState {
  readonly identity: PersistedSandboxServerSettings;
  readonly seed: SandboxSeedData;
  readonly world: SandboxState;
}

/** The content of the file `snapshot`, which has exactly one record. */
export interface SandboxStateCheckpoint extends SavedSandboxState {
  readonly format: typeof SANDBOX_STATE_FORMAT_NAME;
  readonly version: 1;
  /** The number of the journal that continues the snapshot. */
  readonly journal: number;
  /**
   * The number of the last record that the snapshot includes. The journal begins with the record after the last one in the
   * snapshot.
   */
  readonly record: number;
}

export const SANDBOX_STATE_FORMAT_NAME = 'cloudctl-sandbox-state';

export const decodeSandboxStateCheckpoint: JsonDecoder<SandboxStateCheckpoint> =
  createObjectDecoder<SandboxStateCheckpoint>({
    format: createEnumDecoder(SANDBOX_STATE_FORMAT_NAME),
    version: createEnumDecoder(1),
    journal: decodeInteger,
    record: decodeInteger,
    identity: createObjectDecoder<PersistedSandboxServerSettings>({
      adminToken: decodeString,
      host: decodeString,
      port: decodeInteger,
      apiPort: decodeInteger,
      seedNumber: createOptionalMemberDecoder(decodeInteger),
    }),
    seed: decodeSandboxSeedData,
    world: decodeSandboxState,
  });
