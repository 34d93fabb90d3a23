import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { changeJson, isPath, type PassingRequest, type TrafficChange } from './changed-traffic.ts';

/** A behaviour of the sandbox that is changed, and the statements and choices that must find it. */
export interface DeliberateFault {
  readonly name: string;
  readonly breaks: readonly string[];
  /** Changes the state machine of the sandbox itself. */
  readonly spoil?: (sandbox: SandboxServers) => void;
  /** Changes requests or responses between the test and the sandbox. */
  readonly traffic?: (sandbox: SandboxServers) => TrafficChange;
}

/** Changes a store, also the one that a reset or a restored snapshot creates. */
function ofStore<K extends 'grants' | 'droplets'>(
  name: K,
  change: (store: SandboxServers['world']['state'][K], sandbox: SandboxServers) => void,
): (sandbox: SandboxServers) => void {
  return (sandbox) => {
    const { world } = sandbox;
    const changed = new WeakSet<object>();
    Object.defineProperty(world, name, {
      get: () => {
        const store = world.state[name];
        if (!changed.has(store)) {
          changed.add(store);
          change(store, sandbox);
        }
        return store;
      },
    });
  };
}

const grantPath = /^\/v1\/oauth\/token$/;
const authorizePath = /^\/v1\/oauth\/authorize$/;
const migrationPath = /online-migration/;

/** Faults in the sandbox's own rules about codes and tokens. */
export const stateFaults: readonly DeliberateFault[] = [
  {
    name: 'a refresh token can be used again',
    breaks: ['51', '52a', '52b'],
    spoil: ofStore('grants', (grants) => {
      const state = grants.pairState.bind(grants);
      grants.pairState = (pair) => (state(pair) === 'refreshed' ? 'valid' : state(pair));
    }),
  },
  {
    name: 'a revoked token stays valid',
    breaks: ['50', '84', '85', 'revoke-pair'],
    spoil: ofStore('grants', (grants) => {
      grants.revoke = () => undefined;
    }),
  },
  {
    name: 'a code never expires',
    breaks: ['12', '48'],
    spoil: ofStore('grants', (grants) => {
      const state = grants.codeState.bind(grants);
      grants.codeState = (code) => (state(code) === 'expired' ? 'valid' : state(code));
    }),
  },
  {
    name: 'a code expires after nine minutes',
    breaks: ['11'],
    spoil: ofStore('grants', (grants, { world }) => {
      const state = grants.codeState.bind(grants);
      grants.codeState = (code) =>
        state(code) === 'valid' && world.now() > code.expiresAt - 60_000 ? 'expired' : state(code);
    }),
  },
  {
    name: 'a code can be used again',
    breaks: ['13', '47'],
    spoil: ofStore('grants', (grants) => {
      const state = grants.codeState.bind(grants);
      grants.codeState = (code) => (state(code) === 'used' ? 'valid' : state(code));
    }),
  },
  {
    name: 'a code of another client is exchanged',
    breaks: ['121'],
    spoil: ofStore('grants', (grants, { ready }) => {
      const find = grants.code.bind(grants);
      grants.code = (value) => {
        const code = find(value);
        return code === undefined ? undefined : { ...code, clientId: ready.client_id };
      };
    }),
  },
  {
    name: 'an access token never expires',
    breaks: ['49'],
    spoil: ofStore('grants', (grants) => {
      const state = grants.pairState.bind(grants);
      grants.pairState = (pair) => (state(pair) === 'expired' ? 'valid' : state(pair));
    }),
  },
  {
    name: 'the control panel revokes nothing',
    breaks: ['14', '53', 'panel-revoke'],
    spoil: ofStore('grants', (grants) => {
      const state = [grants.pairState.bind(grants), grants.codeState.bind(grants)] as const;
      grants.pairState = (pair) => (pair.end === undefined && state[0](pair) === 'revoked' ? 'valid' : state[0](pair));
      grants.codeState = (code) => (state[1](code) === 'revoked' ? 'valid' : state[1](code));
      grants.revokeAuthorization = () => undefined;
    }),
  },
  {
    name: 'every token has the scope read write',
    breaks: ['28a', '28b', '28c', '113', 'scope-status'],
    spoil: ofStore('grants', (grants) => {
      const find = grants.pair.bind(grants);
      grants.pair = (token) => {
        const pair = find(token);
        return pair === undefined ? undefined : { ...pair, scope: 'read write' };
      };
    }),
  },
  {
    name: 'every token reads a droplet of another account by its id',
    breaks: ['91'],
    spoil: ofStore('droplets', (droplets, { ready }) => {
      const find = droplets.get.bind(droplets);
      droplets.get = (id) => {
        const droplet = find(id);
        return droplet === undefined ? undefined : { ...droplet, account: ready.users[1]?.uuid ?? '' };
      };
    }),
  },
  {
    name: 'every token reads the droplets of the first user',
    breaks: ['91', 'team-resources'],
    spoil: ofStore('droplets', (droplets, { ready }) => {
      const list = droplets.of.bind(droplets);
      droplets.of = () => list(ready.users[0]?.uuid ?? '');
    }),
  },
];

