import { describe, expect, it } from 'vitest';
import { randomString, randomUuid, seededRandom, systemRandom } from '../../src/sandbox/random.ts';

describe('chance', () => {
  it('equal seeds give equal ids, different seeds different ids', () => {
    const draw = (seed: number): readonly string[] => {
      const chance = seededRandom(seed);
      return [randomString(chance, 40), randomUuid(chance), randomString(chance, 7)];
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('random strings are letters and digits, equally distributed', () => {
    const text = randomString(systemRandom(), 62_000);
    expect(text).toMatch(/^[A-Za-z0-9]{62000}$/);
    const counts = new Map<string, number>();
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it('the system generator does not repeat bytes', () => {
    const chance = systemRandom();
    const drawn = Array.from({ length: 2_000 }, () => Buffer.from(chance(16)).toString('hex'));
    expect(new Set(drawn).size).toBe(2_000);
    expect(chance(10_000)).toHaveLength(10_000);
  });

  it('a UUID has version 4', () => {
    expect(randomUuid(systemRandom())).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
