import { describe, expect, it } from 'vitest';
import { validateResponse } from '../../../src/auth/oauth/authorize.ts';
import {
  codeRequest,
  decodeRevocation,
  decodeTokenResponse,
  type OAuthClient,
  type RawTokenResponse,
  refreshRequest,
  revokeRequest,
  sendTokenRequest,
} from '../../../src/auth/oauth/token.ts';
import { Secret } from '../../../src/base/secret.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { undiciSender } from '../../../src/platform/undici-sender.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const client: OAuthClient = {
  authOrigin: 'https://cloud.example',
  clientId: 'client-1',
  clientSecret: new Secret('shh+&'),
  tokenParams: 'query',
};
const body: OAuthClient = { ...client, tokenParams: 'body' };
const redirectUri = 'http://127.0.0.1:8765/callback';
const token = new Secret('rt/1');

function code() {
  const judged = validateResponse(
    new Map([
      ['code', 'c 1'],
      ['state', 'S'],
    ]),
    'query',
    { state: 'S', flow: 'code' },
  );
  if (judged?.kind !== 'code') throw new Error('no code');
  return judged.code;
}

describe('parameters in the query', () => {
  it('of an exchange are those of the specification and the verifier', () => {
    const request = codeRequest(client, code(), redirectUri, new Secret('v'));
    expect(request.url.reveal()).toBe(
      'https://cloud.example/v1/oauth/token?grant_type=authorization_code&code=c+1&client_id=client-1&client_secret=shh%2B%26&redirect_uri=http%3A%2F%2F127.0.0.1%3A8765%2Fcallback&code_verifier=v',
    );
    expect(request.body).toBeUndefined();
  });

  it('of a refresh hold no client credentials', () => {
    expect(refreshRequest(client, token).url.reveal()).toBe(
      'https://cloud.example/v1/oauth/token?grant_type=refresh_token&refresh_token=rt%2F1',
    );
  });

  it('of a revocation hold the token alone', () => {
    expect(revokeRequest(client, token).url.reveal()).toBe('https://cloud.example/v1/oauth/revoke?token=rt%2F1');
  });

  it('do not print', () => {
    const request = codeRequest(client, code(), redirectUri, undefined);
    expect(JSON.parse(JSON.stringify(request))).toEqual({
      url: 'https://cloud.example/v1/oauth/token',
      secrets: ['[secret]', '[secret]'],
    });
  });
});

describe('parameters in a form', () => {
  it.each([
    ['exchange', codeRequest(body, code(), redirectUri, undefined), 'grant_type=authorization_code&code=c+1&'],
    ['refresh', refreshRequest(body, token), 'grant_type=refresh_token&refresh_token=rt%2F1&'],
    ['revocation', revokeRequest(body, token), 'token=rt%2F1&'],
  ])('of a %s hold the client credentials, and the address nothing', (_what, request, start) => {
    expect(request.url.reveal()).toMatch(/^https:\/\/cloud\.example\/v1\/oauth\/(token|revoke)$/);
    expect(request.body?.reveal()).toContain('client_id=client-1&client_secret=shh%2B%26');
    expect(request.body?.reveal().startsWith(start)).toBe(true);
    expect(`${request.body}`).toBe('[form]');
  });

  it('of a public client hold no secret', () => {
    const open: OAuthClient = { authOrigin: client.authOrigin, clientId: 'client-1', tokenParams: 'body' };
    expect(refreshRequest(open, token).body?.reveal()).toBe(
      'grant_type=refresh_token&refresh_token=rt%2F1&client_id=client-1',
    );
  });
});

