import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { streamSink } from '../../src/platform/stream-sink.ts';
import { maybeTerminal } from '../../src/platform/terminal.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

/** Writes lines for ever and counts them on standard error; `listen` keeps a signal listener for 300 ms. */
const program = `
  import { systemHost } from './src/platform/system-host.ts';
  const host = systemHost();
  const [mode] = process.argv.slice(2);
  const run = async () => {
    const stop = mode === 'listen' ? host.signals.listen(() => {}) : undefined;
    if (stop !== undefined) setTimeout(() => { process.stderr.write('safe'); stop(); }, 300);
    for (let i = 0; ; i++) {
      await host.stdout.write('x'.repeat(10_000) + '\\n');
      if (mode === 'count') process.stderr.write('.');
      if (mode === 'listen') await host.clock.sleep(5);
    }
  };
  run().catch((error) => { process.stderr.write(error.code + ': ' + error.message); process.exitCode = error.exitCode; });
`;

describe('standard output', () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleProgram({ text: program }, 'esm');
  });
  afterAll(() => bundle.remove());

  function start(mode: string, stdout: 'pipe' | number = 'pipe') {
    const child = spawn(process.execPath, [bundle.script, mode], { stdio: ['ignore', stdout, 'pipe'] });
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words += text;
    });
    return { child, words: () => words };
  }

  it('whose reader closes the pipe ends the program quietly, with status 0', async () => {
    const { child, words } = start('plain');
    await once(child.stdout!, 'data');
    child.stdout?.destroy();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(words()).toBe('');
  });

  it('whose reader closes the pipe does not end what listens for signals before it is safe', async () => {
    const { child, words } = start('listen');
    await once(child.stdout!, 'data');
    child.stdout?.destroy();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(words()).toBe('safe');
  });

  it('slows the writer down to its reader', async () => {
    const { child, words } = start('count');
    await once(child.stdout!, 'readable');
    await sleep(300);
    // A pipe and two buffers hold some hundred KiB; without waiting it would be thousands of lines by now.
    expect(words().length).toBeLessThan(100);
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it.skipIf(!existsSync('/dev/full'))('that loses data is an error', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, words } = start('plain', full);
    expect(await once(child, 'close')).toEqual([7, null]);
    expect(words()).toMatch(/^output: .*\bspace left\b/i);
    closeSync(full);
  });
});

describe('a sink', () => {
  it('touches its stream only when it is asked, and tells of a closed pipe once', async () => {
    let opened = 0;
    let closings = 0;
    const failing = {
      isTTY: false,
      columns: 80,
      on() {
        return failing;
      },
      write(_text: string, done: (error?: Error) => void) {
        done(Object.assign(new Error('broken'), { code: 'EPIPE' }));
        return true;
      },
    };
    const stream = () => {
      opened += 1;
      return failing as unknown as NodeJS.WriteStream;
    };
    const sink = streamSink(stream, {
      descriptor: -1,
      name: 'standard output',
      lossless: true,
      onClosed: () => closings++,
    });
    expect([opened, sink.closed?.aborted]).toEqual([0, false]);
    await sink.write('one');
    await sink.write('two');
    expect([opened, closings, sink.closed?.aborted]).toEqual([1, 1, true]);
    expect([sink.isTTY, sink.columns]).toEqual([false, undefined]);
  });
});

describe('whether a descriptor can be a terminal', () => {
  it.each([
    { path: '/dev/null', candidate: false },
    { path: 'package.json', candidate: false },
    // The master side of a new terminal.
    { path: '/dev/ptmx', candidate: true },
  ])('$path: $candidate', ({ path, candidate }) => {
    const descriptor = openSync(path, 'r');
    try {
      expect(maybeTerminal(descriptor)).toBe(candidate);
    } finally {
      closeSync(descriptor);
    }
  });

  it('a closed descriptor is left to the stream of the process', () => {
    const descriptor = openSync('package.json', 'r');
    closeSync(descriptor);
    expect(maybeTerminal(descriptor)).toBe(true);
  });
});
