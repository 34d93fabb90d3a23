import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedDocs } from './fixtures/generated-docs.ts';

describe('the pages made from the sources are up to date (npm run docs)', () => {
  it.each(Object.entries(generatedDocs()))('%s', (file, text) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toBe(text);
  });
});
