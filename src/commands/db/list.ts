import { listClusters } from '../../api/clusters.ts';
import { type JsonRecord, readStringField } from '../../base/json.ts';
import { type ListView, linkColumn } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { findPanelUrls } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';
import { limitOption, printList } from '../resource-list.ts';

const clusterView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => readStringField(row, 'id') },
    { name: 'Name', value: (row) => readStringField(row, 'name') },
    { name: 'Engine', value: (row) => readStringField(row, 'engine') },
    { name: 'Version', value: (row) => readStringField(row, 'version') },
    { name: 'Status', value: (row) => readStringField(row, 'status') },
  ],
};

export const dbList: CommandSpec<CommandContext> = {
  description:
    'Lists the managed database clusters of the account, which are the targets of migrations. Other commands take the UUID in the column ID. The specification of the service does not define a list of clusters. A server that has no list is an error; the control panel then shows the UUID of a cluster.',
  options: [limitOption],
  examples: [
    { text: 'List the UUID of every cluster', command: 'cloudctl db list --format ID,Name' },
    {
      text: 'Print the UUID of one cluster, for a script',
      command: `cloudctl db list --query "[?name=='orders'].id | [0]" -o json`,
    },
  ],
  columns: clusterView.columns,
  fields: ['id', 'name', 'engine', 'version', 'status', 'connection'],
  run: async (context, args) => {
    const pages = findPanelUrls(context.host.folders.state, context.settings().values.auth_url);
    return printList(context, args, {
      view: pages === undefined ? clusterView : linkColumn(clusterView, 'ID', pages.migration),
      resource: 'clusters',
      remember: 'databases',
      filters: [],
      list: listClusters,
    });
  },
};
