import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedDocs } from './fixtures/generated-docs.ts';

const pages = await generatedDocs();

describe('the pages generated from the sources are up to date (npm run docs)', () => {
  it.each(Object.entries(pages))('%s', (file, text) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('README.md is a page of at most 700 words', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(700);
  });
});
