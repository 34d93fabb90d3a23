import { describe, expect, test } from 'vitest';
import { table, word } from '../decision-table.ts';
import { armed, expected, genuine, host, relayed, request, state, taken, withHeaders } from '../loopback-fixture.ts';

const implicit = expected('implicit');
const grant = `access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`;

describe('rule 20: state is judged before error and before code', () => {
  table([
    ['the right state', request(genuine), 'taken code'],
    ['another state', request('/callback?code=c&state=other'), 'taken state_mismatch'],
    ['no state', request('/callback?code=c'), 'taken state_mismatch'],
    ['an empty state', request('/callback?code=c&state='), 'taken state_mismatch'],
    ['a state that only begins right', request(`/callback?code=c&state=${state}x`), 'taken state_mismatch'],
    ['an error with another state', request('/callback?error=access_denied&state=other'), 'taken state_mismatch'],
    ['an error without state', request('/callback?error=access_denied'), 'taken state_mismatch'],
    ['an error with the right state', request(`/callback?error=access_denied&state=${state}`), 'taken error'],
    ['neither code nor error', request(`/callback?state=${state}`), 'not_a_response'],
    ['no query', request('/callback'), 'not_a_response'],
    ['an access token without the state', request('/callback?access_token=t'), 'not_a_response'],
  ]);
  describe('half a set of Sec-Fetch headers is noise', () => {
    const half = (...headers: readonly string[]) =>
      request('/callback?code=c&state=other', withHeaders('Host', host, ...headers));
    table([
      ['mode alone', half('Sec-Fetch-Mode', 'navigate'), 'not_a_response'],
      ['destination alone', half('Sec-Fetch-Dest', 'document'), 'not_a_response'],
      ['site alone', half('Sec-Fetch-Site', 'none'), 'not_a_response'],
    ]);
  });
});

describe('rule 21: a response that says two things is malformed', () => {
  table([
    ['code and error', request(`${genuine}&error=access_denied`), 'taken malformed'],
    ['code and access_token', request(`${genuine}&access_token=t`), 'taken malformed'],
    ['access_token alone', request(`/callback?access_token=t&state=${state}`), 'taken malformed'],
    ['code and error with another state', request('/callback?code=c&error=e&state=o'), 'taken state_mismatch'],
  ]);
});

describe('rule 22: one response ends the login', () => {
  table(
    [
      ['the same again', request(genuine), 'already_finished'],
      ['another state', request('/callback?code=c&state=other'), 'already_finished'],
      ['noise stays noise', request('/callback'), 'not_a_response'],
      ['an img stays refused', request(genuine, withHeaders('Host', host, 'Sec-Fetch-Dest', 'image')), 'forbidden'],
    ],
    taken,
  );
  table(
    [
      ['the bridge', request('/callback'), 'already_finished'],
      ['the relay', relayed(grant), 'already_finished'],
    ],
    taken,
    implicit,
  );
});

describe('rule 30: with the implicit flow the bare callback serves the bridge', () => {
  table(
    [
      ['no query', request('/callback'), 'bridge'],
      ['an empty query', request('/callback?'), 'bridge'],
      [
        'an error in the query is judged at once',
        request(`/callback?error=access_denied&state=${state}`),
        'taken error',
      ],
      ['an error of another login', request('/callback?error=access_denied&state=other'), 'taken state_mismatch'],
      ['a code', request(genuine), 'taken malformed'],
      ['an issuer alone (RFC 9207)', request('/callback?iss=https%3A%2F%2Fauth.example'), 'bridge'],
      ['an issuer among other things', request('/callback?iss=https%3A%2F%2Fauth.example&x=1'), 'not_a_response'],
      ['anything else', request('/callback?x=1'), 'not_a_response'],
      ['in a frame', request('/callback', withHeaders('Host', host, 'Sec-Fetch-Dest', 'iframe')), 'forbidden'],
    ],
    armed,
    implicit,
  );
  const ownQuery = expected('implicit', { callbackQuery: 'app=1' });
  test('a callback URL with a query of its own keeps it', () => {
    expect(word(request('/callback?app=1'), armed, ownQuery)).toBe('bridge');
    expect(word(request('/callback?app=1&iss=https://auth.example'), armed, ownQuery)).toBe('bridge');
    expect(word(request('/callback'), armed, ownQuery)).toBe('not_a_response');
  });
});
