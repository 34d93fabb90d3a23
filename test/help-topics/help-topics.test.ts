import { expect, test } from 'vitest';
import { exitCodes } from '../../src/base/errors.ts';
import { renderTopic } from '../../src/cli/help.ts';
import { cliErrorCodeMeanings } from '../../src/help-topics/cli-error-code-meanings.ts';
import * as guides from '../../src/help-topics/guide-topics.ts';
import { helpTopics } from '../../src/help-topics/help-topics.ts';
import * as references from '../../src/help-topics/reference-topics.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';

const style = { columns: 80, color: false };

test.each(Object.entries(helpTopics))('help %s', async (name, { load }) => {
  const page = await load();
  expect([...Object.values(guides), ...Object.values(references)]).toContain(page);
  const text = await renderTopic(page, style);
  // Examples are one line, so that they can be pasted.
  const wide = text.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '));
  expect(wide).toEqual([]);
  expectGolden('help', text);
  const ran = await runCloudctl(testHost(), ['help', name]);
  expect(ran).toMatchObject({ code: 0, err: '', out: text });
});

test('every error code has a meaning and a fix', () => {
  expect(Object.keys(cliErrorCodeMeanings)).toEqual(Object.keys(exitCodes));
  for (const { meaning, fix } of Object.values(cliErrorCodeMeanings)) {
    expect(meaning).toMatch(/^[a-z].*[^.]$/);
    expect(fix).toMatch(/^[A-Z].*\.$/);
  }
});

test('a word that is neither a topic nor a command is an error', async () => {
  const ran = await runCloudctl(testHost(), ['help', 'nothing']);
  expect(ran.code).toBe(2);
  for (const word of ['constructor', '__proto__']) expect((await runCloudctl(testHost(), ['help', word])).code).toBe(2);
});
