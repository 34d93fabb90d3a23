import { expect, test } from 'vitest';
import { createPager } from '../../src/cli/pager-printer.ts';
import type { ProcessEnvironment, RunningPager, SignalName } from '../../src/platform/host.ts';
import { fakeSink } from './sink.ts';

interface FakePager {
  readonly command: string;
  text: string;
  stopped: boolean;
}

function terminalWith({
  hasRows = true,
  columns = 20,
  env = { PAGER: 'more' },
  noPager = false,
  hasRun = true,
}: {
  readonly hasRows?: boolean;
  readonly columns?: number;
  readonly env?: ProcessEnvironment;
  readonly noPager?: boolean;
  readonly hasRun?: boolean;
}) {
  const stdout = { ...fakeSink(columns), rows: hasRows ? 5 : undefined };
  const started: FakePager[] = [];
  const listeners = new Set<(signal: SignalName) => void>();
  let release: () => void = () => undefined;
  const isClosed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const startPager = (command: string): RunningPager => {
    const pager: FakePager = { command, text: '', stopped: false };
    started.push(pager);
    return {
      write: async (data) => {
        pager.text += String(data);
      },
      end: async () => {
        await isClosed;
        return { hasRun };
      },
      stop: () => {
        pager.stopped = true;
        release();
      },
    };
  };
  const signals = {
    listen: (onSignal: (signal: SignalName) => void) => {
      listeners.add(onSignal);
      return () => void listeners.delete(onSignal);
    },
  };
  const host = { env, platform: 'linux' as const, signals, startPager };
  const paged = createPager({ host, stdout, noPager });
  const print = (...parts: string[]) =>
    paged(async (sink) => {
      for (const part of parts) await sink.write(part);
    });
  return { stdout, started, listeners, paged, print, close: () => release() };
}

test.each([
  ['as long as the screen without its last row', 'a\nb\nc\nd\n', {}],
  ['without a pager by --no-pager', 'a\n'.repeat(50), { noPager: true }],
  ['with an empty PAGER', 'a\n'.repeat(50), { env: { PAGER: '' } }],
  ['with PAGER=cat', 'a\n'.repeat(50), { env: { PAGER: 'cat' } }],
  ['without PAGER where less is not installed', 'a\n'.repeat(50), { env: { PATH: '/nowhere' } }],
  ['on a dumb terminal', 'a\n'.repeat(50), { env: { PAGER: 'more', TERM: 'dumb' } }],
  ['on a terminal of unknown height', 'a\n'.repeat(50), { hasRows: false }],
])('text %s is printed', async (_, text, options) => {
  const { stdout, started, print } = terminalWith(options);
  await print(text);
  expect([stdout.text(), started]).toEqual([text, []]);
});

test.each([
  ['of more lines', ['a\nb\nc\n', 'd\ne\n']],
  ['whose lines wrap', ['x'.repeat(81)]],
])('text %s is shown in the pager, all of it', async (_, parts) => {
  const { stdout, started, print, close } = terminalWith({});
  close();
  await print(...parts, 'end\n');
  expect(started).toMatchObject([{ command: 'more', text: `${parts.join('')}end\n` }]);
  expect(stdout.text()).toBe('');
});

test('styles take no room, and links are left out for the pager', async () => {
  const link = (text: string) => `\u001b]8;;https://cloud.example/${'x'.repeat(60)}\u001b\\${text}\u001b]8;;\u001b\\`;
  const styled = `\u001b[32m${link('a')}\u001b[39m\n`;
  const { stdout, started, print, close } = terminalWith({});
  close();
  await print(styled.repeat(4));
  expect([stdout.text(), started]).toEqual([styled.repeat(4), []]);
  await print(styled.repeat(5));
  expect(started[0]?.text).toBe('\u001b[32ma\u001b[39m\n'.repeat(5));
});

test('when the pager does not exist the text is printed', async () => {
  const { stdout, print, close } = terminalWith({ hasRun: false });
  close();
  await print('a\n'.repeat(9));
  expect(stdout.text()).toBe('a\n'.repeat(9));
});

test('an error leaves the lines before it printed', async () => {
  const { stdout, paged } = terminalWith({});
  const failing = paged(async (sink) => {
    await sink.write('a\n');
    throw new Error('cut');
  });
  await expect(failing).rejects.toThrow('cut');
  expect(stdout.text()).toBe('a\n');
});

test('Ctrl-C is for the pager; SIGTERM ends both', async () => {
  const { started, listeners, print } = terminalWith({});
  const printing = print('a\n'.repeat(9));
  while (started.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (const listener of listeners) listener('SIGINT');
  expect(started[0]?.stopped).toBe(false);
  for (const listener of listeners) listener('SIGTERM');
  await expect(printing).rejects.toMatchObject({ exitCode: 143 });
  expect([started[0]?.stopped, listeners.size]).toEqual([true, 0]);
});
