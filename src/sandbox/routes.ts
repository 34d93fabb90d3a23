import { showChoices } from './admin/choices.ts';
import { changeClock, showClock } from './admin/clock.ts';
import { scriptConsent, showConsent } from './admin/consent.ts';
import { addFault, clearFaults, listFaults } from './admin/faults.ts';
import { clearRequests, listRequests } from './admin/requests.ts';
import { reset } from './admin/reset.ts';
import { restore } from './admin/restore.ts';
import { showSnapshot } from './admin/snapshot.ts';
import { expireToken, issueToken, refreshToken, revokeToken } from './admin/tokens.ts';
import { showWorld } from './admin/world.ts';
import type { Reply } from './http/reply.ts';
import type { Request } from './http/request.ts';
import type { Subject, Trace } from './log.ts';
import { authorize, authorizeSubject, authorizeTrace } from './oauth/authorize.ts';
import { consent } from './oauth/consent.ts';
import { revoke, revokeSubject, revokeTrace } from './oauth/revoke.ts';
import { exchangeSubject, exchangeTrace, token } from './oauth/token.ts';
import { listApplications, revokeApplication } from './panel/applications.ts';
import { listDroplets as droplets } from './panel/droplets.ts';
import { home, toPanel } from './panel/home.ts';
import { listMigrations, stopMigration } from './panel/migrations.ts';
import { listRequests as requestLog } from './panel/requests.ts';
import type { Visit } from './panel/session.ts';
import { showSignIn, signIn, signInTrace, signOut } from './panel/sign-in.ts';
import { showTimeline } from './panel/timeline.ts';
import type { Scope } from './records.ts';
import type { Service } from './service.ts';
import { listActions, showAction } from './v2/actions.ts';
import type { Answer } from './v2/answer.ts';
import { createDroplets, deleteDroplet, listDroplets, showDroplet } from './v2/droplets.ts';
import type { Caller } from './v2/gate.ts';
import { deleteMigration, showMigration, startMigration } from './v2/migrations.ts';

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{…}` stands for one segment. */
  readonly path: string;
}

/** The scope says who may come in, and with that what the handler is given. */
export type AuthRoute = Endpoint &
  (
    | {
        readonly scope: 'public' | 'admin';
        readonly handle: (request: Request, service: Service) => Reply | Promise<Reply>;
        /** What the request log may say of a request, known before it is answered. */
        readonly subject?: (request: Request) => Subject;
        /** Which application and login a request belongs to. */
        readonly trace?: (request: Request, service: Service) => Trace | undefined;
      }
    | {
        readonly scope: 'session';
        readonly handle: (request: Request, service: Service, visit: Visit) => Reply;
        readonly subject?: undefined;
        readonly trace?: undefined;
      }
  );

export type ApiRoute = Endpoint & {
  readonly scope: Scope;
  readonly handle: (request: Request, service: Service, caller: Caller) => Answer;
};

export type Route = AuthRoute | ApiRoute;

const OF_WISH = { subject: authorizeSubject, trace: authorizeTrace };
const MIGRATION = '/v2/databases/{uuid}/online-migration';

/** Every endpoint of the sandbox, by origin. HEAD is answered wherever GET is. */
export const ROUTES: { readonly auth: readonly AuthRoute[]; readonly api: readonly ApiRoute[] } = {
  auth: [
    { method: 'GET', path: '/v1/oauth/authorize', scope: 'public', handle: authorize, ...OF_WISH },
    { method: 'POST', path: '/v1/oauth/authorize', scope: 'public', handle: consent, ...OF_WISH },
    {
      method: 'POST',
      path: '/v1/oauth/token',
      scope: 'public',
      handle: token,
      subject: exchangeSubject,
      trace: exchangeTrace,
    },
    {
      method: 'POST',
      path: '/v1/oauth/revoke',
      scope: 'public',
      handle: revoke,
      subject: revokeSubject,
      trace: revokeTrace,
    },

    { method: 'GET', path: '/', scope: 'public', handle: toPanel },
    { method: 'GET', path: '/panel', scope: 'session', handle: home },
    { method: 'GET', path: '/panel/sign-in', scope: 'public', handle: showSignIn },
    { method: 'POST', path: '/panel/sign-in', scope: 'public', handle: signIn, trace: signInTrace },
    { method: 'POST', path: '/panel/sign-out', scope: 'session', handle: signOut },
    { method: 'GET', path: '/panel/applications', scope: 'session', handle: listApplications },
    { method: 'POST', path: '/panel/applications/revoke', scope: 'session', handle: revokeApplication },
    { method: 'GET', path: '/panel/droplets', scope: 'session', handle: droplets },
    { method: 'GET', path: '/panel/migrations', scope: 'session', handle: listMigrations },
    { method: 'POST', path: '/panel/migrations/stop', scope: 'session', handle: stopMigration },
    { method: 'GET', path: '/panel/requests', scope: 'session', handle: requestLog },
    { method: 'GET', path: '/panel/timeline', scope: 'session', handle: showTimeline },

    { method: 'GET', path: '/_sandbox/choices', scope: 'admin', handle: showChoices },
    { method: 'GET', path: '/_sandbox/clock', scope: 'admin', handle: showClock },
    { method: 'POST', path: '/_sandbox/clock', scope: 'admin', handle: changeClock },
    { method: 'GET', path: '/_sandbox/consent', scope: 'admin', handle: showConsent },
    { method: 'POST', path: '/_sandbox/consent', scope: 'admin', handle: scriptConsent },
    { method: 'GET', path: '/_sandbox/faults', scope: 'admin', handle: listFaults },
    { method: 'POST', path: '/_sandbox/faults', scope: 'admin', handle: addFault },
    { method: 'DELETE', path: '/_sandbox/faults', scope: 'admin', handle: clearFaults },
    { method: 'GET', path: '/_sandbox/requests', scope: 'admin', handle: listRequests },
    { method: 'DELETE', path: '/_sandbox/requests', scope: 'admin', handle: clearRequests },
    { method: 'POST', path: '/_sandbox/reset', scope: 'admin', handle: reset },
    { method: 'POST', path: '/_sandbox/restore', scope: 'admin', handle: restore },
    { method: 'GET', path: '/_sandbox/snapshot', scope: 'admin', handle: showSnapshot },
    { method: 'POST', path: '/_sandbox/tokens', scope: 'admin', handle: issueToken },
    { method: 'POST', path: '/_sandbox/tokens/expire', scope: 'admin', handle: expireToken },
    { method: 'POST', path: '/_sandbox/tokens/refresh', scope: 'admin', handle: refreshToken },
    { method: 'POST', path: '/_sandbox/tokens/revoke', scope: 'admin', handle: revokeToken },
    { method: 'GET', path: '/_sandbox/world', scope: 'admin', handle: showWorld },
  ],
  api: [
    { method: 'GET', path: '/v2/actions', scope: 'read', handle: listActions },
    { method: 'GET', path: '/v2/actions/{id}', scope: 'read', handle: showAction },
    { method: 'GET', path: '/v2/droplets', scope: 'read', handle: listDroplets },
    { method: 'POST', path: '/v2/droplets', scope: 'read write', handle: createDroplets },
    { method: 'GET', path: '/v2/droplets/{id}', scope: 'read', handle: showDroplet },
    { method: 'DELETE', path: '/v2/droplets/{id}', scope: 'read write', handle: deleteDroplet },
    { method: 'PUT', path: MIGRATION, scope: 'read write', handle: startMigration },
    { method: 'GET', path: MIGRATION, scope: 'read', handle: showMigration },
    { method: 'DELETE', path: MIGRATION, scope: 'read write', handle: deleteMigration },
    { method: 'DELETE', path: `${MIGRATION}/{id}`, scope: 'read write', handle: deleteMigration },
  ],
};
