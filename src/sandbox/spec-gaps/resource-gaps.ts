import type { SpecGap } from './spec-gap.ts';

/** Of the resource API. */
export const RESOURCE_GAPS: readonly SpecGap[] = [
  {
    id: 'team-resources',
    section: '2',
    question: 'What a token under a team context sees',
    choice: 'The droplets and actions of the team; one of the person’s own account sees those of the person.',
  },
  {
    id: 'unknown-token-status',
    section: '7',
    question: 'HTTP status for an unknown, expired or revoked access token',
    choice: '404 with id not_found; with the option unknownTokenStatus 401 and the same body.',
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
    question: 'A write with the scope read',
    choice: '403 forbidden, judged before the path; nothing is changed.',
  },
  {
    id: 'trailing-slash',
    section: '4.5',
    question: 'A path with one slash at its end',
    choice: 'The same as without it; with more it is 404.',
  },
  {
    id: 'api-errors',
    section: '7',
    question: 'Errors of the resource API',
    choice: '{id, message, request_id} with 400, 401, 403, 404, 405, 413, 415, 422, 429 or 500.',
  },
  {
    id: 'rate-limits',
    section: '8',
    question: 'Rate limits',
    choice: '5000 an hour is told in headers and not enforced; the option rateLimit enforces, on the virtual clock.',
  },
  {
    id: 'lists',
    section: '4.5',
    question: 'Bodies of lists',
    choice:
      '{<key>, links, meta.total}; page from 1, per_page 1 to 200, anything else 422; a page after the last is empty. Actions newest first, droplets oldest first.',
  },
  {
    id: 'single-resources',
    section: '4.5',
    question: 'Reading one action or droplet',
    choice: 'GET /v2/actions/{id} and GET /v2/droplets/{id}; those of another account are 404.',
  },
  {
    id: 'create-body',
    section: '4.5',
    question: 'Answer to a creation',
    choice: '202 with droplet for name, droplets for names, in the order given, and the actions in links.',
  },
  {
    id: 'create-required',
    section: '2',
    question: 'Attributes of a creation and which are required',
    choice:
      'name or names, size and image; region is nyc3 when absent. Null and [] count as absent, unknown attributes are ignored, anything wrong is 422 and names the field.',
  },
  {
    id: 'create-names',
    section: '4.5',
    question: 'How many names at once',
    choice: 'At most 10, all or none. Names may be taken already.',
  },
  {
    id: 'create-lifecycle',
    section: '4.5',
    question: 'Life of a droplet',
    choice: 'new without networks for 5 s of the virtual clock, then active; its create action is in progress as long.',
  },
  {
    id: 'create-catalogue',
    section: '2',
    question: 'Which regions, sizes and images there are',
    choice: 'The public slugs of the catalogue in src/sandbox/v2/catalogue.ts; others are 422.',
  },
  {
    id: 'droplet-limit',
    section: '8',
    question: 'A limit of droplets',
    choice: 'None; the option dropletLimit sets one for each account, answered with 422 and id droplet_limit.',
  },
  {
    id: 'delete-droplet',
    section: '4.5',
    question: 'Path and answer of deleting a droplet',
    choice: 'DELETE /v2/droplets/{id} with 204; an action of type destroy is recorded.',
  },
  {
    id: 'migration-answer',
    section: '4.5',
    question: 'Answer to an online migration request, and its status',
    choice:
      '200 with id, status running and created_at. GET of the same path tells the latest: running, or canceled with stopped_at and reason stopped_by_user or max_duration.',
  },
  {
    id: 'migration-rows',
    section: '3',
    question: 'What an online migration moves',
    choice:
      'Nothing, unless the cluster has a data plane (option clusters): then its server follows the source, and GET adds method, databases with their tables, warnings and leftovers; status is also syncing, done or error. Of several databases one that fails leaves the others on their way; the status is error when the last has ended.',
  },
  {
    id: 'migration-target',
    section: '4.6',
    question: 'A target that already holds tables or keys',
    choice: 'It is refused: a database of the same name must be empty or absent, and a Redis target without keys.',
  },
  {
    id: 'migration-idle',
    section: '3',
    question: 'When nothing is left to replicate',
    choice:
      'The migration goes on until it is stopped; with the option finishWhenIdle it is done after 60 s of the virtual clock without a change.',
  },
  {
    id: 'migration-restart',
    section: '3',
    question: 'A migration whose sandbox ended in the middle',
    choice: 'Its slots and publications are removed, and it is an error with the reason interrupted.',
  },
  {
    id: 'migration-stop',
    section: '3',
    question: 'Stopping a migration without the control panel',
    choice: 'DELETE of the path, or of it with the id, with 204; of one that has ended as well, which changes nothing.',
  },
  {
    id: 'migration-required',
    section: '2',
    question: 'Required fields of an online migration request',
    choice:
      'source.host, and source.dbname for PostgreSQL unless host is a connection string. Null counts as absent, wrong types and a managed cluster as source are 422, a second migration into a cluster while one runs is 409.',
  },
];
