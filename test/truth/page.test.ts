import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { truthPage } from './page.ts';

test('docs/truth.md has the counts and the exceptions of the cases (npm run docs)', () => {
  expect(readFileSync(new URL('../../docs/truth.md', import.meta.url), 'utf8')).toBe(truthPage());
});
