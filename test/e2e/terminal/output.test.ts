import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bin, node, run } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { logIn } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { openTerminal, type Terminal, terminal } from '../../fixtures/terminal.ts';

const sgr = '\u001b[';

describe.skipIf(lacks('tmux'))('what is printed on a terminal', () => {
  let world: Folders;
  let folders: Folders;
  let sandbox: Sandbox;
  let shown: Terminal | undefined;
  beforeAll(async () => {
    [world, folders] = [makeFolders(), makeFolders()];
    sandbox = await startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']);
    expect((await logIn({ folders, env: sandbox.env })).code).toBe(0);
  });
  afterAll(async () => {
    await sandbox.stop();
    world.remove();
    folders.remove();
  });
  afterEach(async () => {
    await shown?.close();
    shown = undefined;
  });

  const open = async (args: readonly string[], columns: number, env: Environment = {}): Promise<Terminal> => {
    shown = await terminal(args, { folders, env: { ...sandbox.env, ...env }, columns });
    return shown;
  };

  test('auth token warns on a terminal, and only there', async () => {
    const piped = await run(['auth', 'token'], { folders, env: sandbox.env });
    expect(piped.stderr).toBe('');
    const screen = await open(['auth', 'token'], 150);
    expect(await screen.ended()).toBe(0);
    const [warning, ...rest] = (await screen.screen()).split('\n');
    expectGolden('auth', warning ?? '');
    expect(rest.join('\n')).toBe(piped.stdout.trim());
  });

  test.for([
    { what: 'actions', words: ['actions', 'list'] },
    { what: 'droplets', words: ['droplets', 'list'] },
  ])('the table of $what is cut to the width of the terminal, and only there', async ({ words }) => {
    const piped = await run(words, { folders, env: { ...sandbox.env, COLUMNS: '40' } });
    const whole = piped.stdout.trimEnd().split('\n');
    expect(Math.max(...whole.map((line) => line.length))).toBeGreaterThan(100);
    const screen = await open(words, 50);
    expect(await screen.ended()).toBe(0);
    // A line that is too long would come back as one, since the terminal joins what it wrapped.
    const cut = (await screen.screen()).split('\n');
    expect(cut).toHaveLength(whole.length);
    expect(Math.max(...cut.map((line) => line.length))).toBeLessThanOrEqual(50);
    await shown?.close();
    const wide = await open(words, 250);
    expect(await wide.ended()).toBe(0);
    // Times are relative on a terminal; every other column is as in the pipe.
    const columnsOf = (line: string) => line.trimEnd().split(/ {2,}/);
    const isTime = (cell: string) => /^\d{4}-\d\d-\d\dT|\d+ (s|min|h|d) ago$/.test(cell);
    const dataOf = (line: string) => columnsOf(line).filter((cell) => !isTime(cell));
    const shownLines = (await wide.screen()).split('\n');
    expect(shownLines.map(dataOf)).toEqual(whole.map(dataOf));
    expect(shownLines.join('\n')).toMatch(/ \d+ d ago/);
  });

  test('a table that goes from the terminal into another program is not cut', async () => {
    const piped = await run(['droplets', 'list'], { folders, env: sandbox.env });
    const words = ['-c', '"$0" "$@" | cat', node, bin, 'droplets', 'list'];
    shown = await openTerminal('sh', words, { folders, env: sandbox.env, columns: 50 });
    expect(await shown.ended()).toBe(0);
    expect(await shown.screen()).toBe(piped.stdout.replace(/ +$/gm, '').trimEnd());
  });

  test('JSON is whole on a terminal as well', async () => {
    const piped = await run(['droplets', 'list', '--limit', '1', '-o', 'json'], { folders, env: sandbox.env });
    const screen = await open(['droplets', 'list', '--limit', '1', '-o', 'json'], 50);
    expect(await screen.ended()).toBe(0);
    expect(JSON.parse(await screen.screen())).toEqual(piped.json());
  });

  test.skipIf(lacks('less'))('output that is longer than the screen is shown in less, with its exit code', async () => {
    const screen = await open(['droplets', 'list', '-o', 'json'], 80, { PAGER: 'less -X', LESS: '' });
    await screen.waitFor(/^:$/m);
    await screen.press('C-c');
    // The terminal discards what is typed together with Ctrl-C.
    await sleep(300);
    await screen.press('q');
    expect(await screen.ended()).toBe(0);
  });

  test.for([
    { how: 'a pager that reads three lines', words: [], env: { PAGER: 'head -n 3' }, lines: 3 },
    { how: 'a pager that does not exist', words: [], env: { PAGER: 'no-such-pager 2>/dev/null' }, lines: undefined },
    { how: '--no-pager', words: ['--no-pager'], env: { PAGER: 'head -n 3' }, lines: undefined },
  ])('long output with $how', async ({ words, env, lines }) => {
    const whole = (await run(['droplets', 'list', '-o', 'json'], { folders, env: sandbox.env })).stdout.trimEnd();
    const screen = await open(['droplets', 'list', '-o', 'json', ...words], 150, env);
    expect(await screen.ended()).toBe(0);
    expect(await screen.screen()).toBe(whole.split('\n').slice(0, lines).join('\n'));
  });

  const wrong = ['drplets'];
  test.for([
    { how: 'a terminal', env: {}, words: wrong, colours: true },
    { how: 'NO_COLOR', env: { NO_COLOR: '1' }, words: wrong, colours: false },
    { how: '--no-color', env: {}, words: ['--no-color', ...wrong], colours: false },
    {
      how: '--no-color against FORCE_COLOR',
      env: { FORCE_COLOR: '1' },
      words: ['--no-color', ...wrong],
      colours: false,
    },
    { how: 'FORCE_COLOR against NO_COLOR', env: { FORCE_COLOR: '1', NO_COLOR: '1' }, words: wrong, colours: true },
    { how: 'a dumb terminal', env: { DUMB: '1' }, words: wrong, colours: false },
  ])('on a terminal errors have colour or not: $how', async ({ env, words, colours }) => {
    // tmux names itself in TERM, so a dumb one is named from inside.
    const line = ['-c', '[ -z "$DUMB" ] || export TERM=dumb; "$0" "$@"', node, bin, ...words];
    shown = await openTerminal('sh', line, { folders, env: { ...sandbox.env, ...env }, columns: 120 });
    expect(await shown.ended()).toBe(2);
    const text = await shown.screen('colours');
    expect(text).toContain('unknown command "drplets"');
    expect(text.includes(sgr)).toBe(colours);
  });

  test('a prompt has no colour with NO_COLOR', async () => {
    const env = { NO_COLOR: '1', CLOUDCTL_CREDENTIAL_STORE: 'file' };
    shown = await terminal(['auth', 'setup', '--profile', 'other'], { folders, env, columns: 120 });
    await shown.waitFor(/\? Origin of the authorization server/);
    expect(await shown.screen('colours')).not.toContain(`${sgr}3`);
  });

  test('without a terminal nothing has colour, unless FORCE_COLOR asks for it', async () => {
    const list = await run(['droplets', 'list'], { folders, env: sandbox.env });
    const failed = await run(wrong, { folders, env: sandbox.env });
    expect(list.stdout + list.stderr + failed.stderr).not.toContain(sgr);
    const forced = await run(wrong, { folders, env: { ...sandbox.env, FORCE_COLOR: '1' } });
    expect(forced.stderr).toContain(sgr);
    const table = await run(['droplets', 'list'], { folders, env: { ...sandbox.env, FORCE_COLOR: '1' } });
    expect(table.stdout).toContain(sgr);
  });
});
