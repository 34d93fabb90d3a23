import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../', import.meta.url));

describe('docs/platforms.md', () => {
  const page = readFileSync(join(root, 'docs/platforms.md'), 'utf8');
  const dependent = /'win32'|'darwin'|'linux'|\bgete?uid\b|O_NOFOLLOW|\bwin32[.:]|\bdarwin:/;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && dependent.test(readFileSync(join(root, 'src', path), 'utf8')),
  );

  it('has sources to name', () => expect(sources.length).toBeGreaterThan(20));

  it.each(sources)('names src/%s, which depends on the platform', (path) => {
    expect(page).toContain(`\`${basename(path)}\``);
  });
});

describe('the workflow for contributors', () => {
  const workflow = parse(readFileSync(join(root, '.github/workflows/test.yml'), 'utf8'));

  it('runs the tests on three systems with three versions of Node, and can write nothing', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.jobs.test.strategy.matrix).toEqual({
      system: ['ubuntu-latest', 'macos-latest', 'windows-latest'],
      node: [20, 22, 24],
    });
    expect(workflow.jobs.test.steps.at(-1)).toEqual({ run: 'npm ci && npm test' });
  });
});
