import { CliError, usageError } from '../base/errors.ts';
import { isId } from '../base/json.ts';
import type { CommandSpec } from '../cli/command.ts';
import { pauseOf } from '../cli/command-io.ts';
import { shortenInput } from '../cli/values.ts';
import { findPanelUrls, type PanelUrls } from '../config/sandboxes.ts';
import type { ProfileSettings } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { isCluster, readCluster } from '../db/source/index.ts';
import { findDroplet } from '../droplets/index.ts';
import { browserObstacle, detectBrowser } from '../platform/browser.ts';

const lists = ['droplets', 'migrations', 'applications', 'requests', 'timeline'];

export const openCommand: CommandSpec<CommandContext> = {
  description:
    'Opens the page of the control panel in the browser: the page of a droplet or of the migration into a cluster, a list, or the panel itself. Where no browser can be opened, and with --print, the URL is printed. The specification of the service names no address of its panel, so pages are known for a sandbox only; elsewhere `cloudctl open` opens the authorization server.',
  arguments: [
    {
      name: 'PAGE',
      description: 'page to open, or the id of a droplet or cluster (default: panel)',
      choices: ['panel', 'droplet', 'migration', ...lists],
      isOtherValue: (value) => pageOfId(value) !== undefined,
    },
    {
      name: 'ID',
      description: 'id or name of a droplet, or UUID of the cluster of a migration',
      completion: { from: 'droplet' },
    },
  ],
  options: [{ name: 'print', description: 'print the URL and open nothing' }],
  examples: [
    { text: 'Open the page of a droplet', command: 'cloudctl open droplet web-01' },
    { text: 'Open the page of the droplet with this id', command: 'cloudctl open 3164494' },
    { text: 'Print the address of the panel', command: 'cloudctl open --print' },
  ],
  fields: ['url'],
  run: async (context, args) => {
    const [first = 'panel', second] = args.positionals;
    const pageOfFirst = second === undefined ? pageOfId(first) : undefined;
    const page = pageOfFirst ?? first;
    const id = pageOfFirst === undefined ? second : first;
    const needsId = page === 'droplet' || page === 'migration';
    if (needsId && (id === undefined || id.trim() === ''))
      throw usageError(
        `missing argument ID for "cloudctl open ${page}"`,
        `type \`cloudctl open ${page} ${page === 'droplet' ? 'web-01' : 'CLUSTER_UUID'}\``,
      );
    if (!needsId && id !== undefined)
      throw usageError(
        `unexpected argument "${shortenInput(id)}" for "cloudctl open ${page}"`,
        'see `cloudctl open --help`',
      );
    const cluster = page === 'migration' ? readCluster({ ...args, positionals: [id ?? ''] }) : '';
    const settings = context.settings();
    const pages = findPanelUrls(context.host.folders.state, settings.values.auth_url);
    const url = await urlOf(context, settings, pages, { page, id: id ?? '', cluster });
    const { host, output } = context;
    const runtime = detectBrowser(host.env, host.platform);
    const canOpen = browserObstacle(runtime, true, host.env.BROWSER) === undefined;
    let why = 'no browser can be opened here';
    const onFailure = (failure: string): void => {
      why = failure;
    };
    if (!args.has('print') && canOpen && (await host.browser.open(url, onFailure))) {
      await output.note(`Opened ${url}`);
      return 0;
    }
    if (!args.has('print')) await output.warn(`${why}; the URL is printed instead`);
    if (output.format === 'table' && context.globals.values('format').length === 0) await output.text(url);
    else await output.object({ url }, { columns: [{ name: 'URL', value: (row) => row.url }] });
    return 0;
  },
};

/**
 * Which page an id on the command line selects: a droplet id the page of the droplet, a cluster UUID the page of its
 * migration.
 */
function pageOfId(text: string): 'droplet' | 'migration' | undefined {
  if (isId(text)) return 'droplet';
  return isCluster(text) ? 'migration' : undefined;
}

interface WantedPage {
  readonly page: string;
  readonly id: string;
  readonly cluster: string;
}

async function urlOf(
  context: CommandContext,
  settings: ProfileSettings,
  pages: PanelUrls | undefined,
  { page, id, cluster }: WantedPage,
): Promise<string> {
  const origin = settings.values.auth_url;
  if (origin === undefined)
    throw usageError('auth_url is missing', 'pass --auth-url, set CLOUDCTL_AUTH_URL, or run `cloudctl auth setup`');
  if (pages === undefined) {
    if (page === 'panel') return origin;
    throw new CliError('not_found', `the address of the control panel of ${origin} is not known`, {
      detail: 'the specification of the service names no control panel, and no sandbox of this machine has this origin',
      hint:
        settings.profileName === 'sandbox'
          ? 'start the sandbox: `cloudctl sandbox start`'
          : 'open the authorization server: `cloudctl open`',
    });
  }
  switch (page) {
    case 'panel':
      return pages.home;
    case 'droplet':
      return pages.droplet(isId(id) ? id : await findId(context, settings, id));
    case 'migration':
      return pages.migration(cluster);
    default:
      return pages.page(page);
  }
}

async function findId(context: CommandContext, settings: ProfileSettings, name: string): Promise<string> {
  const reader = { api: await context.api(settings), pause: pauseOf(context) };
  return (await findDroplet(reader, name, 'open droplet').finally(() => context.progress.stop())).id;
}
