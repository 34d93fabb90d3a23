import { changeClock, showClock } from './admin/clock.ts';
import { changeConsentScript, showConsentScript } from './admin/consent-script.ts';
import { addFault, clearFaults, listFaults } from './admin/faults.ts';
import { clearRequestLog, listLoggedRequests } from './admin/request-log.ts';
import { resetSandbox } from './admin/reset.ts';
import { restoreStateSnapshot } from './admin/restore-snapshot.ts';
import { replyWithStateSnapshot } from './admin/snapshot.ts';
import { showSpecGaps } from './admin/spec-gaps.ts';
import { expireAccessToken, issueTokenPair, refreshTokenPair, revokeTokenPair } from './admin/tokens.ts';
import { showWorld } from './admin/world.ts';
import type { HttpReply } from './http/http-reply.ts';
import type { HttpRequest } from './http/http-request.ts';
import { authorizeLogFields, handleAuthorize, loginTraceOfAuthorize } from './oauth/authorization-endpoint.ts';
import { submitConsent } from './oauth/consent-form.ts';
import { handleRevocation, loginTraceOfRevocation, revocationLogFields } from './oauth/revocation-endpoint.ts';
import { handleTokenRequest, loginTraceOfTokenRequest, tokenRequestLogFields } from './oauth/token-endpoint.ts';
import { getTokenInfo, loginTraceOfTokenInfo, tokenInfoLogFields } from './oauth/token-info-endpoint.ts';
import { revokeApplication, showApplicationsPage } from './panel/applications.ts';
import { showClockAndFaultsPage, submitClockForm, submitFaultForm } from './panel/clock-and-faults.ts';
import { showDropletsPage } from './panel/droplets.ts';
import { redirectToPanel, showHomePage } from './panel/home.ts';
import { showMigrationsPage, submitStopMigration } from './panel/migrations.ts';
import type { PanelSession } from './panel/panel-session.ts';
import { showRequestLogPage } from './panel/request-log.ts';
import { loginTraceOfSignIn, showSignInPage, submitSignIn, submitSignOut } from './panel/sign-in.ts';
import { showTimelinePage } from './panel/timeline.ts';
import { showTokensPage } from './panel/tokens.ts';
import type { Scope } from './records.ts';
import type { LogFields, LoginTrace } from './request-log.ts';
import type { SandboxService } from './service.ts';
import { getAccount } from './v2/account.ts';
import { getAction, getActions } from './v2/actions.ts';
import type { ApiCaller } from './v2/api-caller.ts';
import type { ApiReply } from './v2/api-reply.ts';
import { getImages, getRegions, getSizes } from './v2/catalogue-lists.ts';
import { getDatabases } from './v2/databases.ts';
import { deleteDroplet, deleteDropletsByTag, getDroplet, getDroplets, postDroplets } from './v2/droplets.ts';
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
        readonly handle: (request: HttpRequest, service: SandboxService) => HttpReply | Promise<HttpReply>;
        /** Fields for the request log that are known before the reply exists. */
        readonly logFields?: (request: HttpRequest) => LogFields;
        /** The application and the login to which the request belongs. */
        readonly trace?: (request: HttpRequest, service: SandboxService) => LoginTrace | undefined;
      }
    | {
        readonly scope: 'session';
        readonly handle: (request: HttpRequest, service: SandboxService, session: PanelSession) => HttpReply;
        readonly logFields?: undefined;
        readonly trace?: undefined;
      }
  );

export type ApiRoute = Endpoint & {
  readonly scope: Scope;
  readonly handle: (request: HttpRequest, service: SandboxService, caller: ApiCaller) => ApiReply;
};

export type Route = AuthRoute | ApiRoute;

const AUTHORIZATION_LOGGING = { logFields: authorizeLogFields, trace: loginTraceOfAuthorize };
const MIGRATION = '/v2/databases/{uuid}/online-migration';

