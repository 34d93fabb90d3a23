import { expect, it } from 'vitest';
import { validateParameters } from '../../src/postgresql/connection-string.ts';

it('a parameter without effect is a note', () => {
  expect(
    validateParameters(
      new Map([
        ['host', 'db'],
        ['connect_timeout', '3'],
      ]),
      'URL',
    ),
  ).toHaveLength(1);
});

it.each(['sslcert', 'sslmodee'])('the parameter %s is refused', (name) => {
  expect(() => validateParameters(new Map([[name, 'x']]), 'URL')).toThrow(expect.objectContaining({ code: 'usage' }));
});
