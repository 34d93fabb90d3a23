import {
  handleAddFault,
  handleAdminExpireAccessToken,
  handleAdminIssueTokenPair,
  handleAdminRefreshAsOtherClient,
  handleAdminRevokeTokenPair,
  handleChangeAuthorizationConsentMode,
  handleChangeClock,
  handleClearFaults,
  handleClearRequestLog,
  handleGetAuthorizationConsentMode,
  handleGetClock,
  handleGetSandboxDescription,
  handleGetSandboxSnapshot,
  handleGetUnspecifiedBehaviors,
  handleHealth,
  handleListFaults,
  handleListLoggedRequests,
  handleResetSandbox,
  handleRestoreSandboxSnapshot,
} from './admin.ts';

import type { SandboxRequestHandler } from './handler-context.ts';
import type { SandboxHttpReply } from './http/reply.ts';
import type { SandboxHttpRequest } from './http/request.ts';
import type { LoginCorrelationFinder } from './login-timeline.ts';
import {
  findLoginCorrelationOfAuthorizeEndpoint,
  getLogFieldsOfAuthorizationRequest,
  handleAuthorizationRequest,
  handleConsentForm,
} from './oauth/authorize.ts';

import {
  findLoginCorrelationOfRevocation,
  findLoginCorrelationOfTokenRequest,
  getLogFieldsOfRevocationRequest,
  getLogFieldsOfTokenRequest,
  handleTokenInfoRequest,
  handleTokenRequest,
  handleTokenRevocationRequest,
} from './oauth/token.ts';

import { handleRevokeApplicationForm, renderApplicationsPanelPage } from './panel/applications.ts';
import { handleClockForm, handleFaultForm, renderClockAndFaultsPanelPage } from './panel/clock-and-faults.ts';
import { renderDropletsPanelPage } from './panel/droplets.ts';
import { redirectToPanel, renderHomePanelPage } from './panel/home.ts';
import { handleStopMigrationForm, renderMigrationsPanelPage } from './panel/migrations.ts';
import type { PanelRequestHandler } from './panel/panel-session.ts';
import { renderRequestLogPanelPage } from './panel/request-log.ts';
import {
  findLoginCorrelationOfSignIn,
  handleSignInForm,
  handleSignOutForm,
  renderSignInPanelPage,
} from './panel/sign-in.ts';
import { renderLoginTimelinePanelPage } from './panel/timeline.ts';
import { renderTokensPanelPage } from './panel/tokens.ts';
import type { SandboxOAuthScope } from './records.ts';
import type { RequestLogFields } from './request-log.ts';
import { type ApiRequestHandler, findLoginCorrelationOfBearerToken, getLogFieldsOfBearerToken } from './v2/api.ts';
import {
  handleDeleteDropletRequest,
  handleDeleteDropletsByTagRequest,
  handleGetDropletRequest,
  handleGetDropletsRequest,
  handlePostDropletsRequest,
} from './v2/droplets.ts';
import {
  handleGetAccountRequest,
  handleGetActionRequest,
  handleGetActionsRequest,
  handleGetDatabasesRequest,
  handleGetImagesRequest,
  handleGetRegionsRequest,
  handleGetSizesRequest,
} from './v2/lists.ts';
import { handleDeleteMigrationRequest, handleGetMigrationRequest, handlePutMigrationRequest } from './v2/migrations.ts';

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A placeholder `{…}` in a route path matches one path segment. */
  readonly path: string;
}

/** The scope of a route determines who may send the request, and therefore the arguments of the handler. */
export type AuthServerRoute = Endpoint &
  (
    | {
        readonly scope: 'public' | 'admin';
        readonly handle: (...args: Parameters<SandboxRequestHandler>) => SandboxHttpReply | Promise<SandboxHttpReply>;
        /** Fields for the request log that are known before the reply exists. */
        readonly logFields?: (request: SandboxHttpRequest) => RequestLogFields;
        readonly trace?: LoginCorrelationFinder;
      }
    | {
        readonly scope: 'session';
        readonly handle: PanelRequestHandler;
        readonly logFields?: undefined;
        readonly trace?: undefined;
      }
  );

