import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { parseXml } from './db/preflight/formats/junit-schema.ts';
import { generatedDocs } from './fixtures/generated-docs.ts';

const pages = await generatedDocs();

describe('the pages generated from the sources are up to date (npm run docs)', () => {
  it.each(Object.entries(pages))('%s', (file, text) => {
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('package.json lists the man pages, which npm links', () => {
    const made = Object.keys(pages).filter((file) => file.startsWith('man/'));
    expect(manifest.man).toEqual(made.map((file) => `./${file}`).sort());
  });

  it('docs/session.svg is an animation without scripts, and ends where animations are off', () => {
    const picture = readFileSync(new URL('../docs/session.svg', import.meta.url), 'utf8');
    expect(picture.length).toBeLessThan(300_000);
    expect(parseXml(picture).name).toBe('svg');
    expect(picture).not.toMatch(/<script|\son\w+=|href="(?!data:image\/jpeg;base64,)|url\(|@import/);
    expect(picture).toContain('@media (prefers-reduced-motion:reduce){.f{animation:none}}');
    expect(picture.match(/<image /g)?.length).toBeGreaterThanOrEqual(4);
    // The last screen and the last page.
    expect(picture).toMatch(/\.f\d+\{animation-name:k\d+\}\.f\d+\{visibility:visible\}/);
  });

  it('README.md is a page of at most 700 words', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(700);
  });

  it('docs/scripting.md has at most 1,500 words', () => {
    const page = readFileSync(new URL('../docs/scripting.md', import.meta.url), 'utf8');
    expect(page.trim().split(/\s+/).length).toBeLessThanOrEqual(1_500);
  });
});
