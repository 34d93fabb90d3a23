import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { type OnRefusedPeer, readPaste } from '../loopback/index.ts';
import {
  type AuthorizationResult,
  buildAuthorizationUrl,
  createPkce,
  createState,
  type OAuthClient,
  type Pkce,
  validateResponse,
} from '../oauth/index.ts';
import type { AuthorizationReceiver, AuthorizationReceiverOptions, LoginUrls } from './authorization-receiver.ts';
import type { OAuthLoginOptions } from './oauth-login-options.ts';

export interface AuthorizationUrlRedirectState {
  /** Whether a browser tab was already redirected to the authorization URL. */
  readonly isContinued: boolean;
}

export interface AuthorizationAttemptDeps {
  readonly client: OAuthClient;
  readonly callbackUrls: readonly string[];
  readonly issuer: string | undefined;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Prints the authorization URL and opens the browser; called once the listener is bound. */
  readonly showInstructions: (addresses: LoginUrls, options: AuthorizationUrlRedirectState) => Promise<void>;
  /** The lines that the user pastes, until `signal` is aborted. */
  readonly pastedLines: (signal: AbortSignal) => AsyncIterable<string>;
  readonly onRefusedPeer?: OnRefusedPeer;
  /** Called when the listener refused a request of which this part is too long. */
  readonly onOversizedRequest?: (part: 'headers' | 'body') => void;
  readonly reportRejectedPaste: (kind: 'incomplete' | 'unreadable') => Promise<void>;
}

/** One authorization request with its own state parameter and PKCE verifier, and the validation of its response. */
export interface AuthorizationAttempt extends AuthorizationReceiverOptions {
  readonly pkce: Pkce | undefined;
}

/** Creates the authorization request of a login, and the function that validates its response with the same state parameter. */
export function createAuthorizationAttempt(
  deps: AuthorizationAttemptDeps,
  request: OAuthLoginOptions,
): AuthorizationAttempt {
  const state = createState(deps.random);
  const pkce = request.pkce && request.flow === 'code' ? createPkce(deps.random) : undefined;
  const { authOrigin, clientId } = deps.client;
  const { flow, scope, prompt, accountHint } = request;
  return {
    callbackUrls: deps.callbackUrls,
    flow,
    authorizationOrigin: authOrigin,
    random: deps.random,
    clock: deps.clock,
    listenAddress: request.listenAddress,
    onRefusedPeer: deps.onRefusedPeer,
    onOversizedRequest: deps.onOversizedRequest,
    pkce,
    authorizationUrl: (redirectUri) =>
      buildAuthorizationUrl({
        authOrigin,
        clientId,
        redirectUri,
        flow,
        scope,
        state,
        prompt,
        accountHint: prompt === 'none' ? accountHint : undefined,
        challenge: pkce?.challenge,
      }),
    validate: (parameters, location) => validateResponse(parameters, location, { state, flow, issuer: deps.issuer }),
  };
}

/** Shows the instructions, then waits for the redirect or a pasted response, whichever is accepted first. */
export async function showInstructionsAndReceiveAuthorization(
  deps: AuthorizationAttemptDeps,
  { listen, isContinued }: Pick<OAuthLoginOptions, 'listen'> & AuthorizationUrlRedirectState,
  receiver: AuthorizationReceiver,
  authorization: AuthorizationAttempt,
  signal: AbortSignal,
): Promise<AuthorizationResult> {
  await deps.showInstructions(receiver, { isContinued });
  const reading = new AbortController();
  const pasted = readPastedResponses(deps, receiver, authorization, AbortSignal.any([signal, reading.signal]));
  // If the loopback listener waits for the redirect, an error in reading the terminal does not end the login.
  pasted.catch(() => undefined);
  try {
    if (listen) return await receiver.response;
    return await Promise.race([receiver.response, pasted.then(() => failUnlessAccepted(receiver))]);
  } finally {
    reading.abort();
  }
}

/** Returns when a pasted response was accepted or the input has ended. */
async function readPastedResponses(
  deps: AuthorizationAttemptDeps,
  receiver: AuthorizationReceiver,
  { validate }: AuthorizationAttempt,
  signal: AbortSignal,
): Promise<void> {
  for await (const line of deps.pastedLines(signal)) {
    if (line.trim() === '') continue;
    const pasted = readPaste(line, validate);
    if (pasted.kind === 'accepted') {
      receiver.accept(pasted.accepted);
      return;
    }
    await deps.reportRejectedPaste(pasted.kind);
  }
}

function failUnlessAccepted(receiver: AuthorizationReceiver): Promise<never> {
  if (receiver.isAccepted()) return new Promise<never>(() => {});
  throw new CliError('usage', 'no redirect URL was pasted before the input ended', {
    hint: 'run the command again and paste the whole address of the last page',
  });
}
