import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { executedTexts, type HintText, hintTexts } from './architecture/hints.ts';
import { readProject } from './architecture/project.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const texts = hintTexts(readProject(root));

/** The hints that no test of test/e2e/hints has followed yet, by folder of src: a new hint is followed, or counted here. */
const notFollowed: Readonly<Record<string, number>> = {
  api: 19,
  auth: 36,
  base: 1,
  cli: 32,
  commands: 128,
  config: 5,
  context: 2,
  'db-source': 12,
  droplets: 66,
  inventory: 12,
  platform: 6,
  postgresql: 22,
  preflight: 24,
  redis: 13,
  rehearsal: 26,
  sandbox: 7,
  watch: 73,
};

it('each hint is followed in the state that prints it, or counted as one that is not', () => {
  const done = executed();
  const left: Record<string, number> = {};
  for (const text of texts.filter((one) => !done.has(one))) {
    const [, folder = ''] = /^src\/([^/.]+)/.exec(text.file) ?? [];
    left[folder] = (left[folder] ?? 0) + 1;
  }
  expect(left).toEqual(notFollowed);
});

/** The texts of the hints that the tests of test/e2e/hints have followed, as their golden files tell. */
function executed(): ReadonlySet<HintText> {
  const folder = `${root}test/golden/`;
  const sections = readdirSync(folder)
    .filter((name) => /^hints-.*\.txt$/.test(name))
    .map((name) => readFileSync(`${folder}${name}`, 'utf8'))
    .join('\n');
  const steps = [...sections.matchAll(/^from: (.*)$[\s\S]*?^hint: (.*(?:\n(?!\$|\(|from: |# ).+)*)$/gm)];
  return new Set(steps.flatMap(([, files = '', hint = '']) => executedTexts(texts, hint, files.split(', '))));
}
