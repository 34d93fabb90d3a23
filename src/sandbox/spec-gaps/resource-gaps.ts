import type { SpecGap } from './spec-gap.ts';

/** Choices of the resource API. */
export const SPEC_GAPS_OF_RESOURCES: readonly SpecGap[] = [
  {
    id: 'team-resources',
    section: '2',
    question: 'The resources of a token with a team context',
    choice:
      'The droplets, actions, clusters and migrations of the team. A token without a team has those of the person.',
  },
  {
    id: 'account',
    section: '4.5',
    question: 'GET /v2/account',
    choice:
      'The person behind the token, and `team` with its UUID and name, or null for the personal context. Public clients ask for it.',
  },
  {
    id: 'token-info',
    section: '4.5',
    question: 'GET /v1/oauth/token/info',
    choice:
      'On the authorization server: resource_owner_id (a number made from the UUID of the person), scopes, expires_in_seconds, application.uid and created_at (seconds) of the bearer token; 401 for a token that is not valid. Public clients check a token with it.',
  },
  {
    id: 'unknown-token-status',
    section: '7',
    question: 'HTTP status for an unknown, expired or revoked access token',
    choice: '404 with id not_found. With the option unknownTokenStatus 401, and the same body.',
  },
  {
    id: 'missing-token',
    section: '5',
    question: 'A request without a well-formed bearer header',
    choice: '401 unauthorized with WWW-Authenticate: Bearer.',
  },
  {
    id: 'scope-status',
    section: '5',
    question: 'A write request with the scope read',
    choice: '403 forbidden, checked before the path. The state does not change.',
  },
  {
    id: 'trailing-slash',
    section: '4.5',
    question: 'A path with a trailing slash',
    choice: 'Equal to the path without it. Two or more trailing slashes are 404.',
  },
  {
    id: 'api-errors',
    section: '7',
    question: 'Errors of the resource API',
    choice:
      '{id, message, request_id} with 400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429 or 500. A path that the sandbox does not have is 404 with id no_such_path, a refused token 404 with id not_found.',
  },
  {
    id: 'host-header',
    section: '7',
    question: 'A request whose Host header does not name the loopback address and port of the origin',
    choice:
      '421 on both origins, before path and token are checked, which refuses DNS rebinding. The error is misdirected_request on the resource API, and invalid_request or a page on the authorization server.',
  },
  {
    id: 'rate-limits',
    section: '8',
    question: 'Rate limits',
    choice:
      'There are none, and no rate limit headers. The option rateLimit sends the headers and enforces the limits, on the virtual clock.',
  },
  {
    id: 'lists',
    section: '4.5',
    question: 'Bodies of list responses',
    choice:
      '{<key>, links, meta.total}. page is 1 or greater, per_page 1 to 200; other values are 422. A page after the last one is empty. Actions are newest first, droplets oldest first. This is the documented form of the public service; the client requires an array under <key> with id and the like, and an error for another body names `api GET … --paginate`, which prints it unparsed.',
  },
  {
    id: 'single-resources',
    section: '4.5',
    question: 'Reading one action or droplet',
    choice: 'GET /v2/actions/{id} and GET /v2/droplets/{id}. Resources of other accounts are 404.',
  },
  {
    id: 'create-body',
    section: '4.5',
    question: 'Response to a creation',
    choice: '202 with droplet for name or droplets for names, in the given order, and the actions in links.',
  },
  {
    id: 'create-required',
    section: '2',
    question: 'Attributes of a creation, and which are required',
    choice:
      'name or names, size and image are required; region defaults to nyc3, and the letters of a place (nyc) mean its newest region. Null, [] and an empty region are treated as absent, volumes are ids or objects with id or name, unknown attributes are ignored, invalid values are 422 and the message names the field.',
  },
  {
    id: 'create-names',
    section: '4.5',
    question: 'Number of names in one request',
    choice: 'At most 10; all droplets are created or none. Names need not be unique.',
  },
  {
    id: 'create-lifecycle',
    section: '4.5',
    question: 'Lifecycle of a droplet',
    choice:
      'new without networks for 5 s of the virtual clock, then active. Its create action is in progress during that time.',
  },
  {
    id: 'create-catalogue',
    section: '2',
    question: 'Available regions, sizes and images',
    choice: 'The public slugs in src/sandbox/v2/catalogue.ts. Other slugs are answered with 422.',
  },
  {
    id: 'droplet-limit',
    section: '8',
    question: 'Droplet limit',
    choice: 'None. The option dropletLimit sets one for each account; exceeding it is 422 with id droplet_limit.',
  },
  {
    id: 'delete-droplet',
    section: '4.5',
    question: 'Path and response of deleting a droplet',
    choice:
      'DELETE /v2/droplets/{id} with 204, or DELETE /v2/droplets?tag_name=T for all droplets with a tag. An action of type destroy is recorded for each.',
  },
  {
    id: 'cluster-owner',
    section: '4.5',
    question: 'Whose clusters and migrations a token can use',
    choice:
      'Those of its account. A cluster belongs to one person or team, and its migrations to the same account; those of other accounts are 404 for every method, and the control panel does not show them. The seeded clusters and those with a data plane belong to the first person.',
  },
  {
    id: 'cluster-list',
    section: '4.5',
    question: 'GET /v2/databases',
    choice:
      'The clusters of the account, each with id, name, engine (pg or redis), version, status and connection.port. Public clients ask for it.',
  },
  {
    id: 'migration-answer',
    section: '4.5',
    question: 'Response to an online migration request, and its status',
    choice:
      '200 with id, status running and created_at. GET of the same path returns the latest migration: running, or canceled with stopped_at and reason stopped_by_user or max_duration.',
  },
  {
    id: 'migration-rows',
    section: '3',
    question: 'Data copied by an online migration',
    choice:
      'None, unless the cluster has a data plane (option clusters). Then its server replicates from the source, GET adds method, databases with their tables, warnings and leftovers, and status can also be syncing, done or error. When one of several databases fails, the others continue; the status is that of the worst database that has tables, so it is error at once. A database whose source, target, publication or replication link is away has a phase of its own (source_unreachable, target_unreachable, server_busy, publication_missing, link_down) and a reason, and its status stays running.',
  },
  {
    id: 'migration-target',
    section: '4.6',
    question: 'A target that already contains tables or keys',
    choice:
      'The migration fails: a database of the same name must be empty or absent, and a Redis target must have no keys.',
  },
  {
    id: 'migration-idle',
    section: '3',
    question: 'When nothing is left to replicate',
    choice:
      'The migration continues until it is stopped. With the option finishWhenIdle it is done after 60 s of the virtual clock without a change. Without a data plane there is nothing to replicate, and it is never done.',
  },
  {
    id: 'migration-slots',
    section: '4.6',
    question: 'As many replication slots as databases',
    choice:
      'The request is accepted, as the specification says, but no slot is left for the initial copy of a table, so that no row arrives: the target reports that all replication slots are in use. db preflight therefore requires one slot more, and the truth table has this case.',
  },
  {
    id: 'migration-restart',
    section: '3',
    question: 'A migration that was running when its sandbox ended',
    choice:
      'With a data plane, its slots and publications are removed, and its status is error with the reason interrupted. Without one it continues, if there is a state folder.',
  },
  {
    id: 'migration-stop',
    section: '3',
    question: 'Stopping a migration without the control panel',
    choice:
      'The client sends DELETE to the path, with or without the id of the migration; the response is 204. It changes nothing for a migration that has ended.',
  },
  {
    id: 'migration-required',
    section: '2',
    question: 'Required fields of an online migration request',
    choice:
      'source.host, and source.dbname for PostgreSQL unless host is a connection string. Null is treated as absent; wrong types and a managed cluster as source (its name, or the address of a data plane) are 422; a data plane under another name ends the migration with an error.',
  },
  {
    id: 'source-host-forms',
    section: '2',
    question: 'Forms of source.host',
    choice:
      'A host name, an IP address (IPv6 with or without brackets), a URL (postgres, postgresql, redis or rediss), or for PostgreSQL keywords and values (host=H dbname=D). Only scheme and host of a connection string are kept. Without a data plane the form is not checked further; with one, a form that the engine of the cluster does not know, several hosts, a port after a host name (PostgreSQL) and a Unix socket are 422.',
  },
  {
    id: 'migration-none',
    section: '4.5',
    question: 'GET and DELETE of an online migration before the first one',
    choice: '404 with id not_found, as for a cluster that does not exist.',
  },
  {
    id: 'migration-conflict',
    section: '3',
    question: 'A second migration into a cluster while one runs',
    choice: '409 with id conflict, checked after the body. The first one continues.',
  },
];
