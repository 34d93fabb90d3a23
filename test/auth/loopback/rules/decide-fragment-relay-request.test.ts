import { describe, expect, test } from 'vitest';
import { table, word } from '../decision-table.ts';
import { armed, expected, host, relayed, relayHeaders, request, state, withHeaders } from '../loopback-fixture.ts';

const implicit = expected('implicit');
const grant = `access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`;

describe('rule 31: the relay hears its own page alone', () => {
  const swap = (name: string, ...values: readonly string[]) => {
    const index = relayHeaders.indexOf(name);
    return withHeaders(...relayHeaders.toSpliced(index, 2, ...values.flatMap((value) => [name, value])));
  };
  table(
    [
      ['a grant', relayed(grant), 'taken implicit_grant'],
      ['an error', relayed(`error=access_denied&state=${state}`), 'taken error'],
      ['another state', relayed('access_token=t&token_type=bearer&expires_in=1&state=other'), 'taken state_mismatch'],
      ['no state', relayed('access_token=t&token_type=bearer&expires_in=1'), 'taken state_mismatch'],
      ['neither token nor error', relayed(`state=${state}`), 'not_a_response'],
      ['a grant that is not bearer', relayed(grant.replace('bearer', 'mac')), 'taken malformed'],
      ['a token and an error', relayed(`${grant}&error=access_denied`), 'taken malformed'],
      ['no Origin', relayed(grant, swap('Origin')), 'forbidden'],
      ['Origin null', relayed(grant, swap('Origin', 'null')), 'forbidden'],
      ['Origin of another port', relayed(grant, swap('Origin', 'http://127.0.0.1:1')), 'forbidden'],
      ['two Origins', relayed(grant, swap('Origin', `http://${host}`, `http://${host}`)), 'forbidden'],
      ['cross-site', relayed(grant, swap('Sec-Fetch-Site', 'cross-site')), 'forbidden'],
      ['same-site', relayed(grant, swap('Sec-Fetch-Site', 'same-site')), 'forbidden'],
      ['no Sec-Fetch-Site', relayed(grant, swap('Sec-Fetch-Site')), 'taken implicit_grant'],
      ['a form', relayed(grant, swap('Content-Type', 'application/x-www-form-urlencoded')), 'forbidden'],
      ['plain text', relayed(grant, swap('Content-Type', 'text/plain')), 'forbidden'],
      ['a charset', relayed(grant, swap('Content-Type', 'application/json; charset=UTF-8')), 'taken implicit_grant'],
      ['another nonce', relayed(grant, {}, 'other'), 'forbidden'],
      ['an empty nonce', relayed(grant, {}, ''), 'forbidden'],
      ['a token in the query', relayed(grant, { rawTarget: `/callback/fragment?${grant}` }), 'not_a_response'],
      ['any query', relayed(grant, { rawTarget: '/callback/fragment?x=1' }), 'not_a_response'],
      ['no JSON', relayed('', { body: { kind: 'text', text: '{' } }), 'not_a_response'],
      ['a JSON list', relayed('', { body: { kind: 'text', text: '[]' } }), 'not_a_response'],
      [
        'a nonce that is no text',
        relayed('', { body: { kind: 'text', text: '{"nonce":1,"fragment":"x"}' } }),
        'not_a_response',
      ],
      ['a token in the query', request(`/callback?access_token=t&state=${state}`), 'taken malformed'],
    ],
    armed,
    implicit,
  );
  test('the body is read only behind every check of the headers', () => {
    const unread = { method: 'POST', rawTarget: '/callback/fragment', peerAddress: '::1' } as const;
    expect(word({ ...unread, rawHeaders: relayHeaders }, armed, implicit)).toBe('read_body');
    expect(word({ ...unread, rawHeaders: ['Host', host] }, armed, implicit)).toBe('forbidden');
  });
});