export type ApiServerRoute = Endpoint & {
  readonly scope: SandboxOAuthScope;
  readonly handle: ApiRequestHandler;
};

/** For programs that wait until the sandbox serves requests: no token, any Host header, no faults, and not in the request log. */
type HealthRoute = Endpoint & { readonly scope: 'none'; readonly handle: () => SandboxHttpReply };

export type SandboxRoute = AuthServerRoute | ApiServerRoute;

const AUTHORIZATION_LOGGING = {
  logFields: getLogFieldsOfAuthorizationRequest,
  trace: findLoginCorrelationOfAuthorizeEndpoint,
};
const MIGRATION = '/v2/databases/{uuid}/online-migration';

/** Lists every endpoint of the sandbox, by origin. A route for GET also replies to HEAD requests. */
export const SANDBOX_ROUTES: {
  /** Of both origins. */
  readonly both: readonly HealthRoute[];
  readonly auth: readonly AuthServerRoute[];
  readonly api: readonly ApiServerRoute[];
} = {
  both: [{ method: 'GET', path: '/healthz', scope: 'none', handle: handleHealth }],
  auth: [
    {
      method: 'GET',
      path: '/v1/oauth/authorize',
      scope: 'public',
      handle: handleAuthorizationRequest,
      ...AUTHORIZATION_LOGGING,
    },
    {
      method: 'POST',
      path: '/v1/oauth/authorize',
      scope: 'public',
      handle: handleConsentForm,
      ...AUTHORIZATION_LOGGING,
    },
    {
      method: 'POST',
      path: '/v1/oauth/token',
      scope: 'public',
      handle: handleTokenRequest,
      logFields: getLogFieldsOfTokenRequest,
      trace: findLoginCorrelationOfTokenRequest,
    },
    {
      method: 'POST',
      path: '/v1/oauth/revoke',
      scope: 'public',
      handle: handleTokenRevocationRequest,
      logFields: getLogFieldsOfRevocationRequest,
      trace: findLoginCorrelationOfRevocation,
    },
    {
      method: 'GET',
      path: '/v1/oauth/token/info',
      scope: 'public',
      handle: handleTokenInfoRequest,
      logFields: getLogFieldsOfBearerToken,
      trace: findLoginCorrelationOfBearerToken,
    },

    { method: 'GET', path: '/', scope: 'public', handle: redirectToPanel },
    { method: 'GET', path: '/panel', scope: 'session', handle: renderHomePanelPage },
    { method: 'GET', path: '/panel/sign-in', scope: 'public', handle: renderSignInPanelPage },
    {
      method: 'POST',
      path: '/panel/sign-in',
      scope: 'public',
      handle: handleSignInForm,
      trace: findLoginCorrelationOfSignIn,
    },
    { method: 'POST', path: '/panel/sign-out', scope: 'session', handle: handleSignOutForm },
    { method: 'GET', path: '/panel/applications', scope: 'session', handle: renderApplicationsPanelPage },
    { method: 'POST', path: '/panel/applications/revoke', scope: 'session', handle: handleRevokeApplicationForm },
    { method: 'GET', path: '/panel/tokens', scope: 'session', handle: renderTokensPanelPage },
    { method: 'GET', path: '/panel/droplets', scope: 'session', handle: renderDropletsPanelPage },
    { method: 'GET', path: '/panel/migrations', scope: 'session', handle: renderMigrationsPanelPage },
    { method: 'POST', path: '/panel/migrations/stop', scope: 'session', handle: handleStopMigrationForm },
    { method: 'GET', path: '/panel/requests', scope: 'session', handle: renderRequestLogPanelPage },
    { method: 'GET', path: '/panel/timeline', scope: 'session', handle: renderLoginTimelinePanelPage },
    { method: 'GET', path: '/panel/clock', scope: 'session', handle: renderClockAndFaultsPanelPage },
    { method: 'POST', path: '/panel/clock', scope: 'session', handle: handleClockForm },
    { method: 'POST', path: '/panel/faults', scope: 'session', handle: handleFaultForm },

    { method: 'GET', path: '/_sandbox/choices', scope: 'admin', handle: handleGetUnspecifiedBehaviors },
    { method: 'GET', path: '/_sandbox/clock', scope: 'admin', handle: handleGetClock },
    { method: 'POST', path: '/_sandbox/clock', scope: 'admin', handle: handleChangeClock },
    { method: 'GET', path: '/_sandbox/consent', scope: 'admin', handle: handleGetAuthorizationConsentMode },
    { method: 'POST', path: '/_sandbox/consent', scope: 'admin', handle: handleChangeAuthorizationConsentMode },
    { method: 'GET', path: '/_sandbox/faults', scope: 'admin', handle: handleListFaults },
    { method: 'POST', path: '/_sandbox/faults', scope: 'admin', handle: handleAddFault },
    { method: 'DELETE', path: '/_sandbox/faults', scope: 'admin', handle: handleClearFaults },
    { method: 'GET', path: '/_sandbox/requests', scope: 'admin', handle: handleListLoggedRequests },
    { method: 'DELETE', path: '/_sandbox/requests', scope: 'admin', handle: handleClearRequestLog },
    { method: 'POST', path: '/_sandbox/reset', scope: 'admin', handle: handleResetSandbox },
    { method: 'POST', path: '/_sandbox/restore', scope: 'admin', handle: handleRestoreSandboxSnapshot },
    { method: 'GET', path: '/_sandbox/snapshot', scope: 'admin', handle: handleGetSandboxSnapshot },
    { method: 'POST', path: '/_sandbox/tokens', scope: 'admin', handle: handleAdminIssueTokenPair },
    { method: 'POST', path: '/_sandbox/tokens/expire', scope: 'admin', handle: handleAdminExpireAccessToken },
    { method: 'POST', path: '/_sandbox/tokens/refresh', scope: 'admin', handle: handleAdminRefreshAsOtherClient },
    { method: 'POST', path: '/_sandbox/tokens/revoke', scope: 'admin', handle: handleAdminRevokeTokenPair },
    { method: 'GET', path: '/_sandbox/world', scope: 'admin', handle: handleGetSandboxDescription },
  ],
  api: [
    { method: 'GET', path: '/v2/account', scope: 'read', handle: handleGetAccountRequest },
    { method: 'GET', path: '/v2/actions', scope: 'read', handle: handleGetActionsRequest },
    { method: 'GET', path: '/v2/actions/{id}', scope: 'read', handle: handleGetActionRequest },
    { method: 'GET', path: '/v2/droplets', scope: 'read', handle: handleGetDropletsRequest },
    { method: 'POST', path: '/v2/droplets', scope: 'read write', handle: handlePostDropletsRequest },
    { method: 'DELETE', path: '/v2/droplets', scope: 'read write', handle: handleDeleteDropletsByTagRequest },
    { method: 'GET', path: '/v2/droplets/{id}', scope: 'read', handle: handleGetDropletRequest },
    { method: 'DELETE', path: '/v2/droplets/{id}', scope: 'read write', handle: handleDeleteDropletRequest },
    { method: 'GET', path: '/v2/regions', scope: 'read', handle: handleGetRegionsRequest },
    { method: 'GET', path: '/v2/sizes', scope: 'read', handle: handleGetSizesRequest },
    { method: 'GET', path: '/v2/images', scope: 'read', handle: handleGetImagesRequest },
    { method: 'GET', path: '/v2/databases', scope: 'read', handle: handleGetDatabasesRequest },
    { method: 'PUT', path: MIGRATION, scope: 'read write', handle: handlePutMigrationRequest },
    { method: 'GET', path: MIGRATION, scope: 'read', handle: handleGetMigrationRequest },
    { method: 'DELETE', path: MIGRATION, scope: 'read write', handle: handleDeleteMigrationRequest },
    { method: 'DELETE', path: `${MIGRATION}/{id}`, scope: 'read write', handle: handleDeleteMigrationRequest },
  ],
};
