import {
  addFault,
  changeClock,
  changeConsent,
  clearFaults,
  clearRequests,
  describeSandbox,
  expireToken,
  getClock,
  getConsent,
  getSnapshot,
  health,
  issueTokens,
  listChoices,
  listFaults,
  listRequests,
  postReset,
  refreshTokens,
  restoreSnapshot,
  revokeTokens,
} from './admin.ts';
import type { Reply } from './http/reply.ts';
import type { HttpRequest } from './http/request.ts';
import type { LoginFinder } from './login-timeline.ts';
import { authorizationFields, authorize, loginOfAuthorizePage, submitConsent } from './oauth/authorize.ts';
import {
  getTokenInfo,
  loginOfRevocation,
  loginOfTokenRequest,
  postRevoke,
  postToken,
  revocationFields,
  tokenFields,
} from './oauth/token.ts';
import { applicationsPage, revokeApplication } from './panel/applications.ts';
import { clockAndFaultsPage, submitClock, submitFault } from './panel/clock-and-faults.ts';
import { dropletsPage } from './panel/droplets.ts';
import { homePage, redirectToPanel } from './panel/home.ts';
import { migrationsPage, submitStop } from './panel/migrations.ts';
import type { PanelHandler } from './panel/panel-session.ts';
import { requestsPage } from './panel/request-log.ts';
import { loginOfSignIn, signInPage, submitSignIn, submitSignOut } from './panel/sign-in.ts';
import { timelinePage } from './panel/timeline.ts';
import { tokensPage } from './panel/tokens.ts';
import type { OAuthScope } from './records.ts';
import type { LogFields } from './request-log.ts';
import type { PublicHandler } from './service.ts';
import { type ApiHandler, bearerFields, loginOfBearer } from './v2/api.ts';
import { deleteDroplet, deleteTaggedDroplets, getDroplet, getDroplets, postDroplets } from './v2/droplets.ts';
import { getAccount, getAction, getActions, getDatabases, getImages, getRegions, getSizes } from './v2/lists.ts';
import { deleteMigration, getMigration, putMigration } from './v2/migrations.ts';

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A placeholder `{…}` in a route path matches one path segment. */
  readonly path: string;
}

/** The scope of a route determines who may send the request, and therefore the arguments of the handler. */
export type AuthRoute = Endpoint &
  (
    | {
        readonly scope: 'public' | 'admin';
        readonly handle: (...args: Parameters<PublicHandler>) => Reply | Promise<Reply>;
        /** Fields for the request log that are known before the reply exists. */
        readonly logFields?: (request: HttpRequest) => LogFields;
        readonly trace?: LoginFinder;
      }
    | {
        readonly scope: 'session';
        readonly handle: PanelHandler;
        readonly logFields?: undefined;
        readonly trace?: undefined;
      }
  );

export type ApiRoute = Endpoint & {
  readonly scope: OAuthScope;
  readonly handle: ApiHandler;
};

/** For programs that wait until the sandbox serves requests: no token, any Host header, no faults, and not in the request log. */
type HealthRoute = Endpoint & { readonly scope: 'none'; readonly handle: () => Reply };

export type SandboxRoute = AuthRoute | ApiRoute;

const AUTHORIZATION_LOGGING = {
  logFields: authorizationFields,
  trace: loginOfAuthorizePage,
};
const MIGRATION = '/v2/databases/{uuid}/online-migration';

