import type { TopicPage } from '../cli/command.ts';

/** The JSON Schemas in the folder schemas, with what each describes: the output of commands, or something else. */
export const outputSchemas: readonly OutputSchema[] = [
  { file: 'droplets-list-1.json', commands: ['droplets list', 'droplets get'], text: 'a droplet' },
  { file: 'droplets-create-1.json', commands: ['droplets create'], text: 'a row' },
  { file: 'droplets-delete-1.json', commands: ['droplets delete', 'droplets batches delete'], text: 'a row' },
  { file: 'droplets-batches-list-1.json', commands: ['droplets batches list'], text: 'a batch' },
  { file: 'droplets-batches-show-1.json', commands: ['droplets batches show'], text: 'a name of a batch' },
  { file: 'auth-status-1.json', commands: ['auth status', 'auth whoami'], text: 'a session' },
  { file: 'db-status-1.json', commands: ['db status'], text: 'a migration' },
  { file: 'db-watch-1.json', commands: ['db watch'], text: 'a poll' },
  { file: 'preflight-report-1.json', commands: ['db preflight'], text: 'the report' },
  { file: 'inventory-report-1.json', commands: ['db inventory'], text: 'the report (json)' },
  { file: 'inventory-source-1.json', commands: ['db inventory'], text: 'a source (ndjson)' },
  { file: 'error-1.json', commands: [], text: 'an error on standard error (json, ndjson)' },
  { file: 'config-1.json', commands: [], text: 'the file config.json' },
  { file: 'sandbox-data-1.json', commands: [], text: 'the file of `sandbox start --data`' },
  { file: 'conformance-report-1.json', commands: [], text: 'the report of `npm run conformance`' },
];

interface OutputSchema {
  readonly file: string;
  readonly commands: readonly string[];
  readonly text: string;
}

/** `droplets list`, `droplets get`: a droplet. */
export function describeSchema({ commands, text }: OutputSchema): string {
  const names = commands.map((one) => `\`${one}\``).join(', ');
  return names === '' ? text : `${names}: ${text}`;
}

export const outputHelpTopic: TopicPage = {
  text: [
    'Data goes to standard output, everything else to standard error. --quiet leaves out progress and notices.',
    'A table on a terminal fits its width: columns of low priority are left out, and times are relative. In a file or a pipe, a table has every column and ISO 8601 times.',
  ].join('\n\n'),
  sections: [
    {
      title: 'Formats (-o)',
      entries: [
        { term: 'table', text: 'columns for people to read (default)' },
        { term: 'json', text: 'one JSON document, printed after the last row is received' },
        { term: 'ndjson', text: 'one JSON object per line, printed as soon as it is received' },
        { term: 'yaml', text: 'one document' },
        { term: 'csv', text: 'a header line and one CSV record per row' },
      ],
    },
    {
      title: 'JSON Schemas (folder schemas; a .deb or .rpm has it in /usr/share/cloudctl)',
      entries: outputSchemas.map((schema) => ({ term: schema.file, text: describeSchema(schema) })),
    },
  ],
  examples: [
    { text: 'Choose columns', command: 'cloudctl droplets list --format ID,PublicIPv4 --no-header' },
    { text: 'Filter with JMESPath', command: 'cloudctl droplets list -o json --query "[?status==\'active\'].name"' },
  ],
};

export const scriptingHelpTopic: TopicPage = {
  text: [
    'A script needs no prompt: --no-input makes a missing value an error, and -y answers confirmations.',
    '`droplets create` writes a ledger. When `droplets create` is interrupted, run the resume command that it prints: each name is created exactly once. With --batch-id any machine can continue the batch.',
    'In CI, pass a token in CLOUDCTL_ACCESS_TOKEN, or keep a session in a file with --credential-store file.',
  ].join('\n\n'),
  examples: [
    {
      text: 'Create droplets, and print one JSON object for each',
      command:
        'cloudctl droplets create --names web-01,web-02 --region nyc3 --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson',
    },
    { text: 'Use the token in another program', command: 'TOKEN=$(cloudctl auth token)' },
    { text: 'Continue an interrupted batch', command: 'cloudctl droplets create --resume LEDGER' },
  ],
};

export const loginHelpTopic: TopicPage = {
  text: [
    'A profile names the servers and the application. `auth setup` creates it, and `auth login` opens the browser and waits for the redirect on a loopback address. Tokens are kept in the keychain of the system.',
    'The access token is renewed by itself until the session ends. Several profiles can be logged in at once; --profile selects one.',
  ].join('\n\n'),
  sections: [
    {
      title: 'Commands',
      entries: [
        { term: 'auth setup', text: 'Create or change a profile' },
        { term: 'auth login', text: 'log in through the browser; with --paste, the browser can be on another machine' },
        { term: 'auth status', text: 'show the account and when the session ends' },
        { term: 'auth switch', text: 'select another profile' },
        { term: 'auth logout', text: 'end the session on this machine and at the server' },
        { term: 'doctor', text: 'find what prevents a login' },
      ],
    },
    {
      title: 'Access token of a command: the first that is set',
      entries: [
        { term: '--profile NAME', text: 'the token of this profile; CLOUDCTL_ACCESS_TOKEN is then not used' },
        {
          term: 'CLOUDCTL_ACCESS_TOKEN',
          text: 'this token, also with CLOUDCTL_PROFILE; login, refresh, logout, switch and remove act on the profile nevertheless',
        },
        { term: 'token_command', text: 'the token that the program of the current profile prints' },
        { term: 'auth login', text: 'the session of the current profile' },
      ],
    },
  ],
  examples: [
    { text: 'Log in with read and write access', command: 'cloudctl auth login --scope "read write"' },
    { text: 'Try it without an account', command: 'cloudctl sandbox start' },
  ],
};

export const migrationHelpTopic: TopicPage = {
  text: 'An online migration copies a PostgreSQL or Redis database into a managed cluster while applications go on writing to the source. Give the password in PGPASSWORD, PGPASSFILE or REDISCLI_AUTH.',
  sections: [
    {
      title: 'Steps',
      entries: [
        { term: '1 db list', text: 'find the UUID of the cluster that receives the data' },
        { term: '2 db preflight', text: 'check the source, and write the fixes as scripts' },
        { term: '3 db rehearse', text: 'migrate into an empty server of your own first, and compare (optional)' },
        { term: '4 db migrate', text: 'check again, then start the migration' },
        { term: '5 db watch', text: 'follow the copy until the target has caught up' },
        { term: '6 db cutover', text: 'stop the application, then run the command that this checklist prints next' },
        { term: '  db sequences', text: 'set the sequences of the target, when the checklist says so (PostgreSQL)' },
        { term: '  db compare', text: 'compare all rows, when the checklist says so' },
        { term: '  db stop', text: 'end the migration, when the checklist says so' },
      ],
    },
  ],
  examples: [
    {
      text: 'Check a source for a target version',
      command: 'cloudctl db preflight --source postgres://mover@db.example.com/shop --target-version 17',
    },
  ],
};
