import { describe, expect, test } from 'vitest';
import { createProgress, createScreen, progressBar, sparkline } from '../../src/cli/progress.ts';
import { type FakeSink, fakeClock, fakeSink } from './sink.ts';

const erase = '\r\u001b[2K';

/** The first frame waits for what measures it to be loaded. */
async function drawn(sink: FakeSink, writes: number): Promise<void> {
  for (let turn = 0; sink.writes.length < writes && turn < 2000; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('on a terminal one line turns and changes, and is gone in the end', async () => {
  const stderr = fakeSink(80);
  const clock = fakeClock();
  const progress = createProgress({ stderr, clock, quiet: false, unicode: false });
  await progress.show('page 1');
  await drawn(stderr, 1);
  await clock.pass(100);
  await progress.show('page 2\u001b[31m');
  await clock.pass(100);
  await progress.stop('done');
  expect(stderr.text()).toBe(`${erase}| page 1${erase}/ page 1${erase}- page 2${erase}done\n`);
  const before = stderr.text();
  await clock.pass(1000);
  expect(stderr.text()).toBe(before);
});

test('on a terminal that cannot take a line back, lines are printed', async () => {
  const stderr = fakeSink(80);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: false, dumb: true });
  await progress.show('page 1');
  await progress.stop('done');
  expect(stderr.text()).toBe('page 1\ndone\n');
});

test('the line is kept within the terminal', async () => {
  const stderr = fakeSink(12);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: false });
  await progress.show('日本語日本語日本語');
  await drawn(stderr, 1);
  expect(stderr.writes[0]).toBe(`${erase}⠋ 日本語日…`);
  await progress.stop();
});

test('the line makes room for what is printed on the same terminal', async () => {
  const stderr = fakeSink(80);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: false, unicode: false });
  const stdout = progress.guard(fakeSink(80));
  const file = fakeSink();
  await progress.show('working');
  await drawn(stderr, 1);
  await progress.guard(file).write('data');
  expect(stderr.text()).toBe(`${erase}| working`);
  await stdout.write('data\n');
  expect(stderr.text()).toBe(`${erase}| working${erase}`);
  expect([stdout.isTTY, stdout.columns, file.text()]).toEqual([true, 80, 'data']);
  await progress.stop();
});

test('stopping twice, or before the start, draws nothing', async () => {
  const stderr = fakeSink(80);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: false });
  await progress.stop();
  await progress.stop();
  expect(stderr.text()).toBe('');
});

test('it can be started again', async () => {
  const stderr = fakeSink(80);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: false, unicode: false });
  await progress.show('one');
  await drawn(stderr, 1);
  await progress.stop();
  await progress.show('two');
  await drawn(stderr, 3);
  await progress.stop();
  expect(stderr.text()).toBe(`${erase}| one${erase}${erase}| two${erase}`);
});

test('elsewhere it is plain lines, not more than one in ten seconds', async () => {
  const stderr = fakeSink();
  const clock = fakeClock();
  const progress = createProgress({ stderr, clock, quiet: false });
  await progress.show('page 1');
  await progress.show('page 2');
  await clock.pass(9_999);
  await progress.show('page 3');
  await clock.pass(1);
  await progress.show('page 4');
  await clock.pass(20_000);
  await progress.show('page 4');
  await progress.stop('4 pages');
  expect(stderr.text()).toBe('page 1\npage 4\n4 pages\n');
});

test.each([80, undefined])('with --quiet there is nothing (columns: %s)', async (columns) => {
  const stderr = fakeSink(columns);
  const progress = createProgress({ stderr, clock: fakeClock(), quiet: true });
  await progress.show('page 1');
  await new Promise((resolve) => setTimeout(resolve, 50));
  await progress.stop('done');
  expect(stderr.text()).toBe('');
});

test('a count shows when it takes a while, and tells how many of how many', async () => {
  const stderr = fakeSink(80);
  const clock = fakeClock();
  const progress = createProgress({ stderr, clock, quiet: false, unicode: false });
  const count = progress.count('droplets');
  count(200, 3000);
  await clock.pass(300);
  expect(stderr.text()).toBe('');
  count(400, 3000);
  await drawn(stderr, 1);
  count(600, undefined);
  await clock.pass(100);
  await progress.stop();
  expect(stderr.text()).toBe(`${erase}| 400 of 3000 droplets${erase}/ 600 droplets${erase}`);
});

test('a count off a terminal is silent for ten seconds', async () => {
  const stderr = fakeSink();
  const clock = fakeClock();
  const count = createProgress({ stderr, clock, quiet: false }).count('actions');
  for (const done of [200, 400, 600]) {
    count(done, 9000);
    await clock.pass(5_000);
  }
  expect(stderr.text()).toBe('600 of 9000 actions\n');
});

describe('a bar', () => {
  test.each([
    [0, '', '░░░░'],
    [0.5, '██', '░░'],
    [0.53, '██▏', '░'],
    [1, '████', ''],
    [7, '████', ''],
    [-1, '', '░░░░'],
  ])('a bar of %d has always its cells', (part, full, empty) => {
    expect(progressBar(part, 4)).toEqual({ full, empty });
  });

  test('a sparkline shows the last values, with the highest as a full cell', () => {
    expect(sparkline([9, 0, 50, 100], 3)).toBe('▁▅█');
    expect(sparkline([0, 0], 5)).toBe('▁▁');
    expect(sparkline([1, 2], 0)).toBe('');
    expect(sparkline([], 5)).toBe('');
  });
});

describe('a screen', () => {
  function setup() {
    const writes: string[] = [];
    return { writes, live: createScreen({ write: async (text) => void writes.push(String(text)) }) };
  }

  test('each redraw is one write that erases the old lines', async () => {
    const { writes, live } = setup();
    await live.draw(['a', 'b']);
    await live.draw(['c']);
    expect(writes).toHaveLength(2);
    expect(writes[1]).toBe('\u001b[?2026h\u001b[Hc\u001b[K\u001b[J\u001b[?2026l');
    expect(writes[0]).toContain('a\u001b[K\r\nb\u001b[K');
  });

  test('the terminal is restored with its cursor, and the last lines stay', async () => {
    const { writes, live } = setup();
    await live.draw(['a']);
    await live.end(['done']);
    expect(writes[0]?.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true);
    expect(writes[1]).toBe('\u001b[?25h\u001b[?1049ldone\n');
  });

  test('a terminal that nothing was drawn on is left alone', async () => {
    const { writes, live } = setup();
    await live.end([]);
    expect(writes.join('')).toBe('');
  });
});
