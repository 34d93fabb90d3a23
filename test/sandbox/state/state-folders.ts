import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LiveSandboxState } from '../../../src/sandbox/live-sandbox-state.ts';
import { seededRandom, systemRandom } from '../../../src/sandbox/random.ts';
import { generateSandboxSeedData } from '../../../src/sandbox/seed-data.ts';
import type { SandboxState } from '../../../src/sandbox/state/sandbox-state.ts';
import type { PersistedSandboxServerSettings } from '../../../src/sandbox/state/saved-state.ts';
import { openSandboxStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import type { SandboxStateWriter } from '../../../src/sandbox/state/state-writer.ts';

/** A folder that is removed at the end of the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const IDENTITY: PersistedSandboxServerSettings = {
  adminToken: 'admin',
  host: '127.0.0.1',
  port: 4001,
  apiPort: 4002,
};

export const SEED = generateSandboxSeedData(seededRandom(7), [
  { name: 'One', callbackUrls: ['http://127.0.0.1:4003/callback'] },
  { name: 'Two', callbackUrls: ['http://127.0.0.1:4004/callback'] },
]);

export interface OpenedWorld {
  readonly world: LiveSandboxState;
  readonly writer: SandboxStateWriter;
  readonly folder: string;
  /** Path of the current journal. */
  readonly journal: () => string;
  readonly close: () => Promise<void>;
}

/** Opens a world with a state folder and a given system time. */
export async function openWorld(
  folder: string,
  { compactAt = 1_000_000, systemTime = () => 1_000_000 }: { compactAt?: number; systemTime?: () => number } = {},
): Promise<OpenedWorld> {
  const state = openSandboxStateFolder(folder, compactAt);
  const world = new LiveSandboxState(state.saved?.seed ?? SEED, systemRandom(), systemTime, state.saved?.world);
  const writer = await state.startWriter(world, IDENTITY);
  const close = async (): Promise<void> => {
    await writer.close();
    state.release();
  };
  return { world, writer, folder, journal: () => join(folder, journalOf(folder)), close };
}

export function journalOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith('journal.'));
  return names.sort((left, right) => Number(left.slice(8)) - Number(right.slice(8))).at(-1) ?? '';
}

/** The saved state of a folder that is not in use. */
export function readFolder(folder: string): SandboxState | undefined {
  const state = openSandboxStateFolder(folder);
  state.release();
  return state.saved?.world;
}

/** The state that a restart would find after a kill at this moment; reads a copy of the folder. */
export function readAfterKill(folder: string): SandboxState | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  try {
    cpSync(folder, copy, { recursive: true });
    return readFolder(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
