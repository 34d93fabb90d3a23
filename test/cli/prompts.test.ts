import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { colorlessOutput, createPrompts, type PromptOptions, readLines, runPrompt } from '../../src/cli/prompts.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { keyboard } from './keyboard.ts';

const enter = '\r';
const controlC = '\u0003';
const controlD = '\u0004';
const clientId = { name: 'client ID', option: '--client-id', variable: 'CLOUDCTL_CLIENT_ID', message: 'Client ID' };

function promptsOn(terminal = keyboard(), options: Partial<PromptOptions> = {}) {
  return {
    terminal,
    prompts: createPrompts({
      streams: () => terminal.streams,
      isTerminal: () => terminal.streams.input.isTTY === true && terminal.streams.output.isTTY === true,
      ...{ noInput: false, yes: false, color: false },
      ...options,
    }),
  };
}

test('the typed text is the answer', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  terminal.type(`abc${enter}`);
  expect(await answer).toBe('abc');
});

test('enter alone takes the default', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask({ ...clientId, default: 'preset' });
  await terminal.until('preset');
  terminal.type(enter);
  expect(await answer).toBe('preset');
});

test('a question is broken between words, not inside them', async () => {
  const { terminal, prompts } = promptsOn();
  const message = `Stop migration ${'a8a33157-2564-40de-9940-0cd831285bae '.repeat(4)}now?`;
  const answer = prompts.confirm({ message });
  await terminal.until('(y/N)');
  const drawn = stripVTControlCharacters(terminal.drawn());
  expect(drawn).toMatch(/\n {2}a8a33157/);
  for (const line of drawn.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  terminal.type(`y${enter}`);
  expect(await answer).toBe(true);
});

test('an invalid answer is prompted for again', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask({ ...clientId, validate: (value) => value.length > 1 || 'too short' });
  await terminal.until('Client ID');
  terminal.type(`a${enter}`);
  await terminal.until('too short');
  terminal.type(`b${enter}`);
  expect(await answer).toBe('ab');
});

test('a secret is not drawn, neither itself nor its length, and does not print', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.askSecret({ ...clientId, name: 'client secret', message: 'Client secret' });
  await terminal.until('Client secret');
  terminal.type('hunter2');
  await terminal.until('masked');
  // Ctrl-T would show a password in other programs.
  terminal.type('\u0014');
  await new Promise((resolve) => setTimeout(resolve, 50));
  terminal.type(enter);
  const secret = await answer;
  expect([secret.reveal(), String(secret)]).toEqual(['hunter2', '[secret]']);
  expect(terminal.drawn()).not.toMatch(/hunter2|\*/);
});

test('a paste longer than the line limit of the kernel arrives complete', async () => {
  const { terminal, prompts } = promptsOn();
  const pasted = `http://127.0.0.1:8080/callback?code=${'x'.repeat(2500)}&state=y`;
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  terminal.type(pasted + enter);
  expect(await answer).toBe(pasted);
});

test('one of the choices is chosen, from the default on', async () => {
  const { terminal, prompts } = promptsOn();
  const choices = [
    { name: 'the code flow', value: { flow: 'code' } },
    { name: 'the implicit flow', value: { flow: 'implicit' } },
  ];
  const answer = prompts.choose({ name: 'flow', message: 'Flow', choices, default: choices[0]!.value });
  await terminal.until('the implicit flow');
  terminal.type(`\u001b[B${enter}`);
  expect(await answer).toBe(choices[1]!.value);
});

test.each([
  ['y', true],
  ['n', false],
  ['', false],
])('a confirmation answered %j is %s', async (key, expected) => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.confirm({ message: 'Start it?' });
  await terminal.until('Start it?');
  terminal.type(key + enter);
  expect(await answer).toBe(expected);
});

test('--yes confirms without a terminal and without drawing', async () => {
  const { terminal, prompts } = promptsOn(keyboard({ input: false }), { yes: true });
  expect(await prompts.confirm({ message: 'Start it?' })).toBe(true);
  expect(terminal.drawn()).toBe('');
});

test.each([
  ['Ctrl-C', controlC],
  ['Ctrl-D', controlD],
])('%s leaves the prompt as cancelled', async (_, key) => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  terminal.type(key);
  await expect(answer).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
});

test('Ctrl-D within a line does not leave the prompt', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  terminal.type(`ab${controlD}`);
  await terminal.until('ab');
  terminal.type(`c${enter}`);
  expect(await answer).toBe('abc');
});

test('a terminal that is closed leaves the prompt as cancelled', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  terminal.hangUp();
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
});

