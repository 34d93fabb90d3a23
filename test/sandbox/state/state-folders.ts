import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { seededRandom, systemRandom } from '../../../src/sandbox/random.ts';
import { generateSeedData } from '../../../src/sandbox/seed-data.ts';
import type { SandboxIdentity } from '../../../src/sandbox/state/saved-state.ts';
import { openStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import type { StateWriter } from '../../../src/sandbox/state/state-writer.ts';
import type { WorldImage } from '../../../src/sandbox/state/world-image.ts';
import { World } from '../../../src/sandbox/world.ts';

/** A folder that ends with the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const IDENTITY: SandboxIdentity = { adminToken: 'admin', host: '127.0.0.1', port: 4001, apiPort: 4002 };

export const SEED = generateSeedData(seededRandom(7), [
  { name: 'One', callbackUrls: ['http://127.0.0.1:4003/callback'] },
  { name: 'Two', callbackUrls: ['http://127.0.0.1:4004/callback'] },
]);

export interface OpenedWorld {
  readonly world: World;
  readonly writer: StateWriter;
  readonly folder: string;
  /** The journal in use. */
  readonly journal: () => string;
  readonly close: () => Promise<void>;
}

/** A world whose folder is `folder`, on a machine whose clock the caller holds. */
export async function openWorld(
  folder: string,
  { foldAt = 1_000_000, machine = () => 1_000_000 }: { foldAt?: number; machine?: () => number } = {},
): Promise<OpenedWorld> {
  const state = openStateFolder(folder, foldAt);
  const world = new World(state.saved?.seed ?? SEED, systemRandom(), machine, state.saved?.world);
  const keeper = await state.startWriter(world, IDENTITY);
  const close = async (): Promise<void> => {
    await keeper.close();
    state.release();
  };
  return { world, writer: keeper, folder, journal: () => join(folder, journalOf(folder)), close };
}

export function journalOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith('journal.'));
  return names.sort((left, right) => Number(left.slice(8)) - Number(right.slice(8))).at(-1) ?? '';
}

/** What the next start finds; nobody must hold the folder. */
export function readFolder(folder: string): WorldImage | undefined {
  const state = openStateFolder(folder);
  state.release();
  return state.saved?.world;
}

/** What another process would find after a kill at this moment: the folder as it lies there, read from a copy of it. */
export function readAfterKill(folder: string): WorldImage | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  try {
    cpSync(folder, copy, { recursive: true });
    return readFolder(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
