import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { superuserFunctionsQuery } from '../queries/privileges.ts';
import { isTargetSuperuser } from '../target.ts';

export const functionSettingsCheck = declareDatabaseCheck({
  id: 'function-settings',
  title: 'no function has a setting that only a superuser can change',
  headline: 'A function has a setting that only a superuser can change',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { markedFunctions: superuserFunctionsQuery },
  evaluate({ markedFunctions }, _database, _facts, options) {
    const found = markedFunctions.filter(({ superuserSettings }) => superuserSettings.length > 0);
    const [first] = found;
    if (first === undefined) return passOutcome('none');
    // Even with a superuser of the target, the role that receives the copy is none.
    return failOutcome(
      isTargetSuperuser(options) ? ['continuous'] : ['continuous', 'dump'],
      countOf(found.length, 'function'),
      {
        required: 'function settings that every user may change',
        detail: `The copy is created without a superuser, so CREATE FUNCTION fails: "permission denied to set parameter "${first.superuserSettings[0]}"".${unlistedNote(found)}`,
        objects: limitObjects(found).map(({ name, superuserSettings }) => `${name} (${superuserSettings.join(', ')})`),
        fix: {
          by: 'the owner of the functions',
          text: 'Remove the setting (ALTER FUNCTION … RESET …) and set the value in the body of the function with set_config(), or exclude the database.',
        },
      },
    );
  },
});