/** Lists every endpoint of the sandbox, by origin. A route for GET also replies to HEAD requests. */
export const ROUTES: { readonly auth: readonly AuthRoute[]; readonly api: readonly ApiRoute[] } = {
  auth: [
    { method: 'GET', path: '/v1/oauth/authorize', scope: 'public', handle: handleAuthorize, ...AUTHORIZATION_LOGGING },
    { method: 'POST', path: '/v1/oauth/authorize', scope: 'public', handle: submitConsent, ...AUTHORIZATION_LOGGING },
    {
      method: 'POST',
      path: '/v1/oauth/token',
      scope: 'public',
      handle: handleTokenRequest,
      logFields: tokenRequestLogFields,
      trace: loginTraceOfTokenRequest,
    },
    {
      method: 'POST',
      path: '/v1/oauth/revoke',
      scope: 'public',
      handle: handleRevocation,
      logFields: revocationLogFields,
      trace: loginTraceOfRevocation,
    },
    {
      method: 'GET',
      path: '/v1/oauth/token/info',
      scope: 'public',
      handle: getTokenInfo,
      logFields: tokenInfoLogFields,
      trace: loginTraceOfTokenInfo,
    },

    { method: 'GET', path: '/', scope: 'public', handle: redirectToPanel },
    { method: 'GET', path: '/panel', scope: 'session', handle: showHomePage },
    { method: 'GET', path: '/panel/sign-in', scope: 'public', handle: showSignInPage },
    { method: 'POST', path: '/panel/sign-in', scope: 'public', handle: submitSignIn, trace: loginTraceOfSignIn },
    { method: 'POST', path: '/panel/sign-out', scope: 'session', handle: submitSignOut },
    { method: 'GET', path: '/panel/applications', scope: 'session', handle: showApplicationsPage },
    { method: 'POST', path: '/panel/applications/revoke', scope: 'session', handle: revokeApplication },
    { method: 'GET', path: '/panel/tokens', scope: 'session', handle: showTokensPage },
    { method: 'GET', path: '/panel/droplets', scope: 'session', handle: showDropletsPage },
    { method: 'GET', path: '/panel/migrations', scope: 'session', handle: showMigrationsPage },
    { method: 'POST', path: '/panel/migrations/stop', scope: 'session', handle: submitStopMigration },
    { method: 'GET', path: '/panel/requests', scope: 'session', handle: showRequestLogPage },
    { method: 'GET', path: '/panel/timeline', scope: 'session', handle: showTimelinePage },
    { method: 'GET', path: '/panel/clock', scope: 'session', handle: showClockAndFaultsPage },
    { method: 'POST', path: '/panel/clock', scope: 'session', handle: submitClockForm },
    { method: 'POST', path: '/panel/faults', scope: 'session', handle: submitFaultForm },

    { method: 'GET', path: '/_sandbox/choices', scope: 'admin', handle: showSpecGaps },
    { method: 'GET', path: '/_sandbox/clock', scope: 'admin', handle: showClock },
    { method: 'POST', path: '/_sandbox/clock', scope: 'admin', handle: changeClock },
    { method: 'GET', path: '/_sandbox/consent', scope: 'admin', handle: showConsentScript },
    { method: 'POST', path: '/_sandbox/consent', scope: 'admin', handle: changeConsentScript },
    { method: 'GET', path: '/_sandbox/faults', scope: 'admin', handle: listFaults },
    { method: 'POST', path: '/_sandbox/faults', scope: 'admin', handle: addFault },
    { method: 'DELETE', path: '/_sandbox/faults', scope: 'admin', handle: clearFaults },
    { method: 'GET', path: '/_sandbox/requests', scope: 'admin', handle: listLoggedRequests },
    { method: 'DELETE', path: '/_sandbox/requests', scope: 'admin', handle: clearRequestLog },
    { method: 'POST', path: '/_sandbox/reset', scope: 'admin', handle: resetSandbox },
    { method: 'POST', path: '/_sandbox/restore', scope: 'admin', handle: restoreStateSnapshot },
    { method: 'GET', path: '/_sandbox/snapshot', scope: 'admin', handle: replyWithStateSnapshot },
    { method: 'POST', path: '/_sandbox/tokens', scope: 'admin', handle: issueTokenPair },
    { method: 'POST', path: '/_sandbox/tokens/expire', scope: 'admin', handle: expireAccessToken },
    { method: 'POST', path: '/_sandbox/tokens/refresh', scope: 'admin', handle: refreshTokenPair },
    { method: 'POST', path: '/_sandbox/tokens/revoke', scope: 'admin', handle: revokeTokenPair },
    { method: 'GET', path: '/_sandbox/world', scope: 'admin', handle: showWorld },
  ],
  api: [
    { method: 'GET', path: '/v2/account', scope: 'read', handle: getAccount },
    { method: 'GET', path: '/v2/actions', scope: 'read', handle: getActions },
    { method: 'GET', path: '/v2/actions/{id}', scope: 'read', handle: getAction },
    { method: 'GET', path: '/v2/droplets', scope: 'read', handle: getDroplets },
    { method: 'POST', path: '/v2/droplets', scope: 'read write', handle: postDroplets },
    { method: 'DELETE', path: '/v2/droplets', scope: 'read write', handle: deleteDropletsByTag },
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
