import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { benchmarkPages } from '../bench/page.mjs';
import manifest from '../package.json' with { type: 'json' };
import { parseXml } from './db/preflight/formats/junit-schema.ts';
import { generatedDocs } from './fixtures/generated-docs.ts';

const pages = { ...(await generatedDocs()), ...benchmarkPages() };

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
    expect(picture.length).toBeLessThan(200_000);
    expect(parseXml(picture).name).toBe('svg');
    expect(picture).not.toMatch(/<script|\son\w+=|href="(?!data:image\/webp;base64,)|url\(|@import/);
    expect(picture).toContain('@media (prefers-reduced-motion:reduce){.f{animation:none}}');
    expect(picture.match(/<image /g)?.length).toBeGreaterThanOrEqual(4);
    // The last screen and the last page.
    expect(picture).toMatch(/\.f\d+\{animation-name:k\d+\}\.f\d+\{visibility:visible\}/);
  });

  it('the pictures of the benchmarks are bars without scripts, for light and dark, and the page shows each', () => {
    const pictures = Object.keys(pages).filter((file) => file.startsWith('docs/benchmarks/'));
    expect(pictures.length).toBeGreaterThan(0);
    for (const file of pictures) {
      const picture = pages[file] ?? '';
      expect(parseXml(picture).name).toBe('svg');
      expect(picture).not.toMatch(/<script|\son\w+=|href=|url\(|@import|NaN|undefined/);
      expect(picture).toContain('@media(prefers-color-scheme:dark)');
      expect(pages['docs/benchmarks.md']).toContain(`](${file.replace('docs/', '')})`);
    }
  });

  it('a benchmark that failed is named on the page, which keeps the others', () => {
    const { measured, ...result } = JSON.parse(
      readFileSync(new URL('../docs/benchmarks.json', import.meta.url), 'utf8'),
    );
    const { copy: _, ...others } = measured;
    const made = benchmarkPages({ ...result, measured: others, failed: { copy: 'bench/copy.mjs ended with 1' } });
    expect(made['docs/benchmarks.md']).toContain('Not measured: bench/copy.mjs ended with 1');
    expect(Object.keys(made)).not.toContain('docs/benchmarks/copy.svg');
    expect(Object.keys(made).length).toBe(Object.keys(benchmarkPages()).length - 1);
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
