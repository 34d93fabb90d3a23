import { expect, it } from 'vitest';
import { createTerminalScreen } from '../../src/cli/progress.ts';

function setup() {
  const writes: string[] = [];
  return { writes, live: createTerminalScreen({ write: async (text) => void writes.push(String(text)) }) };
}

it('each redraw is one write that erases the old lines', async () => {
  const { writes, live } = setup();
  await live.draw(['a', 'b']);
  await live.draw(['c']);
  expect(writes).toHaveLength(2);
  expect(writes[1]).toBe('\u001b[?2026h\u001b[Hc\u001b[K\u001b[J\u001b[?2026l');
  expect(writes[0]).toContain('a\u001b[K\r\nb\u001b[K');
});

it('the terminal is restored with its cursor, and the last lines stay', async () => {
  const { writes, live } = setup();
  await live.draw(['a']);
  await live.end(['done']);
  expect(writes[0]?.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true);
  expect(writes[1]).toBe('\u001b[?25h\u001b[?1049ldone\n');
});

it('a terminal that nothing was drawn on is left alone', async () => {
  const { writes, live } = setup();
  await live.end([]);
  expect(writes.join('')).toBe('');
});
