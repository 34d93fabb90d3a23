import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { plainStyles } from '../../../src/cli/color.ts';
import type { ListView } from '../../../src/cli/columns.ts';
import { createMeasurer } from '../../../src/cli/text.ts';
import type { FollowLine } from '../../../src/db/cutover/progress.ts';
import { followBlock, openFollowView, renderWindowPage } from '../../../src/db/cutover/view.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';

const lines: readonly FollowLine[] = [
  { id: 'target', state: 'done', title: 'the target accepts the login', observed: 'logged in' },
  {
    id: 'writes',
    state: 'open',
    title: 'nothing writes to the source',
    observed: `\u001b[2Jpid 1 \u202e${'名'.repeat(80)}`,
  },
  { id: 'clean', state: 'not_checked', title: 'nothing of the migration is left', observed: 'checked later' },
];

test.each([
  [80, 24, 3],
  [40, 24, 3],
  [80, 3, 2],
])('the open step fits a terminal of %i columns and %i rows', async (columns, rows, height) => {
  const ruler = await createMeasurer();
  const block = followBlock(lines, 'stop the application now', { columns, rows, styles: plainStyles, ruler });
  expect(block).toHaveLength(height);
  for (const line of block) expect(ruler.measure(line)).toBeLessThan(columns);
  expect(block.join('\n')).not.toMatch(/[\u0000-\u0009\u001b\u202e]/);
});

test('a terminal gets a step once when it is done, the open one until the end, and no pager', async () => {
  const host = testHost({ terminal: 80 });
  const view = await openFollowView(commandIo(host), {} as ListView<FollowLine>);
  const many = Array.from({ length: 40 }, (_, at): FollowLine => ({ ...lines[0]!, title: `step ${at}` }));
  for (const status of ['one', 'two']) await view.show(lines, status);
  await view.close([...lines, ...many]);
  const shown = stripVTControlCharacters(host.out());
  expect(shown.split(`: ${lines[0]?.observed}`)).toHaveLength(2);
  expect(shown).not.toContain(lines[2]?.observed);
  expect(shown.trim().split('\n').slice(-6).join(' ')).toContain(lines[1]?.title);
});

test('a terminal gets sentences broken between words, and commands in one piece', async () => {
  const host = testHost({ terminal: 40 });
  const view = await openFollowView(commandIo(host), {} as ListView<FollowLine>);
  const sentence = `One ${'word '.repeat(20)}two`;
  await view.say([sentence, `  psql ${'x '.repeat(30)}y`]);
  const shown = stripVTControlCharacters(host.out()).split('\n');
  expect(shown).toContain(`  psql ${'x '.repeat(30)}y`);
  expect(shown.filter((line) => !line.startsWith('  psql')).every((line) => line.length <= 40)).toBe(true);
  expect(shown.join(' ').replaceAll(/\s+/g, ' ')).toContain(sentence);
});

test('the page of the window escapes what servers say, and loads nothing', () => {
  const page = renderWindowPage({
    result: {
      lines,
      events: [{ at: 1500, what: 'sequences set on the target', evidence: "SELECT setval('<script>', 1)\nSELECT 2" }],
      unproven: ['<b>1 table</b>'],
      leftOut: 'crm <i>stays</i>',
      lock: 'locked: run <i>this</i>',
      startedAt: 0,
      endedAt: 3000,
      failure: undefined,
    },
    source: 'postgres://u@h/"d"',
    target: 'postgres://u@h/d',
    cluster: 'c',
  });
  expect(page).toContain('1.5 s');
  expect(page).toContain('after 3.0 s');
  expect(page).not.toMatch(/<script|<b>|<i>|href=|src=/);
  for (const text of ['crm &lt;i&gt;stays', 'locked: run &lt;i&gt;this']) expect(page).toContain(text);
  expect(page).toContain("default-src 'none'");
});
