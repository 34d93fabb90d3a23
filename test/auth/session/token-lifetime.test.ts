import { expect, it } from 'vitest';
import { describeTokenLifetime } from '../../../src/auth/session/token-lifetime.ts';

const at = (text: string): number => Math.floor(new Date(text).getTime() / 1000);

it.each([
  ['for 30 d (20 Dec)', '2026-12-20T09:00:00', '2026-11-20T09:00:01'],
  ['for 30 d (8 Jan 2027)', '2027-01-08T09:00:00', '2026-12-09T09:00:00'],
  ['for 2 d (3 Mar)', '2026-03-03T09:00:00', '2026-03-01T09:00:00'],
  ['for 1 d 1 h (until 14:05)', '2026-03-03T14:05:00', '2026-03-02T13:05:00'],
  ['for 1 h (until 09:05)', '2026-03-03T09:05:00', '2026-03-03T08:05:00'],
  ['for 1 min (until 09:05)', '2026-03-03T09:05:00', '2026-03-03T09:04:00'],
  ['for 0 s (until 09:05)', '2026-03-03T09:05:00', '2026-03-04T09:04:00'],
])('a lifetime is written as "%s"', (text, end, now) => {
  expect(describeTokenLifetime(at(end), new Date(now).getTime())).toBe(text);
});
