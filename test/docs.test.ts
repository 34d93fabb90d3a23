import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedDocs, readmeWithCommands } from './fixtures/generated-docs.ts';

const pages = await generatedDocs();

describe('the pages generated from the sources are up to date (npm run docs)', () => {
  it.each(Object.entries(pages))('%s', (file, text) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('README.md has every command in its table', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(readmeWithCommands(readme)).toBe(readme);
    expect(readme).toContain('| `droplets create` |');
  });
});
