import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { redactSecrets } from '../../src/base/redact.ts';
import { Secret, secretUrl } from '../../src/base/secret.ts';

describe('a secret', () => {
  const secret = new Secret('hunter2');

  it.each([
    ['string conversion', `${secret}`],
    ['addition', `a${String(secret)}`],
    ['JSON', JSON.stringify({ secret })],
    ['inspect', inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
    ['inspect of an error', inspect(Object.assign(new Error('x'), { secret }))],
    ['its own keys', JSON.stringify(Object.entries(secret))],
    ['a spread', JSON.stringify({ ...secret })],
  ])('does not print by %s', (_way, text) => {
    expect(text).not.toContain('hunter2');
    expect(text).not.toBe('');
  });

  it('shows what it was told to show', () => {
    expect(`${new Secret('hunter2', '[session]')} ${secret}`).toBe('[session] [secret]');
  });

  it('is compared and measured without its value', () => {
    expect([secret.equals(new Secret('hunter2', '[another]')), secret.equals(new Secret('hunter'))]).toEqual([
      true,
      false,
    ]);
    expect([secret.equals(undefined), secret.length]).toEqual([false, 7]);
  });

  it('gives its value only on demand', () => {
    expect(secret.reveal()).toBe('hunter2');
  });
});

it('a URL with secrets in its query prints as origin and path', () => {
  const url = secretUrl(new URL('https://cloud.example/v1/oauth/token?refresh_token=hunter2#frag'));
  expect(`${url}`).toBe('https://cloud.example/v1/oauth/token');
  expect(url.reveal()).toContain('refresh_token=hunter2');
});

describe('withoutSecrets', () => {
  const secrets = [new Secret('s3cr+t/"of the test', '[token]')];

  it.each([
    ['raw', 's3cr+t/"of the test'],
    ['percent-encoded', 's3cr%2Bt%2F%22of%20the%20test'],
    ['form-encoded', 's3cr%2Bt%2F%22of+the+test'],
    ['in JSON', 's3cr+t/\\"of the test'],
    ['in base64', Buffer.from('s3cr+t/"of the test').toString('base64')],
    ['in hexadecimals', Buffer.from('s3cr+t/"of the test').toString('hex')],
  ])('takes a secret out %s', (_way, spelling) => {
    expect(redactSecrets(`a ${spelling} b ${spelling}`, secrets)).toMatch(/^a \[token\]=* b \[token\]=*$/);
  });

  it('leaves everything else, and values too short to tell anything', () => {
    expect(redactSecrets('nothing here', secrets)).toBe('nothing here');
    expect(redactSecrets('a b c', [new Secret('b')])).toBe('a b c');
  });
});
