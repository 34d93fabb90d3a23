import type { Socket } from 'node:net';

/** Text that moves the cursor, sets the title, forges lines and commands of a continuous integration. */
export const hostileText =
  '\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\n::error::owned\nerror: forged\r##vso[task.complete result=Succeeded]';

/** What must not be in any output: control characters, and those that change the direction of text. */
export const controlCharacters =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

export const zeros = Buffer.alloc(65_536);
export const garbage = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919 + (at >> 3)) & 0xff));

/** Sends the same bytes as fast as they are taken, until the socket closes. */
export function flood(socket: Socket, bytes: Buffer): void {
  const block = Buffer.concat(Array.from({ length: Math.max(1, Math.floor(65_536 / bytes.length)) }, () => bytes));
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', more);
  more();
}

/** Sends the same bytes again and again, a little at a time. */
export function drip(socket: Socket, bytes: Buffer, pause = 200): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(bytes.subarray(at % bytes.length, (at++ % bytes.length) + 1));
  }, pause);
  socket.once('close', () => clearInterval(timer));
}