/** Lists every endpoint of the sandbox, by origin. A route for GET also replies to HEAD requests. */
export const SANDBOX_ROUTES: {
  /** Of both origins. */
  readonly both: readonly HealthRoute[];
  readonly auth: readonly AuthRoute[];
  readonly api: readonly ApiRoute[];
} = {
  both: [{ method: 'GET', path: '/healthz', scope: 'none', handle: health }],
  auth: [
    {
      method: 'GET',
      path: '/v1/oauth/authorize',
      scope: 'public',
      handle: authorize,
      ...AUTHORIZATION_LOGGING,
    },
    {
      method: 'POST',
      path: '/v1/oauth/authorize',
      scope: 'public',
      handle: submitConsent,
      ...AUTHORIZATION_LOGGING,
    },
    {
      method: 'POST',
      path: '/v1/oauth/token',
      scope: 'public',
      handle: postToken,
      logFields: tokenFields,
      trace: loginOfTokenRequest,
    },
    {
      method: 'POST',
      path: '/v1/oauth/revoke',
      scope: 'public',
      handle: postRevoke,
      logFields: revocationFields,
      trace: loginOfRevocation,
    },
    {
      method: 'GET',
      path: '/v1/oauth/token/info',
      scope: 'public',
      handle: getTokenInfo,
      logFields: bearerFields,
      trace: loginOfBearer,
    },

    { method: 'GET', path: '/', scope: 'public', handle: redirectToPanel },
    { method: 'GET', path: '/panel', scope: 'session', handle: homePage },
    { method: 'GET', path: '/panel/sign-in', scope: 'public', handle: signInPage },
    {
      method: 'POST',
      path: '/panel/sign-in',
      scope: 'public',
      handle: submitSignIn,
      trace: loginOfSignIn,
    },
    { method: 'POST', path: '/panel/sign-out', scope: 'session', handle: submitSignOut },
    { method: 'GET', path: '/panel/applications', scope: 'session', handle: applicationsPage },
    { method: 'POST', path: '/panel/applications/revoke', scope: 'session', handle: revokeApplication },
    { method: 'GET', path: '/panel/tokens', scope: 'session', handle: tokensPage },
    { method: 'GET', path: '/panel/droplets', scope: 'session', handle: dropletsPage },
    { method: 'GET', path: '/panel/migrations', scope: 'session', handle: migrationsPage },
    { method: 'POST', path: '/panel/migrations/stop', scope: 'session', handle: submitStop },
    { method: 'GET', path: '/panel/requests', scope: 'session', handle: requestsPage },
    { method: 'GET', path: '/panel/timeline', scope: 'session', handle: timelinePage },
    { method: 'GET', path: '/panel/clock', scope: 'session', handle: clockAndFaultsPage },
    { method: 'POST', path: '/panel/clock', scope: 'session', handle: submitClock },
    { method: 'POST', path: '/panel/faults', scope: 'session', handle: submitFault },

    { method: 'GET', path: '/_sandbox/choices', scope: 'admin', handle: listChoices },
    { method: 'GET', path: '/_sandbox/clock', scope: 'admin', handle: getClock },
    { method: 'POST', path: '/_sandbox/clock', scope: 'admin', handle: changeClock },
    { method: 'GET', path: '/_sandbox/consent', scope: 'admin', handle: getConsent },
    { method: 'POST', path: '/_sandbox/consent', scope: 'admin', handle: changeConsent },
    { method: 'GET', path: '/_sandbox/faults', scope: 'admin', handle: listFaults },
    { method: 'POST', path: '/_sandbox/faults', scope: 'admin', handle: addFault },
    { method: 'DELETE', path: '/_sandbox/faults', scope: 'admin', handle: clearFaults },
    { method: 'GET', path: '/_sandbox/requests', scope: 'admin', handle: listRequests },
    { method: 'DELETE', path: '/_sandbox/requests', scope: 'admin', handle: clearRequests },
    { method: 'POST', path: '/_sandbox/reset', scope: 'admin', handle: postReset },
    { method: 'POST', path: '/_sandbox/restore', scope: 'admin', handle: restoreSnapshot },
    { method: 'GET', path: '/_sandbox/snapshot', scope: 'admin', handle: getSnapshot },
    { method: 'POST', path: '/_sandbox/tokens', scope: 'admin', handle: issueTokens },
    { method: 'POST', path: '/_sandbox/tokens/expire', scope: 'admin', handle: expireToken },
    { method: 'POST', path: '/_sandbox/tokens/refresh', scope: 'admin', handle: refreshTokens },
    { method: 'POST', path: '/_sandbox/tokens/revoke', scope: 'admin', handle: revokeTokens },
    { method: 'GET', path: '/_sandbox/world', scope: 'admin', handle: describeSandbox },
  ],
  api: [
    { method: 'GET', path: '/v2/account', scope: 'read', handle: getAccount },
    { method: 'GET', path: '/v2/actions', scope: 'read', handle: getActions },
    { method: 'GET', path: '/v2/actions/{id}', scope: 'read', handle: getAction },
    { method: 'GET', path: '/v2/droplets', scope: 'read', handle: getDroplets },
    { method: 'POST', path: '/v2/droplets', scope: 'read write', handle: postDroplets },
    { method: 'DELETE', path: '/v2/droplets', scope: 'read write', handle: deleteTaggedDroplets },
    { method: 'GET', path: '/v2/droplets/{id}', scope: 'read', handle: getDroplet },
    { method: 'DELETE', path: '/v2/droplets/{id}', scope: 'read write', handle: deleteDroplet },
    { method: 'GET', path: '/v2/regions', scope: 'read', handle: getRegions },
    { method: 'GET', path: '/v2/sizes', scope: 'read', handle: getSizes },
    { method: 'GET', path: '/v2/images', scope: 'read', handle: getImages },
    { method: 'GET', path: '/v2/databases', scope: 'read', handle: getDatabases },
    { method: 'PUT', path: MIGRATION, scope: 'read write', handle: putMigration },
    { method: 'GET', path: MIGRATION, scope: 'read', handle: getMigration },
    { method: 'DELETE', path: MIGRATION, scope: 'read write', handle: deleteMigration },
    { method: 'DELETE', path: `${MIGRATION}/{id}`, scope: 'read write', handle: deleteMigration },
  ],
};
