import { createStyles, usesColor } from '../../cli/color.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { renderTerminal } from '../../db/inventory/formats/terminal.ts';
import { inventoryOptionSpecs, readInventoryOptions } from '../../db/inventory/options.ts';
import { inventoryError, runInventory } from '../../db/inventory/run.ts';

export const dbInventory: CommandSpec<CommandContext> = {
  description:
    'Runs the preflight of many sources, and writes one report: a verdict for each source, each finding once, and what to fix first. FILE has a URL or a service name of pg_service.conf on each line, or is CSV with a header, whose columns give options to a source (docs/guides/inventory.md). Exit code 3: the requested method is not possible for at least one source. Exit code 5: it is possible for all sources that were checked, and some could not be checked.',
  arguments: [
    { name: 'FILE', description: 'List of sources; - for standard input', required: true, completion: 'file' },
  ],
  options: inventoryOptionSpecs,
  examples: [
    {
      text: 'Check many sources, and write one report of all',
      command: 'cloudctl db inventory sources.txt --target-version 17 --report inventory.html',
    },
    {
      text: 'Print each source as soon as it is checked, one JSON object on a line',
      command: 'cloudctl db inventory sources.csv -o ndjson',
    },
    {
      text: 'Get the password of each source from a program',
      command: `cloudctl db inventory sources.csv --password-command '["pass","show","databases"]'`,
    },
  ],
  // The report, and the sources of its rows.
  fields: [
    'schema_version',
    'kind',
    'started_at',
    'duration_ms',
    'summary',
    'fix_first',
    'servers',
    'findings',
    'sources',
    'line',
    'name',
    'url',
    'engine',
    'method',
    'state',
    'reason',
    'server',
    'server_version',
    'address',
    'verdict',
    'ok',
    'proven',
    'blocked_by',
    'databases',
    'size_bytes',
    'queries',
    'changes',
  ],
  run: async (context, args) => {
    const { host, output, globals } = context;
    const { report, fileError } = await runInventory({
      io: context,
      args,
      settings: context.settings(),
      inventory: readInventoryOptions(args),
    });
    if (output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined) {
      const isColored = usesColor({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') });
      await output.prose(renderTerminal(report, await createStyles(isColored)));
    } else if (output.format !== 'ndjson' && output.format !== 'csv') await output.data(report);
    const error = fileError ?? inventoryError(report);
    if (error !== undefined) throw error;
    return 0;
  },
};