test('a signal takes the prompt away', async () => {
  const { terminal, prompts } = promptsOn();
  const controller = new AbortController();
  const answer = prompts.ask({ ...clientId, signal: controller.signal });
  await terminal.until('Client ID');
  controller.abort();
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  await expect(prompts.ask({ ...clientId, signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
});

test('one question follows the other on the same terminal', async () => {
  const { terminal, prompts } = promptsOn();
  const first = prompts.ask({ ...clientId, message: 'First' });
  await terminal.until('First');
  terminal.type(`1${enter}`);
  expect(await first).toBe('1');
  const second = prompts.ask({ ...clientId, message: 'Second' });
  await terminal.until('Second');
  terminal.type(`2${enter}`);
  expect(await second).toBe('2');
  expect(terminal.streams.input.listenerCount('end')).toBeLessThan(3);
});

test.each([
  ['standard input is not a terminal', keyboard({ input: false }), {}],
  ['standard error is not a terminal', keyboard({ output: false }), {}],
  ['--no-input is given', keyboard(), { noInput: true }],
])(
  'when %s every prompt is a usage error that names the option or variable to use, and nothing is drawn',
  async (_, terminal, options) => {
    const { prompts } = promptsOn(terminal, options);
    const errors = [];
    for (const work of [
      () => prompts.ask(clientId),
      () => prompts.askSecret(clientId),
      () => prompts.choose({ ...clientId, choices: [] }),
      () => prompts.confirm({ message: 'Start it?' }),
    ])
      errors.push(await work().catch((error: unknown) => error));
    for (const error of errors.slice(0, 3))
      expect(error).toMatchObject({ hint: expect.stringContaining('--client-id') });
    expect([prompts.interactive, terminal.drawn()]).toEqual([false, '']);
    expectGolden('errors', errors.map(errorText).join('\n\n'));
  },
);

test('other output stops before a prompt is drawn', async () => {
  const terminal = keyboard();
  let before = '';
  const { prompts } = promptsOn(terminal, {
    before: async () => {
      before = `[${terminal.drawn()}]`;
    },
  });
  const answer = prompts.ask(clientId);
  await terminal.until('Client ID');
  expect(before).toBe('[]');
  terminal.type(enter);
  await answer;
});

test('a message from elsewhere does not act on the terminal', async () => {
  const { terminal, prompts } = promptsOn();
  const answer = prompts.confirm({ message: 'Keep \u001b]0;owned\u0007it?' });
  await terminal.until('Keep it?');
  terminal.type(enter);
  await answer;
  expect(terminal.drawn()).not.toContain('owned');
});

describe('the streams of a question', () => {
  test('without colour the same is drawn, and the cursor still moves', async () => {
    const terminal = keyboard();
    const plain = colorlessOutput(terminal.streams.output);
    plain.write('\u001b[1m\u001b[38;5;2mbold\u001b[0m\u001b[2K');
    await terminal.until('bold');
    expect(terminal.drawn()).toBe('bold\u001b[2K');
    expect(plain.columns).toBe(80);
  });

  test('an input that is over is not read from', async () => {
    const input = new PassThrough();
    input.destroy();
    const never = runPrompt(input, undefined, () => Promise.reject(new Error('must not be asked')));
    await expect(never).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('an error of the prompt other than a cancellation is thrown unchanged', async () => {
    const fault = new Error('a bug');
    await expect(runPrompt(new PassThrough(), undefined, () => Promise.reject(fault))).rejects.toBe(fault);
  });

  test('nothing stays behind on the input', async () => {
    const input = new PassThrough();
    const before = input.eventNames().length;
    await runPrompt(input, undefined, async () => 1);
    expect(input.eventNames().length).toBe(before);
  });
});

describe('lines that are typed', () => {
  function reading(terminal = keyboard()) {
    const controller = new AbortController();
    let interrupts = 0;
    const onInterrupt = () => {
      interrupts += 1;
    };
    const lines = readLines({ ...terminal.streams, onInterrupt }, controller.signal);
    return { terminal, controller, lines, interrupts: () => interrupts };
  }

  test.each([true, false])('lines come one by one as they are typed (terminal: %s)', async (isTerminal) => {
    const { terminal, lines, controller } = reading(keyboard({ input: isTerminal }));
    terminal.type('first\n');
    expect(await lines.next()).toEqual({ done: false, value: 'first' });
    terminal.type('second\n');
    expect(await lines.next()).toEqual({ done: false, value: 'second' });
    controller.abort();
    expect(await lines.next()).toMatchObject({ done: true });
  });

  test('a paste longer than the line limit of the kernel arrives complete', async () => {
    const { terminal, lines } = reading();
    const pasted = `http://127.0.0.1:8080/callback#access_token=${'x'.repeat(5000)}`;
    const line = lines.next();
    terminal.type(`${pasted}\r`);
    expect(await line).toMatchObject({ value: pasted });
    await lines.return(undefined);
  });

  test('the signal ends the wait for a line and the reading of the input', async () => {
    const { terminal, lines, controller } = reading();
    const line = lines.next();
    controller.abort();
    expect(await line).toMatchObject({ done: true });
    expect(terminal.streams.input.isPaused()).toBe(true);
  });

  test('nothing is read once the signal was given', async () => {
    const { lines, controller, terminal } = reading();
    controller.abort();
    terminal.type('late\n');
    expect(await lines.next()).toMatchObject({ done: true });
  });

  test('Ctrl-C in raw mode calls onInterrupt', async () => {
    const { terminal, lines, interrupts, controller } = reading();
    const line = lines.next();
    terminal.type('\u0003');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(interrupts()).toBe(1);
    controller.abort();
    await line;
  });

  test('the end of the input is the end of the lines', async () => {
    const { terminal, lines } = reading(keyboard({ input: false }));
    terminal.type('last');
    terminal.hangUp();
    expect(await lines.next()).toMatchObject({ value: 'last' });
    expect(await lines.next()).toMatchObject({ done: true });
  });
});
