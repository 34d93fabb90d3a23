import { expect, test } from 'vitest';
import { readTerminalLines } from '../../src/cli/prompts.ts';
import { keyboard } from './keyboard.ts';

function reading(terminal = keyboard()) {
  const controller = new AbortController();
  let interrupts = 0;
  const onInterrupt = () => {
    interrupts += 1;
  };
  const lines = readTerminalLines({ ...terminal.streams, onInterrupt }, controller.signal);
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