describe('credentials in the Authorization header', () => {
  const odd: OAuthClient = {
    ...client,
    clientId: 'a:b c',
    clientSecret: new Secret('s+1é%/=~'),
    tokenParams: 'basic',
  };
  it.each([
    [
      'exchange',
      codeRequest(odd, code(), redirectUri, undefined),
      /^grant_type=authorization_code&code=c\+1&redirect_uri=/,
    ],
    ['refresh', refreshRequest(odd, token), /^grant_type=refresh_token&refresh_token=rt%2F1$/],
    ['revocation', revokeRequest(odd, token), /^token=rt%2F1$/],
  ])(
    'of a %s are encoded where they would be read as something else, and stand nowhere else',
    (_what, request, form) => {
      const pair = request.authorization?.reveal().replace('Basic ', '') ?? '';
      expect(Buffer.from(pair, 'base64').toString()).toBe('a%3Ab%20c:s%2B1%C3%A9%25/=~');
      expect(request.body?.reveal()).toMatch(form);
      expect(request.body?.reveal()).not.toMatch(/client_/);
      expect(request.secrets.map((one) => one.reveal())).toEqual(expect.arrayContaining([pair, 's+1é%/=~']));
      expect(`${request.authorization}`).toBe('[basic]');
    },
  );

  it('of a public client are its name in the form', () => {
    const open: OAuthClient = { authOrigin: client.authOrigin, clientId: 'client-1', tokenParams: 'basic' };
    const request = refreshRequest(open, token);
    expect(request.authorization).toBeUndefined();
    expect(request.body?.reveal()).toBe('grant_type=refresh_token&refresh_token=rt%2F1&client_id=client-1');
  });
});

