import { describe, expect, test } from 'vitest';
import { maxPasteLength, readPaste } from '../../../src/auth/loopback/pasted.ts';
import { validateResponse } from '../../../src/auth/oauth/authorize.ts';
import { state } from './loopback-fixture.ts';

function word(line: string, flow: 'code' | 'implicit' = 'code'): string {
  const pasted = readPaste(line, (parameters, place) => validateResponse(parameters, place, { state, flow }));
  return pasted.kind === 'accepted' ? pasted.accepted.kind : pasted.kind;
}

const address = `http://127.0.0.1:8765/callback?code=abc&state=${state}`;
const fragment = `http://127.0.0.1:8765/callback#access_token=t&token_type=bearer&expires_in=5&state=${state}`;

describe('a pasted line goes through the same judgement as the redirect', () => {
  test.each([
    ['the whole address', address, 'code'],
    ['with blanks and quotes around it', ` "${address}" \r\n`, 'code'],
    ['with the marks of a bracketed paste', `\x1b[200~${address}\x1b[201~`, 'code'],
    ['without its scheme', address.slice('http://'.length), 'code'],
    ['its query alone', address.slice(address.indexOf('?')), 'code'],
    ['with an empty fragment', `${address}#`, 'code'],
    ['CODE STATE', `abc ${state}`, 'code'],
    ['CODE STATE with = in the code', `abc== ${state}`, 'code'],
    ['CODE and another state', 'abc other', 'state_mismatch'],
    ['an address with another state', address.replace(state, 'other'), 'state_mismatch'],
    ['a refusal', `http://127.0.0.1:8765/callback?error=access_denied&state=${state}`, 'error'],
  ])('%s', (_, line, answer) => {
    expect(word(line)).toBe(answer);
  });

  test('rule 25: an issuer in the query is judged with the grant in the fragment', () => {
    const seen: (string | undefined)[] = [];
    const note = (parameters: ReadonlyMap<string, string>) => void seen.push(parameters.get('iss'));
    readPaste(fragment.replace('#', '?iss=https%3A%2F%2Fa.example#'), note);
    readPaste(`${fragment.replace('#', '?iss=https%3A%2F%2Fa.example#')}&iss=https%3A%2F%2Fb.example`, note);
    expect(seen).toEqual(['https://a.example', 'https://b.example']);
  });
  test('rule 32: a pasted address with the grant in its fragment', () => {
    expect(word(fragment, 'implicit')).toBe('implicit_grant');
    expect(word(fragment.replace('#', '?'), 'implicit')).toBe('malformed');
    expect(word(fragment, 'code')).toBe('malformed');
  });
});

describe('a response without its state leaves the login armed', () => {
  test.each([
    'abc',
    'abc==',
    'http://127.0.0.1:8765/callback?code=abc',
    'http://x/#access_token=t',
    '?error=access_denied',
  ])('%s', (line) => {
    expect(word(line)).toBe('incomplete');
  });
});

describe('what is no response leaves the login armed', () => {
  test.each([
    ['nothing', ''],
    ['blanks', '  \t '],
    ['a sentence', 'what am I to paste'],
    ['the authorization URL', `https://cloud.example.com/v1/oauth/authorize?client_id=x&state=${state}`],
    ['a repeated parameter', `${address}&code=other`],
    ['control characters', `${address}\x07`],
    ['other letters', `${address}é`],
    ['more than 8 KiB', `${address}&x=${'y'.repeat(maxPasteLength)}`],
  ])('%s', (_, line) => {
    expect(word(line)).toBe('unreadable');
  });
});
