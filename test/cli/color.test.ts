import { expect, test } from 'vitest';
import { createStyles, usesColor } from '../../src/cli/color.ts';

const terminal = { isTTY: true };
const pipe = { isTTY: false };

test.each([
  ['a terminal has colour', terminal, {}, false, true],
  ['a pipe has none', pipe, {}, false, false],
  ['NO_COLOR takes it away', terminal, { NO_COLOR: '1' }, false, false],
  ['an empty NO_COLOR counts as unset', terminal, { NO_COLOR: '' }, false, true],
  ['FORCE_COLOR gives it to a pipe', pipe, { FORCE_COLOR: '1' }, false, true],
  ['FORCE_COLOR=0 takes it away', terminal, { FORCE_COLOR: '0' }, false, false],
  ['FORCE_COLOR=false takes it away', terminal, { FORCE_COLOR: 'false' }, false, false],
  ['FORCE_COLOR=False takes it away', terminal, { FORCE_COLOR: 'False' }, false, false],
  ['FORCE_COLOR=2 gives it to a pipe', pipe, { FORCE_COLOR: '2' }, false, true],
  ['FORCE_COLOR=3 gives it to a pipe', pipe, { FORCE_COLOR: '3' }, false, true],
  ['FORCE_COLOR=true gives it to a pipe', pipe, { FORCE_COLOR: 'true' }, false, true],
  ['an empty FORCE_COLOR counts as unset for a pipe', pipe, { FORCE_COLOR: '' }, false, false],
  ['an empty FORCE_COLOR counts as unset for a terminal', terminal, { FORCE_COLOR: '' }, false, true],
  ['an empty FORCE_COLOR leaves NO_COLOR', terminal, { FORCE_COLOR: '', NO_COLOR: '1' }, false, false],
  ['FORCE_COLOR is stronger than a dumb terminal', terminal, { FORCE_COLOR: '1', TERM: 'dumb' }, false, true],
  ['FORCE_COLOR is stronger than NO_COLOR', pipe, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ['--no-color is stronger than FORCE_COLOR', terminal, { FORCE_COLOR: '1' }, true, false],
  ['a dumb terminal has none', terminal, { TERM: 'dumb' }, false, false],
])('%s', (_, sink, env, noColor, expected) => {
  expect(usesColor({ sink, env, noColor })).toBe(expected);
});

test('paint colours when it is asked to, whatever the process is connected to', async () => {
  expect((await createStyles(true)).red('x')).toBe('\u001b[31mx\u001b[39m');
  expect((await createStyles(false)).red('x')).toBe('x');
});
