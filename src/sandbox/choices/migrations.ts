import type { Choice } from './choice.ts';

/** The sandbox's choices for clusters and online migrations. */
export const MIGRATION_CHOICES: readonly Choice[] = [
  {
    id: 'cluster-owner',
    rule: 'S7.4',
    question: 'Clusters and migrations that a token can access',
    choice:
      'A token gives access to the clusters and migrations of its account. A cluster and its migrations belong to one person or team; requests of other accounts are answered with 404 for every method, and the control panel does not show the cluster to them. The clusters of the seed data and the clusters with a database server belong to the first person.',
    observed: { 'cluster of another account': '404 not_found' },
  },
  {
    id: 'cluster-list',
    rule: 'S1.6',
    question: 'Response to GET /v2/databases',
    choice:
      'GET /v2/databases returns the clusters of the account, each with id, name, engine (pg or redis), version, status and connection.port. The sandbox has this endpoint because clients of the public service use it.',
    observed: { 'GET /v2/databases': '200', 'members of a cluster': 'id, name, engine, version, status, connection' },
  },
  {
    id: 'migration-answer',
    rule: 'S9.5',
    question: 'Response to an online migration request, and status of the migration',
    choice:
      'The response to an online migration request is 200 with id, created_at and the status running. GET of the same path returns the latest migration, whose status is running, or canceled with stopped_at and a reason (stopped_by_user or max_duration).',
    observed: {
      'PUT online-migration': '200',
      'members of the response': 'id, status, created_at',
      'status in the response': 'running',
    },
  },
  {
    id: 'migration-rows',
    rule: 'S9.6',
    question: 'Data copied by an online migration',
    choice:
      'A migration copies data only into a cluster with a database server (`--cluster`). That server replicates from the source; GET then also returns method, databases with their tables, warnings and leftovers, and the status can also be syncing, done or error. When one of several databases fails, it has the phase error and the others continue: the status stays running or syncing, and the migration can be stopped, until all have ended; then it is error. A database that has lost its source, target, publication or replication connection, or whose target cannot apply changes, has its own phase (source_unreachable, target_unreachable, server_busy, publication_missing, apply_stopped, link_down) and a reason, and the status of the migration stays running.',
    unobserved: 'a test needs a database server',
  },
  {
    id: 'migration-target',
    rule: 'S9.6',
    question: 'A target that already contains tables or keys',
    choice:
      'A migration into a target that already contains tables or keys fails: a database of the same name must be empty or absent, and a Redis target must have no keys.',
    unobserved: 'a test needs a database server',
  },
  {
    id: 'migration-idle',
    rule: 'S9.6',
    question: 'A migration with no changes left to replicate',
    choice:
      'A migration continues until it is stopped. With `--finish-when-idle` it is done after 60 s of the virtual clock without a change. A migration into a cluster without a database server replicates nothing and is never done.',
    observed: { 'status after a day without changes': 'running' },
  },
  {
    id: 'migration-slots',
    rule: 'S9.13',
    question: 'A source whose number of replication slots equals the number of databases',
    choice:
      'The request is accepted, as the rules of the service say, but no replication slot is left for the initial copy of the tables, so that no row is copied: the target reports that all replication slots are in use. Therefore db preflight requires one additional replication slot, and the comparison of preflight verdicts with real migrations includes this case.',
    unobserved: 'a test needs a database server',
  },
  {
    id: 'migration-restart',
    rule: 'S9.6',
    question: 'A migration that was running when the sandbox ended',
    choice:
      'If the cluster has a database server, the replication slots and publications of the migration are removed, and its status is error with the reason interrupted. If the cluster has none, the migration continues after a restart with a state folder.',
    unobserved: 'a test needs a restart of the sandbox',
  },
  {
    id: 'migration-stop',
    rule: 'S9.7',
    question: 'How a client stops a migration',
    choice:
      'The client sends DELETE to the path of the migration, with or without its id; the response is 204. The request has no effect on a migration that has ended. The status stays running or syncing until every database has ended, because sequences and materialized views are copied last (phase finishing); then it is canceled, with stopped_at.',
    observed: { 'DELETE of the migration': '204', 'status after it': 'canceled' },
  },
  {
    id: 'migration-required',
    rule: 'S9.5',
    question: 'Required fields of an online migration request',
    choice:
      'An online migration request requires source.host, and source.dbname for PostgreSQL unless host is a connection string. If the cluster has a database server, it also requires the user name of a PostgreSQL source. Null is treated as absent. Wrong types, and a managed cluster of any account as source (its name or UUID, also as a host name under db.cloud-sandbox.invalid, or the address of its database server), are answered with 422. If the source is such a database server under another host name, the migration ends with an error.',
    observed: {
      'no source.host': '422 unprocessable_entity',
      'no source.dbname': '422 unprocessable_entity',
      'no other member': '200',
      'null as username': '200',
    },
  },
  {
    id: 'source-host-forms',
    rule: 'S9.2',
    question: 'Forms of source.host',
    choice:
      'The field source.host accepts a host name, an IP address (IPv6 with or without brackets), a URL (postgres, postgresql, redis or rediss), and for PostgreSQL keywords and values (host=H dbname=D). Only host and port are stored, of a URL also the scheme; of a field in another form nothing is stored, because it may contain a password. A text that is neither a connection string nor can be a host name or an address is answered with 422. If the cluster has no database server, the form is not checked further. If the cluster has one, a form that its engine does not support, several hosts, a port after a host name, and a file, such as sslrootcert, are answered with 422.',
    observed: {
      '2001:db8::1': '200',
      'postgres://mover@source.example.com/shop': '200',
      'host=source.example.com dbname=shop': '200',
    },
  },
  {
    id: 'migration-none',
    rule: 'S9.5',
    question: 'GET and DELETE for a cluster that had no online migration',
    choice:
      'For a cluster that had no online migration, GET and DELETE are answered with 404 and the id not_found, as for a cluster that does not exist.',
    observed: { 'GET for an unknown cluster': '404 not_found' },
  },
  {
    id: 'migration-conflict',
    rule: 'S9.5',
    question: 'A second migration into a cluster while another one runs',
    choice:
      'The second request is answered with 409 and the id conflict after its body was checked. The first migration continues.',
    observed: { 'second migration': '409 conflict', 'status of the first': 'running' },
  },
];
