import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { machineChance, seededChance } from '../../../src/sandbox/chance.ts';
import { sowSeed } from '../../../src/sandbox/seed.ts';
import type { WorldImage } from '../../../src/sandbox/state/image.ts';
import type { Keeper } from '../../../src/sandbox/state/keeper.ts';
import { openState } from '../../../src/sandbox/state/open.ts';
import type { Identity } from '../../../src/sandbox/state/saved.ts';
import { World } from '../../../src/sandbox/world.ts';

/** A folder that ends with the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const IDENTITY: Identity = { adminToken: 'admin', host: '127.0.0.1', port: 4001, apiPort: 4002 };

export const SEED = sowSeed(seededChance(7), [
  { name: 'One', callbackUrls: ['http://127.0.0.1:4003/callback'] },
  { name: 'Two', callbackUrls: ['http://127.0.0.1:4004/callback'] },
]);

export interface Kept {
  readonly world: World;
  readonly keeper: Keeper;
  readonly folder: string;
  /** The journal in use. */
  readonly journal: () => string;
  readonly close: () => Promise<void>;
}

/** A world whose folder is `folder`, on a machine whose clock the caller holds. */
export async function keepWorld(
  folder: string,
  { foldAt = 1_000_000, machine = () => 1_000_000 }: { foldAt?: number; machine?: () => number } = {},
): Promise<Kept> {
  const state = openState(folder, foldAt);
  const world = new World(state.saved?.seed ?? SEED, machineChance(), machine, state.saved?.world);
  const keeper = await state.keep(world, IDENTITY);
  const close = async (): Promise<void> => {
    await keeper.close();
    state.release();
  };
  return { world, keeper, folder, journal: () => join(folder, journalOf(folder)), close };
}

export function journalOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith('journal.'));
  return names.sort((left, right) => Number(left.slice(8)) - Number(right.slice(8))).at(-1) ?? '';
}

/** What the next start finds; nobody must hold the folder. */
export function reopened(folder: string): WorldImage | undefined {
  const state = openState(folder);
  state.release();
  return state.saved?.world;
}

/** What another process would find after a kill at this moment: the folder as it lies there, read from a copy of it. */
export function found(folder: string): WorldImage | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  try {
    cpSync(folder, copy, { recursive: true });
    return reopened(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
