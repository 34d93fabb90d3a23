import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSeed } from '../../../src/sandbox/data.ts';
import { systemRandom } from '../../../src/sandbox/random.ts';
import type { ServerIdentity } from '../../../src/sandbox/state/saved-state.ts';
import { openStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import type { StateWriter } from '../../../src/sandbox/state/state-writer.ts';
import type { State } from '../../../src/sandbox/state/tables.ts';
import { World } from '../../../src/sandbox/world.ts';

/** A folder that is removed at the end of the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const IDENTITY: ServerIdentity = {
  adminToken: 'admin',
  host: '127.0.0.1',
  port: 4001,
  apiPort: 4002,
};

export const SEED = await createSeed(
  {
    seed: 7,
    data: {
      applications: [
        { name: 'One', callbackUrls: ['http://127.0.0.1:4003/callback'] },
        { name: 'Two', callbackUrls: ['http://127.0.0.1:4004/callback'] },
      ],
    },
  },
  systemRandom(),
);

export interface OpenedWorld {
  readonly world: World;
  readonly writer: StateWriter;
  readonly folder: string;
  /** The path of the journal. */
  readonly journal: string;
  readonly close: () => Promise<void>;
}

/** Opens a world with a state folder and a given system time. */
export async function openWorld(folder: string, systemTime: () => number = () => 1_000_000): Promise<OpenedWorld> {
  const state = openStateFolder(folder);
  const world = new World(state.saved?.seed ?? SEED, systemRandom(), systemTime, state.saved?.world);
  const writer = await state.startWriter(world, IDENTITY);
  const close = async (): Promise<void> => {
    await writer.close();
    state.release();
  };
  return { world, writer, folder, journal: join(folder, 'journal'), close };
}

/** The saved state of a folder that is not in use. */
export function readFolder(folder: string): State | undefined {
  const state = openStateFolder(folder);
  state.release();
  return state.saved?.world;
}

/** The state that a restart would find after a kill at this moment; reads a copy of the folder. */
export function readAfterKill(folder: string): State | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  try {
    cpSync(folder, copy, { recursive: true });
    return readFolder(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
