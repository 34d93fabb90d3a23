import { expect, it } from 'vitest';
import { cutoverCommands } from '../../../src/db/cutover/next.ts';
import { argsFrom, commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';

it('every command for the next step names the profile of this one', () => {
  const endpoint = { port: 5432, dbname: 'shop', username: 'me', password: undefined, ssl: 'require' } as const;
  const commands = cutoverCommands(
    commandIo(testHost()),
    { command: (...words) => ['cloudctl', ...words, '--profile', 'work'].join(' ') },
    argsFrom({ follow: [], accept: ['passwords'] }),
    {
      cluster: 'C',
      source: { engine: 'postgresql', source: { ...endpoint, host: 'from' } },
      target: { engine: 'postgresql', source: { ...endpoint, host: 'to' } },
      facts: {},
    },
  );
  const own = Object.entries(commands).filter(([, text]) => text.startsWith('cloudctl '));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter(([, text]) => !text.includes(' --profile work'))).toEqual([]);
});
