import { expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { HttpSendError } from '../../src/platform/http-sender.ts';
import { endSessionGrant } from '../../src/session/end-session-grant.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { sharedMachines } from './shared-machines.ts';

async function oneMachine() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const machine = all.machine('ci-1#a');
  const record = await all.login(machine);
  const { binding, store, createSender } = machine.deps;
  const client = { authOrigin: binding.authOrigin, clientId: binding.clientId, tokenParams: 'query' } as const;
  return { sandbox, session: { record, isEndedElsewhere: false }, store, createSender, client: async () => client };
}

it('a shared session: the access token is revoked, although the connection for using the refresh token was lost', async () => {
  const { sandbox, session, createSender, ...deps } = await oneMachine();
  const losing = async (): ReturnType<typeof createSender> => {
    const send = await createSender();
    return async (url, init) => {
      if (String(url).includes('grant_type=refresh_token'))
        throw new HttpSendError('connection', true, 'the connection was lost');
      return send(url, init);
    };
  };
  const end = await endSessionGrant({ ...deps, createSender: losing, probe: async () => 'refused' }, session);
  expect(end).toMatchObject({ kind: 'unproven', error: { code: 'unreachable', exitCode: 6 } });
  expect(sandbox.requests('POST /v1/oauth/revoke').map(({ status }) => status)).toEqual([200]);
});

it('a shared session of which neither the refresh nor the revocation is proven: the error names both', async () => {
  const { sandbox, session, ...deps } = await oneMachine();
  const createSender = async () => async () => ({
    status: 503,
    headers: new Headers(),
    body: null,
    text: async () => '',
  });
  const end = await endSessionGrant({ ...deps, createSender, probe: async () => 'accepted' }, session);
  if (end.kind !== 'unproven') throw new Error(end.kind);
  expectGolden('auth-share', errorText(end.error).replaceAll(sandbox.ready.auth_url, 'AUTH_URL'));
});

it('a resource API that cannot be reached: the error does not call a revoked token valid', async () => {
  const { session, ...deps } = await oneMachine();
  const probe = async () => {
    throw new CliError('unreachable', 'could not reach the resource API');
  };
  const end = await endSessionGrant({ ...deps, probe }, session);
  expect(end).toMatchObject({ kind: 'unproven', error: { code: 'unreachable', exitCode: 6 } });
  expect(end.kind === 'unproven' && end.error.message).toContain('revoked');
});
