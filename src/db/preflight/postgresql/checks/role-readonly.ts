import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { describeSetting, effectiveSettings, roleSettingFix } from '../settings.ts';

export const roleReadonlyCheck = declareServerCheck({
  id: 'role-readonly',
  title: 'default_transaction_read_only is off for the role',
  headline: 'default_transaction_read_only is on for the role',
  severity: { continuous: 'blocker' },
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, facts) {
    const all = effectiveSettings('default_transaction_read_only', settings, roleSettings, facts);
    const on = all.filter(({ value }) => isOn(value));
    if (on.length === 0) return passOutcome('off');
    return failOutcome(
      ['continuous'],
      on.length === all.length ? 'on' : `on in ${on.length} of ${all.length} databases`,
      {
        required: 'off',
        detail:
          'CREATE PUBLICATION fails: "cannot execute CREATE PUBLICATION in a read-only transaction". The replication slot is still created, and remains after the failed migration.',
        objects: on.map(describeSetting),
        ...(on.length === all.length ? {} : { only: on.map(({ database }) => database) }),
        fix: roleSettingFix('default_transaction_read_only', 'off', on, role),
      },
    );
  },
});

function isOn(value: string): boolean {
  return /^(on|true|yes|1|t|tr|tru|y|ye)$/i.test(value);
}
