import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { LedgerEvent } from '../../../src/droplets/events.ts';
import { addRandomFaults, type BatchSetup, setUpBatch, sizeAndImage } from './batch-setup.ts';

const order = fileURLToPath(new URL('./order.cjs', import.meta.url));

type FaultAction =
  | { readonly deed: 'written'; readonly line: LedgerEvent }
  | { readonly deed: 'syncing' | 'synced'; readonly sync: number }
  | { readonly deed: 'sent'; readonly names: readonly string[] };

/** What the program did, in order. */
async function deedsOf(setup: BatchSetup, words: readonly string[]): Promise<readonly FaultAction[]> {
  const told = join(setup.work, 'order.ndjson');
  const env = { NODE_OPTIONS: `--require ${order}`, TEST_ORDER: told };
  const ran = await setup.run(['droplets', 'create', ...words, ...sizeAndImage, '-o', 'ndjson'], { env });
  expect(ran.code).toBe(0);
  const lines = readFileSync(told, 'utf8').trim().split('\n');
  return lines.map((line): FaultAction => JSON.parse(line));
}

/** The lines that are on the disk when so many deeds are done: written before a sync began that has ended. */
function synced(deeds: readonly FaultAction[]): readonly LedgerEvent[] {
  const last = deeds.findLast(({ deed }) => deed === 'synced');
  const begun = deeds.findIndex((one) => one.deed === 'syncing' && last?.deed === 'synced' && one.sync === last.sync);
  return deeds.slice(0, Math.max(begun, 0)).flatMap((one) => (one.deed === 'written' ? [one.line] : []));
}

function namesIn(event: LedgerEvent): readonly string[] {
  return event.event === 'sending' ? event.names : [];
}

it('nothing is sent before the disk knows of it, and a line of its own says so', async () => {
  const setup = await setUpBatch();
  const deeds = await deedsOf(setup, ['n-{1..600}', '--batch-size', '4']);
  const sent = deeds.flatMap((one, at) =>
    one.deed === 'sent' ? [{ names: one.names, before: deeds.slice(0, at) }] : [],
  );
  expect(sent).toHaveLength(150);
  for (const { names, before } of sent) {
    const kept = new Set(synced(before).flatMap(namesIn));
    expect(names.filter((name) => !kept.has(name))).toEqual([]);
    const lines = before.flatMap((one) =>
      one.deed === 'written' && one.line.event === 'sending' ? [one.line.names] : [],
    );
    expect(lines).toContainEqual(names);
  }
});

it('what was created is on the disk long before the next answer, though nobody waits for it', async () => {
  const setup = await setUpBatch();
  addRandomFaults(setup, [{ action: 'delay', delay: 1_000 }], { times: 3, among: 3, chance: () => 0 });
  const deeds = await deedsOf(setup, ['n-{1..6}', '--batch-size', '2', '--concurrency', '1']);
  const created = deeds.flatMap((one, at) => (one.deed === 'written' && one.line.event === 'created' ? [at] : []));
  expect(created).toHaveLength(3);
  for (const next of created.slice(1)) {
    const events = synced(deeds.slice(0, next)).map(({ event }) => event);
    const before = deeds.slice(0, next).flatMap((one) => (one.deed === 'written' ? [one.line.event] : []));
    expect(events).toEqual(before);
  }
});
