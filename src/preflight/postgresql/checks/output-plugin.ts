import { failOutcome, passOutcome, skipOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { pgoutputAvailabilityQuery } from '../queries/pgoutput-availability.ts';

export const outputPluginCheck = declareServerPreflightCheck({
  id: 'output-plugin',
  title: 'the server can load the output plugin pgoutput',
  headline: 'The server cannot load the output plugin pgoutput',
  severity: { continuous: 'blocker' },
  needs: 'connection',
  queries: { plugin: pgoutputAvailabilityQuery },
  evaluate({ plugin }) {
    if (plugin === undefined) return skipOutcome('only a superuser can see the libraries of the server');
    if (plugin.exists) return passOutcome('found');
    return failOutcome(['continuous'], 'not found', {
      required: 'the library pgoutput in dynamic_library_path',
      detail: `A subscription uses the output plugin pgoutput, and its replication slot cannot be created without pgoutput: "could not access file "pgoutput": No such file or directory". The server searches in ${plugin.path === '' ? 'no folder: dynamic_library_path is empty' : plugin.path}.`,
      fix: {
        by: 'the operator of the server',
        text: 'If dynamic_library_path was changed, add $libdir to the setting (reload). Otherwise install the server package again, which contains pgoutput.',
      },
    });
  },
});
