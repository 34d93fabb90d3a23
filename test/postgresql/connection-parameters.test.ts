import { expect, it } from 'vitest';
import { validateConnectionStringParameters } from '../../src/postgresql/connection-parameters.ts';

it('a parameter without effect is a note', () => {
  expect(
    validateConnectionStringParameters(
      new Map([
        ['host', 'db'],
        ['connect_timeout', '3'],
      ]),
      'URL',
    ),
  ).toHaveLength(1);
});

it.each(['sslcert', 'sslmodee'])('the parameter %s is refused', (name) => {
  expect(() => validateConnectionStringParameters(new Map([[name, 'x']]), 'URL')).toThrow(
    expect.objectContaining({ code: 'usage' }),
  );
});
