import { expect, it } from 'vitest';
import { isConnectionString, parseConnectionString } from '../../src/postgresql/connection-string.ts';

it.each([
  [
    'postgres://ann:p%40ss@db:5433/app?sslmode=verify-full',
    { user: 'ann', password: 'p@ss', host: 'db', port: '5433', dbname: 'app', sslmode: 'verify-full' },
  ],
  ["host=db user=ann password='it\\'s'", { host: 'db', user: 'ann', password: "it's" }],
  ['postgresql://[::1]/app', { host: '::1', dbname: 'app' }],
])('%s', (text, expected) => {
  expect(isConnectionString(text)).toBe(true);
  expect(Object.fromEntries(parseConnectionString(text, 'URL'))).toEqual(expected);
});

it.each(['postgres://a,b/app', 'postgres://ann:50%@db/app', 'http://db/app', 'host=db =x'])('%s is refused', (text) => {
  expect(() => parseConnectionString(text, 'URL')).toThrow(expect.objectContaining({ code: 'usage' }));
});
