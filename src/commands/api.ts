import { notJsonError, toApiError } from '../api/api-response.ts';
import { paginate } from '../api/list.ts';
import { refusedHints } from '../auth/session/index.ts';
import { CliError, usageError } from '../base/errors.ts';
import { tryParseExactJson, tryParseJson } from '../base/json.ts';
import { quoteShellArg } from '../base/text.ts';
import type { CommandSpec, ParsedArgs } from '../cli/command.ts';
import { pauseOf, quietForJson } from '../cli/command-io.ts';
import { readInput } from '../cli/user-file.ts';
import { shortenInput } from '../cli/values.ts';
import { rememberResponse } from '../config/name-collector.ts';
import type { CommandContext } from '../context.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Paths that completion suggests. */
const paths = ['account', 'actions', 'databases', 'droplets', 'images', 'regions', 'sizes'].map(
  (name) => `/v2/${name}`,
);

export const apiCommand: CommandSpec<CommandContext> = {
  description:
    'Sends one request with the session of the profile and prints the response body, as JSON unless --output says otherwise. Without METHOD, the request method is GET, or POST when there is a body. Each --field is a member of the JSON body, or with GET a parameter of the query. With --paginate, reads every page of a list and prints the items as one array.',
  arguments: [
    // Methods in lower case are accepted too, so the upper-case names are suggestions and not choices.
    {
      name: 'METHOD',
      description: `${methods.join(', ')} (default: GET, or POST with a body)`,
      completion: [...methods, ...paths],
    },
    {
      name: 'PATH',
      description: 'path and query, such as /v2/droplets?per_page=5, or its URL at the resource API',
      required: true,
      completion: paths,
    },
  ],
  options: [
    { name: 'method', short: 'X', valueName: 'METHOD', description: 'same as METHOD', completion: methods },
    {
      name: 'data',
      short: 'd',
      valueName: 'JSON',
      description: 'request body: JSON, @FILE, or - for standard input',
      completion: 'file',
    },
    {
      name: 'input',
      valueName: 'FILE',
      description: 'file with the request body in JSON; - reads standard input',
      completion: 'file',
    },
    {
      name: 'field',
      short: 'f',
      valueName: 'KEY=VALUE',
      multiple: 'repeat',
      description: 'member of the body with a text as its value',
    },
    { name: 'paginate', description: 'read every page and print the items as one array' },
  ],
  examples: [
    { text: 'Show the droplets', command: 'cloudctl api /v2/droplets' },
    {
      text: 'Create a droplet',
      command: 'cloudctl api /v2/droplets -f name=web-01 -f size=s-1vcpu-1gb -f image=ubuntu-24-04-x64',
    },
    { text: 'Delete a droplet', command: 'cloudctl api DELETE /v2/droplets/3164444' },
    { text: 'Print all droplets as one array', command: 'cloudctl api GET /v2/droplets --paginate' },
  ],
  run: async (context, args) => {
    const settings = context.settings();
    const { method, path: typed } = readTarget(args);
    const typedPath = readPath(typed, settings.values.base_url);
    const hasNoBody = method === 'GET' || method === 'HEAD';
    const fields = readFields(args);
    const source = ['data', 'input'].find((name) => args.has(name));
    if (source !== undefined && (hasNoBody || fields.length > 0))
      throw usageError(
        `cannot send --${source} with ${hasNoBody ? method : '--field'}`,
        `remove \`--${hasNoBody ? source : 'field'}\``,
      );
    const path = hasNoBody ? withQuery(typedPath, fields) : typedPath;
    const body =
      fields.length > 0 && !hasNoBody
        ? JSON.stringify(Object.fromEntries(fields))
        : await bodyOf(context, source, args.value(source ?? 'data'));
    if (args.has('paginate') && method !== 'GET')
      throw usageError(`cannot use --paginate with ${method}`, 'remove `--paginate`');
    const client = await context.api(settings);
    if (args.has('paginate')) {
      const items = await paginate(client, path, pauseOf(context));
      if (items === undefined)
        throw new CliError('api_error', `cannot paginate ${path.split('?')[0]}: the response is not a list`, {
          hint: 'remove `--paginate`',
        });
      rememberResponse(context.host.folders.state, settings, path, items);
      await context.output.data(items);
      return 0;
    }
    const answer = await client.request({ method, path, ...(body === undefined ? {} : { body }) });
    if (answer.status < 200 || answer.status >= 300)
      throw toApiError(answer, method, path.split('?')[0] ?? path, refusedHints(settings, context.host.folders.config));
    if (answer.raw.size === 0) {
      await context.output.note(`${answer.status}, no body.`);
      return 0;
    }
    const json = tryParseExactJson(answer.text());
    if (!json.ok) throw notJsonError(answer, method, path.split('?')[0] ?? path, json);
    if (method === 'GET') rememberResponse(context.host.folders.state, settings, path, json.value);
    await context.output.data(json.value);
    return 0;
  },
};

