import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decision, decide, type HelperRequest, headerValues, pathOf } from '../../src/auth/loopback/decide.ts';
import {
  type HelperResponse,
  jsonResponse,
  pageResponse,
  redirectResponse,
  refusalResponse,
} from '../../src/auth/loopback/http.ts';
import { bridgePage } from '../../src/auth/loopback/pages.ts';
import { readPaste } from '../../src/auth/loopback/pasted.ts';
import { type AuthorizationResult, validateResponse } from '../../src/auth/oauth/authorize.ts';
import { expected, host, state } from '../auth/loopback/loopback-fixture.ts';
import { flow, phase, piece, request } from './random-requests.ts';

/** 10,000 in every run; `CLOUDCTL_TEST_RUNS=1000000` for the long one. */
const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 10_000);
const settings = { numRuns: runs };

/** What the server would answer for a decision, as it does. */
function answerOf(decision: Decision<AuthorizationResult>): HelperResponse | undefined {
  switch (decision.kind) {
    case 'refuse':
      return refusalResponse(decision);
    case 'bridge':
      return pageResponse(bridgePage('/callback/fragment', 'nonce-of-the-bridge'));
    case 'start':
      return redirectResponse('https://cloud.example.com/v1/oauth/authorize');
    case 'taken':
      return decision.place === 'query' ? redirectResponse('/done/d1') : jsonResponse({ next: '/done/d1' });
    default:
      return undefined;
  }
}

const proceeds: readonly AuthorizationResult['kind'][] = ['code', 'implicit_grant'];

describe('the helper as a pure function', () => {
  test('the requests that are made up reach every decision, so that the rules below are asked something', () => {
    const reached = new Map<string, number>();
    for (const [input, at, of] of fc.sample(fc.tuple(request, phase, flow), { numRuns: 20_000, seed: 1 })) {
      const decision = decide(expected(of), at, input);
      const words =
        decision.kind === 'taken'
          ? `taken ${decision.accepted.kind}`
          : decision.kind === 'refuse'
            ? decision.reason
            : decision.kind;
      reached.set(words, (reached.get(words) ?? 0) + 1);
    }
    const wanted = [
      'taken code',
      'taken implicit_grant',
      'taken state_mismatch',
      'taken error',
      'taken malformed',
      'bridge',
      'start',
      'done',
      'read_body',
    ];
    const refusals = [
      'not_a_response',
      'forbidden',
      'not_found',
      'method_not_allowed',
      'already_finished',
      'misdirected',
      'body_too_large',
      'expectation_failed',
    ];
    for (const words of [...wanted, ...refusals])
      expect({ words, often: reached.get(words) ?? 0 }).toMatchObject({
        often: expect.toSatisfy((count: number) => count >= 3),
      });
  });

  test('it never throws, and nothing changes a login that is not armed', () => {
    fc.assert(
      fc.property(request, phase, flow, (input, at, of) => {
        const decision = decide(expected(of), at, input);
        if (at.kind !== 'armed') expect(['taken', 'start']).not.toContain(decision.kind);
      }),
      settings,
    );
  });

  test('nothing is taken without its method, one right Host, the raw path and a peer of this machine', () => {
    fc.assert(
      fc.property(request, flow, (input, of) => {
        const decision = decide(expected(of), { kind: 'armed', started: false }, input);
        if (decision.kind !== 'taken') return;
        const [path, verb] = decision.place === 'query' ? ['/callback', 'GET'] : ['/callback/fragment', 'POST'];
        expect(pathOf(input)).toBe(path);
        expect(input.method).toBe(verb);
        expect(headerValues(input, 'host')).toEqual([host]);
        expect(input.peerAddress).toMatch(/^(::ffff:)?127\.|^::1$/);
        for (const mode of headerValues(input, 'sec-fetch-mode'))
          expect(verb === 'GET' ? mode : 'navigate').toBe('navigate');
      }),
      settings,
    );
  });

  test('no code and no token is accepted without the exact state, once', () => {
    fc.assert(
      fc.property(request, flow, (input, of) => {
        const decision = decide(expected(of), { kind: 'armed', started: false }, input);
        if (decision.kind !== 'taken' || !proceeds.includes(decision.accepted.kind)) return;
        const sent = decision.place === 'query' ? input.rawTarget : input.body?.kind === 'text' ? input.body.text : '';
        expect(sent.split(state)).toHaveLength(2);
      }),
      settings,
    );
  });

  test('every answer carries the protecting headers and echoes no byte of what was sent', () => {
    const mark = 'Qq7Zx';
    fc.assert(
      fc.property(request, phase, flow, fc.nat(3), (input, at, of, where) => {
        const marked: HelperRequest = {
          ...input,
          rawTarget: where === 0 ? `${input.rawTarget}${mark}` : input.rawTarget,
          method: where === 1 ? `${input.method}${mark}` : input.method,
          rawHeaders: where === 2 ? [...input.rawHeaders, `X-${mark}`, mark] : input.rawHeaders,
          ...(where === 3
            ? { body: { kind: 'text', text: `{"fragment":"${mark}","nonce":"nonce-of-the-bridge"}` } as const }
            : {}),
        };
        const answer = answerOf(decide(expected(of), at, marked));
        if (answer === undefined) return;
        const text = JSON.stringify(answer);
        expect(text).not.toContain(mark);
        expect(text).not.toContain(state);
        expect(answer.headers['Content-Security-Policy']).toContain("default-src 'none'");
        expect(answer.headers['Cache-Control']).toBe('no-store');
        expect(answer.headers['X-Frame-Options']).toBe('DENY');
        expect(Object.keys(answer.headers).join()).not.toMatch(/access-control/i);
        expect(Object.values(answer.headers).join('')).not.toMatch(/[\r\n]/);
      }),
      settings,
    );
  });

  test('a body is read only for the relay, and only after everything else was right', () => {
    fc.assert(
      fc.property(request, flow, (input, of) => {
        const decision = decide(expected(of), { kind: 'armed', started: false }, input);
        if (decision.kind !== 'read_body') return;
        expect(of).toBe('implicit');
        expect(pathOf(input)).toBe('/callback/fragment');
        expect(headerValues(input, 'origin')).toEqual([`http://${host}`]);
      }),
      settings,
    );
  });
});

describe('what is pasted', () => {
  const judge = (parameters: ReadonlyMap<string, string>, place: 'query' | 'fragment') =>
    validateResponse(parameters, place, { state, flow: 'code' });
  const line = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc
      .array(
        fc.constantFrom('CODE', state, 'x', ' ', '\t', '"', "'", `http://${host}/callback?code=c&state=${state}`),
        { maxLength: 5 },
      )
      .map((words) => words.join(' ')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  );

  test('it never throws, and no code is accepted without the exact state', () => {
    fc.assert(
      fc.property(line, (text) => {
        const pasted = readPaste(text, judge);
        if (pasted.kind === 'accepted' && proceeds.includes(pasted.accepted.kind)) expect(text).toContain(state);
      }),
      settings,
    );
  });
});
