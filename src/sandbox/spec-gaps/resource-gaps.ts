import type { SpecGap } from './spec-gap.ts';

/** The sandbox's choices for the resource API. */
export const SPEC_GAPS_OF_RESOURCES: readonly SpecGap[] = [
  {
    id: 'team-resources',
    section: '2',
    question: 'Resources of a token whose grant has a team',
    choice:
      'The token gives access to the droplets, actions, clusters and migrations of the team. A token without a team gives access to those of the person.',
  },
  {
    id: 'account',
    section: '4.5',
    question: 'Response to GET /v2/account',
    choice:
      'GET /v2/account returns the person who owns the token, and `team` with UUID and name of the team, or null for the personal context. Clients of the public service use GET /v2/account.',
  },
  {
    id: 'token-info',
    section: '4.5',
    question: 'Response to GET /v1/oauth/token/info',
    choice:
      'GET /v1/oauth/token/info on the authorization server returns resource_owner_id (a number derived from the UUID of the person), scopes, expires_in_seconds, application.uid and created_at (seconds) of the bearer token. A request with an invalid token is answered with 401. Clients of the public service check tokens with GET /v1/oauth/token/info.',
  },
  {
    id: 'unknown-token-status',
    section: '7',
    question: 'HTTP status for an unknown, expired or revoked access token',
    choice:
      'An unknown, expired or revoked access token is answered with 404 and the id not_found. With the option unknownTokenStatus the status is 401, with the same body.',
  },
  {
    id: 'missing-token',
    section: '5',
    question: 'A request without a well-formed bearer header',
    choice:
      'A request without a well-formed bearer header is answered with 401 unauthorized and the header WWW-Authenticate: Bearer.',
  },
  {
    id: 'scope-status',
    section: '5',
    question: 'A write request with the scope read',
    choice:
      'A write request whose token has the scope read is answered with 403 forbidden before its path is checked, and the state does not change.',
  },
  {
    id: 'trailing-slash',
    section: '4.5',
    question: 'A path of the resource API with a trailing slash',
    choice:
      'A path with one trailing slash is equal to the path without it. A path with two or more trailing slashes is answered with 404.',
  },
  {
    id: 'api-errors',
    section: '7',
    question: 'Errors of the resource API',
    choice:
      'An error is {id, message, request_id} with status 400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429 or 500. A path that the sandbox does not have is answered with 404 and the id no_such_path, a refused token with 404 and the id not_found.',
  },
  {
    id: 'host-header',
    section: '7',
    question: 'A request whose Host header does not name the loopback address and port of the origin',
    choice:
      'A request with another Host header is answered with 421 on both origins before path and token are checked, which prevents DNS rebinding. The error is misdirected_request on the resource API, and invalid_request or an error page on the authorization server.',
  },
  {
    id: 'rate-limits',
    section: '8',
    question: 'Rate limits',
    choice:
      'By default the sandbox has no rate limits and sends no rate limit headers. With the option rateLimit it sends the headers and enforces the limits by the virtual clock.',
  },
  {
    id: 'lists',
    section: '4.5',
    question: 'Bodies of list responses',
    choice:
      'A list response is {<key>, links, meta.total}. The parameter page is 1 or greater, and per_page is 1 to 200; other values are answered with 422. A page after the last one is empty. Actions are listed newest first, droplets oldest first. List responses have the form that the public service documents. The client requires an array under <key> whose items have an id; for another body its error names `api GET … --paginate`, which prints the body unparsed.',
  },
  {
    id: 'single-resources',
    section: '4.5',
    question: 'Endpoints for one action or one droplet',
    choice:
      'GET /v2/actions/{id} returns one action, and GET /v2/droplets/{id} one droplet. Resources of other accounts are answered with 404.',
  },
  {
    id: 'create-body',
    section: '4.5',
    question: 'Response to the creation of droplets',
    choice:
      'The response to a creation request is 202 with droplet for a request with name, or droplets for a request with names in the same order, and the create actions in links.',
  },
  {
    id: 'create-required',
    section: '2',
    question: 'Attributes of a creation request, and which are required',
    choice:
      'A creation request requires size, image and either name or names; the default region is nyc3, and the letters of a place (nyc) mean its newest region. Null, [] and an empty region are treated as absent, and unknown attributes are ignored. Volumes are ids, or objects with id or name. Invalid values are answered with 422 and a message that names the field.',
  },
  {
    id: 'create-names',
    section: '4.5',
    question: 'Number of names in one creation request',
    choice:
      'A creation request can have at most 10 names; either all of its droplets are created or none. Names need not be unique.',
  },
  {
    id: 'create-lifecycle',
    section: '4.5',
    question: 'Lifecycle of a droplet',
    choice:
      'A droplet has the status new and no networks for 5 s of the virtual clock, then the status active. The create action of a droplet is in progress until the droplet is active.',
  },
  {
    id: 'create-catalogue',
    section: '2',
    question: 'Available regions, sizes and images',
    choice:
      'The sandbox accepts the slugs of the public service that src/sandbox/v2/catalogue.ts lists. A request with another slug is answered with 422.',
  },
  {
    id: 'droplet-limit',
    section: '8',
    question: 'Number of droplets in an account',
    choice:
      'By default the number of droplets is not limited. The option dropletLimit sets a limit for each account; a request that exceeds it is answered with 422 and the id droplet_limit.',
  },
  {
    id: 'delete-droplet',
    section: '4.5',
    question: 'Path and response of a droplet deletion',
    choice:
      'DELETE /v2/droplets/{id} deletes one droplet, and DELETE /v2/droplets?tag_name=T deletes all droplets with a tag; the response is 204. For each deleted droplet an action of type destroy is recorded.',
  },
  {
    id: 'cluster-owner',
    section: '4.5',
    question: 'Clusters and migrations that a token can access',
    choice:
      'A token gives access to the clusters and migrations of its account. A cluster and its migrations belong to one person or team; requests of other accounts are answered with 404 for every method, and the control panel does not show the cluster to them. The clusters of the seed data and the clusters with a database server belong to the first person.',
  },
  {
    id: 'cluster-list',
    section: '4.5',
    question: 'Response to GET /v2/databases',
    choice:
      'GET /v2/databases returns the clusters of the account, each with id, name, engine (pg or redis), version, status and connection.port. Clients of the public service use GET /v2/databases.',
  },
  {
    id: 'migration-answer',
    section: '4.5',
    question: 'Response to an online migration request, and status of the migration',
    choice:
      'The response to an online migration request is 200 with id, created_at and the status running. GET of the same path returns the latest migration, whose status is running, or canceled with stopped_at and a reason (stopped_by_user or max_duration).',
  },
  {
    id: 'migration-rows',
    section: '3',
    question: 'Data copied by an online migration',
    choice:
      'A migration copies data only into a cluster with a database server (option clusters). That server replicates from the source; GET then also returns method, databases with their tables, warnings and leftovers, and the status can also be syncing, done or error. When one of several databases fails, the others continue; the status of the migration is the worst status of a database with tables, so it becomes error immediately. A database that has lost its source, target, publication or replication connection, or whose target cannot apply changes, has its own phase (source_unreachable, target_unreachable, server_busy, publication_missing, apply_stopped, link_down) and a reason, and the status of the migration stays running.',
  },
  {
    id: 'migration-target',
    section: '4.6',
    question: 'A target that already contains tables or keys',
    choice:
      'A migration into a target that already contains tables or keys fails: a database of the same name must be empty or absent, and a Redis target must have no keys.',
  },
  {
    id: 'migration-idle',
    section: '3',
    question: 'A migration with no changes left to replicate',
    choice:
      'A migration continues until it is stopped. With the option finishWhenIdle it is done after 60 s of the virtual clock without a change. A migration into a cluster without a database server replicates nothing and is never done.',
  },
  {
    id: 'migration-slots',
    section: '4.6',
    question: 'A source whose number of replication slots equals the number of databases',
    choice:
      'The request is accepted, as the specification says, but no replication slot is left for the initial copy of the tables, so that no row is copied: the target reports that all replication slots are in use. Therefore db preflight requires one additional replication slot, and the comparison of preflight verdicts with real migrations includes this case.',
  },
  {
    id: 'migration-restart',
    section: '3',
    question: 'A migration that was running when the sandbox ended',
    choice:
      'If the cluster has a database server, the replication slots and publications of the migration are removed, and its status is error with the reason interrupted. If the cluster has none, the migration continues after a restart with a state folder.',
  },
  {
    id: 'migration-stop',
    section: '3',
    question: 'How a client stops a migration',
    choice:
      'The client sends DELETE to the path of the migration, with or without its id; the response is 204. The request has no effect on a migration that has ended.',
  },
  {
    id: 'migration-required',
    section: '2',
    question: 'Required fields of an online migration request',
    choice:
      'An online migration request requires source.host, and source.dbname for PostgreSQL unless host is a connection string. Null is treated as absent. Wrong types, and a managed cluster as source (its name or the address of its database server), are answered with 422. If the source is such a database server under another host name, the migration ends with an error.',
  },
  {
    id: 'source-host-forms',
    section: '2',
    question: 'Forms of source.host',
    choice:
      'The field source.host accepts a host name, an IP address (IPv6 with or without brackets), a URL (postgres, postgresql, redis or rediss), and for PostgreSQL keywords and values (host=H dbname=D). Of a connection string only scheme and host are stored. If the cluster has no database server, the form is not checked further. If the cluster has one, a form that its engine does not support, several hosts, a port after a host name (PostgreSQL) and a Unix socket are answered with 422.',
  },
  {
    id: 'migration-none',
    section: '4.5',
    question: 'GET and DELETE for a cluster that had no online migration',
    choice:
      'For a cluster that had no online migration, GET and DELETE are answered with 404 and the id not_found, as for a cluster that does not exist.',
  },
  {
    id: 'migration-conflict',
    section: '3',
    question: 'A second migration into a cluster while another one runs',
    choice:
      'The second request is answered with 409 and the id conflict after its body was checked. The first migration continues.',
  },
];
