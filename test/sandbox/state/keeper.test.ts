import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageOf } from '../../../src/sandbox/state/world-state.ts';
import { DEEDS } from './deeds.ts';
import { found, journalOf, keepWorld, makeFolder, reopened, SEED } from './ground.ts';

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 60);
const steps = fc.array(
  fc.record({ deed: fc.constantFrom(...Object.keys(DEEDS)), pick: fc.nat(1000), isAwaited: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

describe('the state folder', { timeout: 60_000 + runs * 500 }, () => {
  it('holds the world as it was when the last answer left, after any transitions, through any number of starts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(300, 3000, 1_000_000), fc.nat(40), async (plan, foldAt, restartAt) => {
        const folder = makeFolder();
        let kept = await keepWorld(folder, { foldAt });
        for (const [at, { deed, pick, isAwaited }] of plan.entries()) {
          DEEDS[deed]?.(kept.world, pick);
          if (isAwaited) {
            await kept.keeper.saved();
            expect(found(folder)).toEqual(imageOf(kept.world.state));
          }
          if (at === restartAt) {
            const before = imageOf(kept.world.state);
            await kept.close();
            kept = await keepWorld(folder, { foldAt });
            expect(imageOf(kept.world.state)).toEqual(before);
          }
        }
        await kept.keeper.saved();
        expect(found(folder)).toEqual(imageOf(kept.world.state));
        await kept.close();
        rmSync(folder, { recursive: true });
      }),
      { numRuns: runs },
    );
  });

  it('killed at any moment is the world between the last answer and now', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.infiniteStream(fc.nat(3)), async (plan, pauses) => {
        const kept = await keepWorld(makeFolder());
        const history = [imageOf(kept.world.state)];
        let answered = 0;
        for (const { deed, pick, isAwaited } of plan.filter((step) => step.deed !== 'reset')) {
          DEEDS[deed]?.(kept.world, pick);
          history.push(imageOf(kept.world.state));
          const now = history.length - 1;
          void Promise.resolve(kept.keeper.saved()).then(() => {
            answered = Math.max(answered, now);
          });
          if (isAwaited) for (let turn = pauses.next().value; turn > 0; turn -= 1) await new Promise(setImmediate);
          expect(history.slice(answered)).toContainEqual(found(kept.folder));
        }
        await kept.close();
        rmSync(kept.folder, { recursive: true });
      }),
      { numRuns: Math.ceil(runs / 2) },
    );
  });

  it('finds what it keeps by the same ways after a start: names, tokens, owners, latest migrations', async () => {
    const folder = makeFolder();
    const first = await keepWorld(folder);
    for (const [at, deed] of [...Object.values(DEEDS), ...Object.values(DEEDS)].entries()) {
      if (deed !== DEEDS.reset && deed !== DEEDS.withdraw && deed !== DEEDS.signOut) deed(first.world, at);
    }
    await first.close();
    const second = await keepWorld(folder);
    const { pairs, authorizations, migrations } = imageOf(first.world.state);
    expect(pairs.length * authorizations.length * migrations.length).toBeGreaterThan(0);
    for (const { person, clientId } of authorizations)
      expect(second.world.authorization(person, clientId)).toEqual(first.world.authorization(person, clientId));
    for (const { refreshToken = '' } of pairs)
      expect(second.world.pairByRefreshToken(refreshToken)).toEqual(first.world.pairByRefreshToken(refreshToken));
    for (const { uuid } of [...SEED.people, ...SEED.teams]) {
      expect(second.world.droplets(uuid)).toEqual(first.world.droplets(uuid));
      expect(second.world.actions(uuid)).toEqual(first.world.actions(uuid));
    }
    expect([...second.world.migrations.latest]).toEqual([...first.world.migrations.latest]);
    await second.close();
  });

  it('cut anywhere in its last line is the world before or after that transition, and goes on from there', async () => {
    const folder = makeFolder();
    const { world, keeper, journal, close } = await keepWorld(folder);
    DEEDS.authorize?.(world, 8);
    DEEDS.issueCode?.(world, 0);
    await keeper.saved();
    const before = imageOf(world.state);
    const start = statSync(journal()).size;
    DEEDS.exchange?.(world, 0);
    await keeper.saved();
    const after = imageOf(world.state);
    await close();
    const bytes = readFileSync(journal());
    expect(bytes.length).toBeGreaterThan(start + 100);
    for (let length = start; length <= bytes.length; length += 1) {
      writeFileSync(journal(), bytes.subarray(0, length));
      expect([length, reopened(folder)]).toEqual([length, length === bytes.length ? after : before]);
    }
    truncateSync(journal(), start + 50);
    const again = await keepWorld(folder);
    expect(statSync(journal()).size).toBe(start);
    DEEDS.signIn?.(again.world, 0);
    await again.close();
    expect(found(folder)).toEqual(imageOf(again.world.state));
  });

  it('takes a last line with zeros in it, as a lost sector leaves them, for torn', async () => {
    const { folder, world, keeper, journal, close } = await keepWorld(makeFolder());
    await keeper.saved();
    const before = imageOf(world.state);
    DEEDS.signIn?.(world, 0);
    await close();
    const bytes = readFileSync(journal());
    writeFileSync(journal(), bytes.fill(0, 20, bytes.length - 5));
    expect(found(folder)).toEqual(before);
  });

  it('with one wrong byte in any line is reported with path and line, and left as it is', async () => {
    const { folder, world, keeper, journal, close } = await keepWorld(makeFolder());
    for (const deed of ['authorize', 'issueCode', 'signIn']) {
      DEEDS[deed]?.(world, 0);
      await keeper.saved();
    }
    await close();
    const bytes = readFileSync(journal());
    let line = 1;
    for (let at = 0; at < bytes.length; at += 1) {
      const spoiled = Buffer.from(bytes);
      spoiled[at] = (spoiled[at] ?? 0) ^ 1;
      writeFileSync(journal(), spoiled);
      const problem = problemOf(folder);
      expect(problem).toContain(`journal.1, line ${line}:`);
      expect(readFileSync(journal()).equals(spoiled)).toBe(true);
      if (bytes[at] === 10) line += 1;
    }
    expect(line).toBe(4);
  });

  it('is reported when a line is missing, doubled or behind the last, or a file is gone', async () => {
    const { folder, world, keeper, journal, close } = await keepWorld(makeFolder());
    for (const deed of ['authorize', 'issueCode', 'signIn']) {
      DEEDS[deed]?.(world, 0);
      await keeper.saved();
    }
    await close();
    const text = readFileSync(journal(), 'utf8');
    const [one, two, three] = text.split('\n');
    for (const [spoiled, line] of [
      [`${one}\n${three}\n`, 2],
      [`${one}\n${one}\n${two}\n`, 2],
      [`${text}rubbish\n`, 4],
      [`${text}rubbish that is long enough`, 4],
    ] as const) {
      writeFileSync(journal(), spoiled);
      expect(problemOf(folder)).toContain(`, line ${line}:`);
    }
    rmSync(journal());
    expect(problemOf(folder)).toMatch(/journal\.1, line 1: it is missing/);
    writeFileSync(join(folder, 'journal.1'), text);
    rmSync(join(folder, 'snapshot'));
    expect(problemOf(folder)).toMatch(/snapshot, line 1: it is missing/);
  });

  it('with a wrong byte in its snapshot is reported', async () => {
    const { folder, close } = await keepWorld(makeFolder());
    await close();
    const path = join(folder, 'snapshot');
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 13) {
      const spoiled = Buffer.from(bytes);
      spoiled[at] = (spoiled[at] ?? 0) ^ 1;
      writeFileSync(path, spoiled);
      expect(problemOf(folder)).toMatch(/snapshot, line 1: /);
    }
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    expect(problemOf(folder)).toMatch(/snapshot, line 1: it is cut short/);
  });

  it('is folded before it grows for ever, and half a fold leaves nothing behind', async () => {
    const folder = makeFolder();
    const kept = await keepWorld(folder, { foldAt: 2000 });
    for (let at = 0; at < 200; at += 1) {
      DEEDS.advance?.(kept.world, 1);
      DEEDS.signIn?.(kept.world, at);
      if (at % 10 > 0) DEEDS.signOut?.(kept.world, 0);
      await kept.keeper.saved();
    }
    await kept.close();
    const names = readdirSync(folder).sort();
    expect(names).toEqual([journalOf(folder), 'lock', 'snapshot']);
    expect(names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)).toBeLessThan(20_000);

    writeFileSync(join(folder, '.snapshot.tmp'), 'half');
    writeFileSync(join(folder, 'journal.9999'), '');
    appendFileSync(join(folder, 'journal.1'), 'old');
    const again = await keepWorld(folder);
    expect(imageOf(again.world.state)).toEqual(imageOf(kept.world.state));
    await again.close();
    expect(readdirSync(folder).sort()).toEqual(names);
  });

  it('tells when the disk takes nothing any more, and says of nothing after it that it is saved', async () => {
    const { folder, world, keeper, close } = await keepWorld(makeFolder(), { foldAt: 1 });
    await keeper.saved();
    rmSync(folder, { recursive: true });
    world.reset();
    await expect(keeper.saved()).rejects.toThrow(/ENOENT/);
    expect((await keeper.failure).message).toMatch(/ENOENT/);
    await expect(keeper.saved()).rejects.toThrow(/ENOENT/);
    await close();
  });
});

function problemOf(folder: string): string {
  try {
    reopened(folder);
    return 'none';
  } catch (error) {
    return error instanceof Error && 'detail' in error ? String(error.detail) : String(error);
  }
}
