import type { Droplet, MatchingDroplets } from '../../api/droplets.ts';
import { usageError } from '../../base/errors.ts';
import { shortenInputForError } from '../../cli/values.ts';

/**
 * Returns the only droplet to which the text can refer; undefined when there is none. Throws a usage error when several
 * droplets match. @param verb the words of the command that the hint shows with an id
 */
export function requireOneDroplet(
  text: string,
  { withId, withName }: MatchingDroplets,
  verb: 'droplets get' | 'droplets delete' | 'open droplet',
): Droplet | undefined {
  const typed = shortenInputForError(text);
  const others = withName.filter(({ id }) => id !== withId?.id);
  const [first] = others;
  if (withId !== undefined && first !== undefined)
    throw usageError(
      `"${typed}" is the id of one droplet and the name of another`,
      `for the droplet with this id, run \`cloudctl api ${verb === 'droplets delete' ? 'DELETE' : 'GET'} /v2/droplets/${withId.id}\`; for the one with this name, run \`cloudctl ${verb} ${first.id}\``,
      `droplet ${withId.id} has the name "${shortenInputForError(withId.name)}"; ${others.map(({ id }) => `droplet ${id}`).join(', ')} has the name "${typed}"`,
    );
  if (others.length > 1)
    throw usageError(
      `${others.length} droplets have the name "${typed}"`,
      `pass the id of one of them: \`cloudctl ${verb} ${first?.id}\``,
      `ids: ${others.map(({ id }) => id).join(', ')}`,
    );
  return withId ?? first;
}
