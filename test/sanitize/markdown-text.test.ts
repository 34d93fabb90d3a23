import { describe, expect, it } from 'vitest';
import { escapeMarkdown, markdownCode, markdownCodeBlock, markdownCodeCell } from '../../src/sanitize/markdown-text.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

describe.each(Object.entries(hostileTexts))('%s', (_, text) => {
  it('is one line of plain text', () => {
    const markdown = escapeMarkdown(text);
    expect(markdown).not.toMatch(rawUnprintable);
    expect(markdown).not.toContain('\n');
    const unescaped = markdown.replace(/\\[!-/:-@[-`{-~]/g, 'x');
    expect(unescaped).not.toMatch(/[*_[\]<>|#`~]|&#?\w+;/);
    expect(unescaped).not.toMatch(/^([-+=]([-+= ]|$)|\d+[.)]( |$))/);
  });

  it('is one code span, which ends where it should', () => {
    const markdown = markdownCode(text);
    expect(markdown).not.toMatch(rawUnprintable);
    expect(markdown).not.toContain('\n');
    const [fence = ''] = /^`+/.exec(markdown) ?? [];
    const runs = [...markdown.matchAll(/`+/g)].map(([run]) => run);
    expect(runs.filter((run) => run === fence)).toHaveLength(2);
    expect(markdown.endsWith(fence)).toBe(true);
  });

  it('is one cell of a table', () => {
    expect(markdownCodeCell(text).replaceAll('\\|', '')).not.toContain('|');
  });

  it('stays inside its block', () => {
    const lines = markdownCodeBlock(`${text}\n`, 'sql').split('\n');
    const fence = lines.at(-1) ?? '';
    expect(lines[0]).toBe(`${fence}sql`);
    expect(lines.slice(1, -1).some((line) => line.trimStart().startsWith(fence))).toBe(false);
  });
});

it('plain sentences stay as they are', () => {
  for (const text of ['wal_level is -1 of 10, 17.2 (R&D)', '3.5 GB', '-1', '"$user", public'])
    expect(escapeMarkdown(text).replaceAll('\\_', '_')).toBe(text);
});