/** The path of a request, with its query. A URL is accepted when it is one of the resource API, the only host that gets the token. */
function readPath(typed: string, baseUrl: string | undefined): string {
  const path = /^[a-z][a-z0-9+.-]*:/i.test(typed)
    ? pathOfUrl(typed, baseUrl === undefined ? undefined : new URL(baseUrl).origin)
    : typed.replace(/^(?=[^/])/, '/');
  const plain = /^\/(?!\/)[\x21-\x7e]*$/.test(path) && !/[\\#]/.test(path);
  if (typed === '' || !plain)
    throw usageError(
      'PATH is not visible ASCII text that begins with one "/"',
      'use a path such as `"/v2/droplets?per_page=5"`',
    );
  return path;
}

function pathOfUrl(typed: string, origin: string | undefined): string {
  const url = URL.canParse(typed) ? new URL(typed) : undefined;
  // The parser changes these characters or leaves them out, so what was typed is not what would be sent.
  const isPlain = /^https?:\/\/[^/?@]+(?:[/?]|$)/i.test(typed) && !/[^\x21-\x7e]|[\\#]/.test(typed);
  if (isPlain && url !== undefined && url.origin === origin) return url.pathname + url.search;
  // Git Bash makes a Windows path of an argument that begins with a slash.
  const converted = /^[a-z]:[\\/].*?(\/v\d+\/.*)$/i.exec(typed)?.[1];
  if (converted !== undefined)
    throw usageError(
      'PATH is a path of Windows',
      `pass it without its first slash: \`cloudctl api ${quoteShellArg(converted.slice(1))}\``,
      'Git Bash changes arguments that begin with a slash',
    );
  throw usageError(
    `PATH is not a plain URL of ${origin ?? 'the resource API'}`,
    'pass the path alone, such as `/v2/droplets`',
    'only the resource API gets the access token; its origin is set by --base-url or by base_url of the profile',
  );
}

/** Reads method and path from `api PATH`, `api METHOD PATH` or `api -X METHOD PATH`. */
function readTarget(args: ParsedArgs): { readonly method: string; readonly path: string } {
  const [first = '', second] = args.positionals;
  const option = args.value('method');
  if (second === undefined && option === undefined && methods.includes(first.toUpperCase()))
    throw usageError('missing argument PATH for "cloudctl api"', 'see the example `cloudctl api GET /v2/droplets`');
  if (second !== undefined && option !== undefined && option.toUpperCase() !== first.toUpperCase())
    throw usageError('METHOD is given twice', 'remove `--method`', `METHOD is also ${shortenInput(first)}`);
  const hasBody = ['data', 'input', 'field'].some((name) => args.has(name));
  const path = second ?? first;
  const typed = option ?? (second === undefined ? undefined : first);
  if (typed === undefined) return { method: hasBody ? 'POST' : 'GET', path };
  const method = typed.toUpperCase();
  if (!methods.includes(method))
    throw usageError(`unknown method "${shortenInput(typed)}"`, `use one of ${methods.join(', ')}`);
  return { method, path };
}

function readFields(args: ParsedArgs): readonly (readonly [key: string, value: string])[] {
  return args.values('field').map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw usageError('--field is not KEY=VALUE', 'write the field as in `-f name=web-01`');
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
}

function withQuery(path: string, fields: readonly (readonly [key: string, value: string])[]): string {
  if (fields.length === 0) return path;
  const query = new URLSearchParams();
  for (const [key, value] of fields) query.append(key, value);
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

async function bodyOf(
  context: CommandContext,
  option: string | undefined,
  data: string | undefined,
): Promise<string | undefined> {
  if (option === undefined || data === undefined) return undefined;
  const text = await readBody(context, option, data);
  const json = tryParseJson(text);
  if (!json.ok) throw usageError(`--${option} ${json.reason}`, 'pass JSON, such as `--data \'{"name":"web-01"}\'`');
  return text;
}

async function readBody(context: CommandContext, option: string, data: string): Promise<string> {
  if (data !== '-' && option === 'data' && !data.startsWith('@')) return data;
  const { note } = quietForJson(context).output;
  const named = data !== '-' && option === 'data' ? data.slice(1) : data;
  const content = await readInput({ stdin: context.host.stdin, note }, named, {
    what: named === '-' ? 'the body on standard input' : `the body in ${named}`,
    readError: (reason) =>
      usageError(
        `could not read --${option}: ${reason}`,
        `pass a readable file, such as \`--${option} ${option === 'data' ? '@' : ''}body.json\``,
      ),
  });
  return content.toString('utf8');
}