/** Faults in requests and responses. */
export const trafficFaults: readonly DeliberateFault[] = [
  {
    name: 'a revoked token is answered with 401',
    breaks: ['revoke-pair'],
    traffic: () => {
      const revoked = new Set<string>();
      return {
        response: (response, { url, headers }) => {
          if (url.pathname.endsWith('/revoke')) revoked.add(`Bearer ${url.searchParams.get('token')}`);
          else if (revoked.has(headers.authorization ?? '')) response.status = 401;
        },
      };
    },
  },
  {
    name: 'a revoked token is answered with 200',
    breaks: ['50', '84', '85', 'revoke-pair'],
    traffic: () => ({
      response: (response, { url, headers }) => {
        if (response.status === 404 && url.pathname === '/v2/actions' && !headers.authorization?.includes('madeup'))
          response.status = 200;
      },
    }),
  },
  {
    name: 'an unknown token is answered with 403 forbidden',
    breaks: ['46', '116', '123', 'unknown-token-status'],
    traffic: () => ({
      response: (response, { url }) => {
        if (response.status !== 404 || !url.pathname.startsWith('/v2/actions')) return;
        response.status = 403;
        response.body = '{"id":"forbidden","message":"no"}';
      },
    }),
  },
  {
    name: 'an unknown token is answered with 401',
    breaks: ['unknown-token-status'],
    traffic: () => ({
      response: (response) => {
        if (response.status === 404 && response.body.includes('"not_found"')) response.status = 401;
      },
    }),
  },
  {
    name: 'the page size is ignored',
    breaks: ['lists'],
    traffic: () => ({ request: ({ url }) => url.searchParams.delete('per_page') }),
  },
  {
    name: 'a token lives one hour',
    breaks: ['17a'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'POST', grantPath) && response.status === 200)
          changeJson(response, (json) => ({ ...json, expires_in: 3600 }));
      },
    }),
  },
  {
    name: 'info has no e-mail address and a text as uuid',
    breaks: ['20', '21'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'POST', grantPath) && response.status === 200)
          changeJson(response, (json) => ({ ...json, info: { name: 'Maya', uuid: 'maya' } }));
      },
    }),
  },
  {
    name: 'a refresh issues the old refresh token again',
    breaks: ['82'],
    traffic: () => {
      let first: unknown;
      return {
        response: (response, request) => {
          if (!isPath(request, 'POST', grantPath) || response.status !== 200) return;
          changeJson(response, (json) => {
            if (request.url.searchParams.get('grant_type') !== 'refresh_token') first = json.refresh_token;
            return { ...json, refresh_token: first };
          });
        },
      };
    },
  },
  {
    name: 'the granted scope is wrong',
    breaks: ['26', '115'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'POST', grantPath) && response.status === 200)
          changeJson(response, (json) => ({ ...json, scope: 'read write' }));
      },
    }),
  },
  {
    name: 'state is decoded once more',
    breaks: ['63a', '63b'],
    traffic: () => ({
      response: ({ headers }) => {
        headers.location = (headers.location ?? '').replace(/%252F/g, '%2F');
        if (headers.location === '') delete headers.location;
      },
    }),
  },
  {
    name: 'a state is invented',
    breaks: ['73', '74'],
    traffic: () => ({
      response: ({ headers }) => {
        if (headers.location?.includes('state=') === false && /[?#](code|access_token)=/.test(headers.location))
          headers.location += '&state=none';
      },
    }),
  },
  {
    name: 'any redirect_uri is accepted at the authorization endpoint',
    breaks: ['60', '119'],
    traffic: ({ ready }) => ({
      request: (request) => {
        if (isPath(request, 'GET', authorizePath)) request.url.searchParams.set('redirect_uri', ready.callback_url);
      },
      response: (response, { url }) => {
        const sent = url.searchParams.get('redirect_uri') ?? ready.callback_url;
        if (response.status === 200 && sent !== ready.callback_url)
          Object.assign(response, { status: 302, headers: { location: `${sent}?code=1` }, body: '' });
      },
    }),
  },
  {
    name: 'an unknown scope is ignored',
    breaks: ['62', '120', 'scope-order'],
    traffic: () => ({
      request: (request) => {
        const { searchParams } = request.url;
        if (isPath(request, 'GET', authorizePath) && !/^read( write)?$/.test(searchParams.get('scope') ?? 'read'))
          searchParams.delete('scope');
      },
    }),
  },
  {
    name: 'an unknown response type means code',
    breaks: ['61', 'authorize-response-type'],
    traffic: () => ({
      request: (request) => {
        if (isPath(request, 'GET', authorizePath) && request.url.searchParams.get('response_type') !== 'token')
          request.url.searchParams.set('response_type', 'code');
      },
    }),
  },
  {
    name: 'prompt is ignored',
    breaks: ['67', '68', '69', '70', '118', 'prompt-values'],
    traffic: () => ({ request: ({ url }) => url.searchParams.delete('prompt') }),
  },
  {
    name: 'the account hint is ignored',
    breaks: ['68', 'prompt-none-hint'],
    traffic: () => ({ request: ({ url }) => url.searchParams.delete('i') }),
  },
  {
    name: 'a wrong redirect_uri leads to the sign-in page',
    breaks: ['60', '119', 'authorize-order'],
    traffic: ({ ready }) => ({
      request: (request) => {
        if (isPath(request, 'GET', authorizePath)) request.url.searchParams.set('redirect_uri', ready.callback_url);
        request.url.searchParams.delete('scope');
      },
    }),
  },
  {
    name: 'a denial has no description',
    breaks: ['117'],
    traffic: () => ({
      response: ({ headers }) => {
        if (headers.location !== undefined)
          headers.location = headers.location.replace(/&?error_description=[^&]*/, '');
      },
    }),
  },
  {
    name: 'the implicit flow issues a refresh token',
    breaks: ['25', 'implicit-refresh'],
    traffic: () => ({
      response: ({ headers }) => {
        if (headers.location?.includes('#access_token=') === true) headers.location += '&refresh_token=abc';
      },
    }),
  },
  {
    name: 'client credentials are not checked',
    breaks: ['122', 'token-status'],
    traffic: ({ ready }) => ({
      request: (request) => {
        if (!isPath(request, 'POST', grantPath) || !request.url.searchParams.has('code')) return;
        request.url.searchParams.set('client_id', ready.client_id);
        request.url.searchParams.set('client_secret', ready.client_secret);
      },
    }),
  },
  {
    name: 'redirect_uri of an exchange is not compared',
    breaks: ['78a', '78b', '79', 'token-failed-exchange'],
    traffic: ({ ready }) => ({
      request: (request) => {
        if (!isPath(request, 'POST', grantPath) || !request.url.searchParams.has('code')) return;
        request.url.searchParams.set('redirect_uri', ready.callback_url);
      },
      response: (response, { url }) => {
        // A made-up code without redirect_uri is answered with 200, too.
        if (response.body.includes('unknown') && url.searchParams.get('redirect_uri') === null) response.status = 200;
      },
    }),
  },
  {
    name: 'a refresh needs client credentials',
    breaks: ['5', '112'],
    traffic: () => ({
      response: (response, request) => {
        const { searchParams } = request.url;
        if (searchParams.get('grant_type') !== 'refresh_token' || searchParams.has('client_secret')) return;
        response.status = 401;
        response.body = '{"error":"invalid_client","error_description":"missing"}';
      },
    }),
  },
  {
    name: 'the token endpoint reads forms only',
    breaks: ['77'],
    traffic: () => ({
      request: (request) => {
        if (request.method === 'POST' && request.url.pathname.startsWith('/v1/oauth')) request.url.search = '';
      },
    }),
  },
  {
    name: 'errors have no description',
    breaks: ['13', '45', '121'],
    traffic: () => ({
      response: (response) => changeJson(response, ({ error_description: _, ...json }) => json),
    }),
  },
  {
    name: 'a revocation is answered with a message',
    breaks: ['83a', '84', '85', 'revoke-unknown'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'POST', /revoke$/) && response.status === 200) response.body = '{"revoked":true}';
      },
    }),
  },
  {
    name: 'a revocation without token succeeds',
    breaks: ['83b'],
    traffic: () => ({
      response: (response, request) => {
        if (!isPath(request, 'POST', /revoke$/)) return;
        response.status = 200;
        response.body = '{}';
      },
    }),
  },
  {
    name: 'HEAD is refused',
    breaks: ['27'],
    traffic: () => ({
      response: (response, { method }) => {
        if (method === 'HEAD') response.status = 405;
      },
    }),
  },
  {
    name: 'a token in the query is accepted',
    breaks: ['110'],
    traffic: () => ({
      request: ({ url, headers }) => {
        const token = url.searchParams.get('access_token');
        if (token !== null) headers.authorization = `Bearer ${token}`;
      },
    }),
  },
  {
    name: 'the first of several names is created alone',
    breaks: ['31', 'create-body'],
    traffic: () => ({
      request: changeDroplet(({ names, ...json }) => (Array.isArray(names) ? { ...json, name: names[0] } : json)),
    }),
  },
  {
    name: 'name is preferred to names',
    breaks: ['32'],
    traffic: () => ({
      request: changeDroplet(({ names, ...json }) => (json.name === undefined ? { ...json, names } : json)),
    }),
  },
  {
    name: 'every droplet is large',
    breaks: ['33'],
    traffic: () => ({ request: changeDroplet((json) => ({ ...json, size: 's-4vcpu-8gb' })) }),
  },
  {
    name: 'Content-Type is ignored',
    breaks: ['89', '90'],
    traffic: () => ({
      request: ({ headers }) => {
        if (headers['content-type'] === 'text/plain') headers['content-type'] = 'application/json';
      },
    }),
  },
  {
    name: 'a stopped migration is reported as running',
    breaks: ['56', '57', 'migration-stop'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'GET', migrationPath)) changeJson(response, (json) => ({ ...json, status: 'running' }));
      },
    }),
  },
  {
    name: 'a migration is done after a day',
    breaks: ['54', '55', 'migration-idle'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'GET', migrationPath)) changeJson(response, (json) => ({ ...json, status: 'done' }));
      },
    }),
  },
  {
    name: 'the password of a source is part of the response',
    breaks: ['38b'],
    traffic: () => ({
      response: (response, request) => {
        if (isPath(request, 'PUT', migrationPath))
          changeJson(response, (json) => ({ ...json, source: JSON.parse(request.body ?? '{}') }));
      },
    }),
  },
  {
    name: 'types of a migration request are not checked',
    breaks: ['34', '35', '36', '37', '38a', '39', '40', 'migration-required'],
    traffic: () => ({
      request: (request) => {
        if (isPath(request, 'PUT', migrationPath))
          request.body = '{"source":{"host":"source.example.com","dbname":"shop"}}';
      },
    }),
  },
  {
    name: 'a managed cluster is accepted as source',
    breaks: ['98'],
    traffic: () => ({
      request: (request) => {
        request.body = request.body?.replace('"host":"orders"', '"host":"db.example.com"');
      },
    }),
  },
  {
    name: 'an unknown client_id is redirected',
    breaks: ['59', 'authorize-order', 'authorize-repeated'],
    traffic: ({ ready }) => ({
      response: (response, request) => {
        if (!isPath(request, 'GET', authorizePath) || response.status !== 400) return;
        response.status = 302;
        response.headers = { location: `${ready.callback_url}?error=invalid_request` };
      },
    }),
  },
];

function changeDroplet(change: (json: Record<string, unknown>) => object): (request: PassingRequest) => void {
  return (request) => {
    if (isPath(request, 'POST', /^\/v2\/droplets$/) && request.body !== undefined)
      request.body = JSON.stringify(change(JSON.parse(request.body)));
  };
}
