import { expect, test, vi } from 'vitest';
import { ConnectError } from '../../src/platform/network-errors.ts';
import { createMessageStream } from '../../src/postgresql/message-reader.ts';

function streamWith(read: (chunk: Buffer, deliver: (messages: Buffer) => void) => void) {
  const listeners = new Map<string, (...values: unknown[]) => void>();
  const destroy = vi.fn();
  const stream = createMessageStream(
    { on: (event, listener) => listeners.set(event, listener), destroy },
    (deliver) => ({
      read: (chunk) => read(chunk, deliver),
    }),
  );
  return { stream, destroy, emit: (event: string, value?: unknown) => listeners.get(event)?.(value) };
}

test('data passes through the reader, and other events do not', () => {
  const { stream, emit, destroy } = streamWith((chunk, deliver) => deliver(chunk.subarray(1)));
  const seen: unknown[] = [];
  stream.on('data', (bytes) => seen.push(bytes));
  stream.on('end', (value) => seen.push(value));
  emit('data', Buffer.from('ab'));
  emit('end', 1);
  expect(seen).toEqual([Buffer.from('b'), 1]);
  expect(destroy).not.toHaveBeenCalled();
});

test('an error of the reader or of the listener ends the connection', () => {
  const refused = new ConnectError('startup', 'PROTOCOL', 'no');
  const reading = streamWith(() => {
    throw refused;
  });
  reading.stream.on('data', () => {});
  reading.emit('data', Buffer.from('a'));
  expect(reading.destroy).toHaveBeenCalledWith(refused);
  const listening = streamWith((chunk, deliver) => deliver(chunk));
  listening.stream.on('data', () => {
    throw new RangeError('x\u001b[2J');
  });
  listening.emit('data', Buffer.from('a'));
  expect(String(listening.destroy.mock.calls[0]?.[0])).not.toContain('\u001b');
});