describe('a request to the token endpoint', () => {
  async function ask(
    answerer: RequestHandler,
    tokenParams: OAuthClient['tokenParams'] = 'query',
    signal = AbortSignal.timeout(5_000),
  ) {
    const server = await serverFor(answerer);
    const send = await undiciSender({ env: {}, fresh: true });
    const request = refreshRequest({ ...client, authOrigin: server.origin, tokenParams }, token);
    return { server, raw: await sendTokenRequest(send, request, signal) };
  }

  it('is a POST that asks for JSON and has no body when its parameters stand in the query', async () => {
    const { server, raw } = await ask((_, response) =>
      reply(response, 200, '{}', { 'content-type': 'application/json; charset=utf-8' }),
    );
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      body: '',
      headers: { accept: 'application/json' },
    });
    expect(server.seen[0]?.headers['content-type']).toBeUndefined();
    expect(server.seen[0]?.headers.authorization).toBeUndefined();
    expect(raw).toEqual({ status: 200, contentType: 'application/json', body: '{}' });
  });

  it('has the credentials of the client in its header where the server wants them there', async () => {
    const { server } = await ask((_, response) => reply(response, 200, '{}'), 'basic');
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${btoa('client-1:shh%2B&')}`);
    expect(server.seen[0]?.body).toBe('grant_type=refresh_token&refresh_token=rt%2F1');
  });

  it('keeps those credentials out of the answer of a server that repeats them', async () => {
    const { raw } = await ask(
      ({ headers: sent }, response) =>
        reply(response, 401, {
          error: 'invalid_client',
          error_description: `${sent.authorization?.split(' ')[1]}`,
        }),
      'basic',
    );
    expect(raw.body).toContain('invalid_client');
    expect(raw.body).not.toContain(btoa('client-1:shh%2B&'));
  });

  it('keeps secrets and long texts out of the content type, which errors quote', async () => {
    const secret = new Secret('rt-hunter2-hunter2');
    const server = await serverFor((_, response) =>
      reply(response, 200, '<html>', { 'content-type': `text/x-${secret.reveal()}${'y'.repeat(300)}; charset=utf-8` }),
    );
    const request = refreshRequest({ ...client, authOrigin: server.origin }, secret);
    const raw = await sendTokenRequest(await undiciSender({ env: {} }), request, AbortSignal.timeout(5_000));
    expect(raw.contentType).toMatch(/^text\/x-\[secret\]y+/);
    expect(raw.contentType.length).toBeLessThanOrEqual(100);
  });

  it('names the type of a form', async () => {
    const { server } = await ask((_, response) => reply(response, 200, '{}'), 'body');
    expect(server.seen[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(server.seen[0]?.url).toBe('/v1/oauth/token');
  });

  it('never follows a redirect', async () => {
    const { server, raw } = await ask((_, response) => reply(response, 307, '', { location: '/elsewhere' }));
    expect(server.seen).toHaveLength(1);
    expect(decodeTokenResponse(raw)).toMatchObject({ kind: 'malformed', status: 307, reason: expect.any(String) });
  });

  it.each([
    [1024 * 1024, 1024 * 1024],
    [1024 * 1024 + 1, undefined],
  ])('of a body of %d bytes reads %s', async (size, length) => {
    const { raw } = await ask((_, response) => reply(response, 200, 'x'.repeat(size)));
    expect(raw.body?.length).toBe(length);
    expect(decodeTokenResponse(raw)).toMatchObject({ kind: 'malformed', status: 200 });
  });

  it('with an answer that is cut off is a request that was sent', async () => {
    const cut: RequestHandler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"access_token":"a');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(ask(cut)).rejects.toMatchObject({ kind: 'connection', sent: true });
  });

  it('with a slow answer ends at its deadline and shows no secret', async () => {
    const failure = await ask(() => undefined, 'query', AbortSignal.timeout(150)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SendError);
    expect(failure).toMatchObject({ kind: 'timeout', sent: true });
    expect(String(failure)).not.toContain('rt');
  });
});

describe('an answer of the token endpoint', () => {
  const granted = '{"access_token":"a","token_type":"Bearer","expires_in":"60"}';
  const raw = (status: number, text: string | undefined, contentType = 'application/json'): RawTokenResponse => ({
    status,
    contentType,
    body: text,
  });

  it.each([
    [raw(200, granted), { kind: 'granted' }],
    [raw(201, granted), { kind: 'granted' }],
    [raw(200, granted, 'text/plain'), { kind: 'granted' }],
    [
      raw(400, '{"error":"invalid_grant","error_description":"used"}'),
      { kind: 'refused', error: 'invalid_grant', description: 'used', status: 400 },
    ],
    [raw(401, '{"error":"invalid_client"}'), { kind: 'refused', error: 'invalid_client', status: 401 }],
    [raw(500, '{"error":"server_error"}'), { kind: 'refused', error: 'server_error', status: 500 }],
    [raw(200, '{"error":"invalid_grant"}'), { kind: 'refused', error: 'invalid_grant', status: 200 }],
    ...['null', '""'].flatMap((absent): [RawTokenResponse, object][] => [
      [raw(200, granted.replace('{', `{"error":${absent},`)), { kind: 'granted' }],
      [
        raw(200, `{"error":"invalid_grant","access_token":${absent}}`),
        { kind: 'refused', error: 'invalid_grant', status: 200 },
      ],
      [raw(400, `{"error":${absent}}`), { kind: 'malformed', status: 400 }],
    ]),
    // What is not cleared of secrets is not told.
    [raw(200, '{"error":"bad code abc","error_description":"x"}'), { kind: 'malformed', status: 200 }],
    // A token that came is never thrown away for a word beside it.
    [raw(200, '{"error":"invalid_grant","access_token":"a"}'), { kind: 'malformed', status: 200 }],
    [raw(200, '<html>', 'text/html'), { kind: 'malformed', status: 200 }],
    [raw(200, '', ''), { kind: 'malformed', status: 200 }],
    [raw(400, '{"message":"no"}'), { kind: 'malformed', status: 400 }],
    [raw(400, '[]'), { kind: 'malformed' }],
    [raw(400, '{"error":7}'), { kind: 'malformed' }],
    [raw(302, granted), { kind: 'malformed', status: 302 }],
    [raw(304, ''), { kind: 'malformed', status: 304 }],
    [raw(200, undefined), { kind: 'malformed', status: 200 }],
  ])('%j is %j', (answer, expected) => {
    const result = decodeTokenResponse(answer);
    expect(result).toMatchObject(expected);
    if (result.kind === 'malformed') expectGolden('errors', result.reason);
  });

  it.each([
    [raw(200, '{}'), undefined],
    [raw(200, ''), undefined],
    [raw(204, '', ''), undefined],
    [raw(400, '{"error":"unsupported_token_type"}'), { kind: 'refused', error: 'unsupported_token_type', status: 400 }],
    [raw(307, ''), { kind: 'malformed', status: 307 }],
    [raw(404, '<html>', 'text/html'), { kind: 'malformed', status: 404 }],
    [raw(202, granted), { kind: 'malformed', status: 202 }],
  ])('to a revocation: %j leaves %j', (answer, left) => {
    const failure = decodeRevocation(answer);
    if (left === undefined) expect(failure).toBeUndefined();
    else expect(failure).toMatchObject(left);
  });
});
