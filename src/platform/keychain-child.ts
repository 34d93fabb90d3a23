import { createInterface } from 'node:readline';
import { readItem, removeItem, writeItem } from './keychain-entry.ts';
import type { KeychainRequest } from './keychain-wire.ts';

// On Windows a Ctrl-C reaches every process of the console; the parent decides what it means.
process.on('SIGINT', () => {});

/**
 * A program of its own, dist/keychain.cjs: one line of JSON a request on standard input, one a reply on standard
 * output. A call of the keychain can block for ever and cannot be ended from inside, but this process can be killed.
 * It ends with its standard input, so it does not outlive its parent.
 */
createInterface({ input: process.stdin }).on('line', (line) => {
  const request: KeychainRequest = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(perform(request))}\n`);
});

function perform(request: KeychainRequest): object {
  switch (request.operation) {
    case 'read':
      return readItem(request.account);
    case 'write':
      return writeItem(request.account, request.value);
    case 'remove':
      return removeItem(request.account);
    default:
      return request satisfies never;
  }
}
