import { pass, warn } from '../finding.ts';
import { markedFunctions, untrustedLanguages } from './asks/functions.ts';
import { superusers } from './asks/superusers.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const untrustedLang = databaseCheck({
  id: 'untrusted-lang',
  title: 'no function is written in an untrusted language',
  asks: { untrustedLanguages, markedFunctions },
  judge({ untrustedLanguages, markedFunctions }) {
    const functions = markedFunctions.filter(({ untrusted }) => untrusted !== undefined);
    if (untrustedLanguages.length + functions.length === 0) return pass('none');
    const languages = [...new Set([...untrustedLanguages, ...functions.map(({ untrusted }) => untrusted ?? '')])];
    const [first = ''] = languages;
    return warn(`${languages.join(', ')}; ${count(functions.length, 'function')}`, {
      required: 'trusted languages only, such as sql and plpgsql',
      detail: `A managed target has no superuser to make them: "language "${first}" does not exist" or "permission denied for language ${first}". The restore goes on, and they and what needs them are missing.${unlisted(functions)}`,
      objects: shown(functions).map(({ name, untrusted }) => `${name} (${untrusted})`),
      fix: {
        by: 'who owns the schema',
        text: 'Rewrite the functions in a trusted language, or drop them and the language.',
      },
    });
  },
});

export const secdef = databaseCheck({
  id: 'secdef',
  title: 'no function runs with the rights of a superuser',
  asks: { markedFunctions, superusers },
  judge({ markedFunctions, superusers }) {
    const owners = new Set(superusers);
    const found = markedFunctions.filter(({ securityDefiner, owner }) => securityDefiner && owners.has(owner));
    if (found.length === 0) return pass('none');
    return warn(count(found.length, 'function'), {
      required: 'none',
      detail: `SECURITY DEFINER runs them as their owner. A managed target gives no superuser ("role … not in permitted superuser list"), so there they belong to somebody with fewer rights, and fail when they need more.${unlisted(found)}`,
      objects: shown(found).map(({ name, owner }) => `${name} (owner ${owner})`),
      fix: {
        by: 'a superuser',
        text: 'Give them to an owner with just the rights that they need: ALTER FUNCTION … OWNER TO ….',
      },
    });
  },
});
