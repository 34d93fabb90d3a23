import type { PartQuestion } from './part.ts';
import { comments } from './parts/comments.ts';
import { checks, foreignKeys, keys, validations } from './parts/constraints.ts';
import { aggregates, functions } from './parts/functions.ts';
import { indexes, indexPartitions, tableSettings } from './parts/indexes.ts';
import { collations, extensions, schemas } from './parts/namespaces.ts';
import { publications } from './parts/publications.ts';
import { ownedSequences, sequences } from './parts/sequences.ts';
import { columnsOfTables, tables } from './parts/tables.ts';
import { eventTriggers, partitionTriggers, policies, rules, statistics, triggers } from './parts/triggers.ts';
import { casts, composites, domainChecks, domains, enums, ranges } from './parts/types.ts';
import { defaults, materializedViews, views } from './parts/views.ts';

/** Everything that can be copied, one question a kind of object. */
export const questions: readonly PartQuestion[] = [
  schemas,
  extensions,
  collations,
  enums,
  composites,
  domains,
  domainChecks,
  ranges,
  casts,
  functions,
  aggregates,
  sequences,
  ownedSequences,
  tables,
  columnsOfTables,
  defaults,
  views,
  materializedViews,
  checks,
  validations,
  keys,
  indexes,
  indexPartitions,
  tableSettings,
  statistics,
  triggers,
  partitionTriggers,
  rules,
  policies,
  foreignKeys,
  publications,
  comments,
  eventTriggers,
];
