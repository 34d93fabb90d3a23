import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addRandomFaults,
  creationFaults,
  namesFile,
  runUntilComplete,
  seededRandom,
  setUpBatch,
  sizeAndImage,
} from './batch-setup.ts';

const names = Array.from({ length: 200 }, (_, at) => `n-${at}`);
const harmful = creationFaults.filter(({ action }) => action !== 'slow_drip' && action !== 'delay');
describe('two people who create the same names at the same moment', () => {
  it('have two droplets of each with tags of their own, each the own ones, and nothing is unknown', async () => {
    const setup = await setUpBatch();
    addRandomFaults(setup, harmful, { times: 10, among: 40, chance: seededRandom(3) });
    const words = [...namesFile(setup, names), ...sizeAndImage, '--if-exists', 'create'];
    const ended = await Promise.all(
      ['ana', 'ben'].map((person) =>
        runUntilComplete(setup, [...words, '--batch-id', person, '--ledger', join(setup.work, `${person}.jsonl`)]),
      ),
    );
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(setup.counts(names).filter((count) => count !== 2)).toEqual([]);
    const ids = ended.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect(new Set(ids).size).toBe(2 * names.length);
  });

  it('have at most two droplets of each without it: some may be adopted by the other or stay unknown', async () => {
    const setup = await setUpBatch();
    addRandomFaults(setup, harmful, { times: 10, among: 40, chance: seededRandom(4) });
    const words = [...namesFile(setup, names), ...sizeAndImage, '--if-exists', 'create'];
    const ended = await Promise.all([
      runUntilComplete(setup, words, { runs: 3 }),
      runUntilComplete(setup, words, { runs: 3 }),
    ]);
    expect(setup.counts(names).filter((count) => count < 1 || count > 2)).toEqual([]);
    for (const { name, status, id } of ended.flatMap(({ rows }) => rows)) {
      expect(status).toMatch(/^(created|unknown)$/);
      if (status === 'created') expect(setup.ids(name)).toContain(id);
    }
  });
});
