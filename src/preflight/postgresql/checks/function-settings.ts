import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { functionsNeedingSuperuserOrLocaleQuery } from '../queries/superuser-created-functions.ts';

export const functionSettingsCheck = declareDatabasePreflightCheck({
  id: 'function-settings',
  title: 'no function has a setting that only a superuser can change',
  headline: 'A function has a setting that only a superuser can change',
  severity: { continuous: 'blocker', dump: 'info' },
  queries: { markedFunctions: functionsNeedingSuperuserOrLocaleQuery },
  evaluate({ markedFunctions }) {
    const found = markedFunctions.filter(({ superuserSettings }) => superuserSettings.length > 0);
    const [first] = found;
    if (first === undefined) return passOutcome('none');
    return failOutcome(['continuous'], countOf(found.length, 'function'), {
      required: 'function settings that every user may change',
      detail: `A managed target has no superuser, so CREATE FUNCTION fails: "permission denied to set parameter "${first.superuserSettings[0]}"". The restore of a dump continues without the function and the objects that depend on it.${buildUnlistedObjectsNote(found)}`,
      objects: limitFindingObjects(found).map(
        ({ name, superuserSettings }) => `${name} (${superuserSettings.join(', ')})`,
      ),
      fix: {
        by: 'the owner of the functions',
        text: 'Remove the setting (ALTER FUNCTION … RESET …) and set the value in the body of the function with set_config(), or exclude the database.',
      },
    });
  },
});
