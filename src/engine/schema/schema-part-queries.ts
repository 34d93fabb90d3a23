import { commentDefinitionsQuery } from './parts/comments.ts';
import {
  checkDefinitionsQuery,
  foreignKeyDefinitionsQuery,
  keyConstraintDefinitionsQuery,
  validationDefinitionsQuery,
} from './parts/constraints.ts';
import { aggregateDefinitionsQuery, functionDefinitionsQuery } from './parts/functions.ts';
import {
  indexDefinitionsQuery,
  indexPartitionDefinitionsQuery,
  tableSettingDefinitionsQuery,
} from './parts/indexes.ts';
import { collationDefinitionsQuery, extensionDefinitionsQuery, namespaceDefinitionsQuery } from './parts/namespaces.ts';
import { publicationDefinitionsQuery } from './parts/publications.ts';
import { sequenceDefinitionsQuery, sequenceOwnerDefinitionsQuery } from './parts/sequences.ts';
import { columnSettingDefinitionsQuery, tableDefinitionsQuery } from './parts/tables.ts';
import {
  eventTriggerDefinitionsQuery,
  partitionTriggerDefinitionsQuery,
  policyDefinitionsQuery,
  ruleDefinitionsQuery,
  statisticsDefinitionsQuery,
  triggerDefinitionsQuery,
} from './parts/triggers.ts';
import {
  castDefinitionsQuery,
  compositeDefinitionsQuery,
  domainCheckDefinitionsQuery,
  domainDefinitionsQuery,
  enumDefinitionsQuery,
  rangeDefinitionsQuery,
} from './parts/types.ts';
import { defaultDefinitionsQuery, materializedViewDefinitionsQuery, viewDefinitionsQuery } from './parts/views.ts';
import type { PartQuery } from './schema-part.ts';

/** Queries for all objects that can be copied, one per kind. */
export const schemaPartQueries: readonly PartQuery[] = [
  namespaceDefinitionsQuery,
  extensionDefinitionsQuery,
  collationDefinitionsQuery,
  enumDefinitionsQuery,
  compositeDefinitionsQuery,
  domainDefinitionsQuery,
  domainCheckDefinitionsQuery,
  rangeDefinitionsQuery,
  castDefinitionsQuery,
  functionDefinitionsQuery,
  aggregateDefinitionsQuery,
  sequenceDefinitionsQuery,
  sequenceOwnerDefinitionsQuery,
  tableDefinitionsQuery,
  columnSettingDefinitionsQuery,
  defaultDefinitionsQuery,
  viewDefinitionsQuery,
  materializedViewDefinitionsQuery,
  checkDefinitionsQuery,
  validationDefinitionsQuery,
  keyConstraintDefinitionsQuery,
  indexDefinitionsQuery,
  indexPartitionDefinitionsQuery,
  tableSettingDefinitionsQuery,
  statisticsDefinitionsQuery,
  triggerDefinitionsQuery,
  partitionTriggerDefinitionsQuery,
  ruleDefinitionsQuery,
  policyDefinitionsQuery,
  foreignKeyDefinitionsQuery,
  publicationDefinitionsQuery,
  commentDefinitionsQuery,
  eventTriggerDefinitionsQuery,
];
