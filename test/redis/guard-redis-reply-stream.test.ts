import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { guardReplies } from '../../src/redis/connection.ts';

function socketWith(read: (chunk: Buffer) => void) {
  const socket = new Socket();
  const seen: unknown[] = [];
  const failure = guardReplies(socket, { read });
  socket.prependListener('data', (chunk) => seen.push(chunk));
  return { socket, seen, failure };
}

test('accepted bytes reach the listener', () => {
  const { socket, seen, failure } = socketWith(() => {});
  socket.emit('data', Buffer.from('a'));
  expect(seen).toEqual([Buffer.from('a')]);
  expect(failure()).toBeUndefined();
  socket.destroy();
});

test('refused bytes and those after them do not, and the connection ends', () => {
  const refused = new Error('no');
  const { socket, seen, failure } = socketWith(() => {
    throw refused;
  });
  socket.emit('data', Buffer.from('a'));
  socket.emit('data', Buffer.from('b'));
  expect(seen).toEqual([]);
  expect(failure()).toBe(refused);
  expect(socket.destroyed).toBe(true);
});
