import { commentDefinitionsQuery } from './parts/comments.ts';
import {
  checkConstraintDefinitionsQuery,
  constraintValidationsQuery,
  foreignKeyDefinitionsQuery,
  keyConstraintDefinitionsQuery,
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
  extendedStatisticsQuery,
  partitionTriggerDefinitionsQuery,
  rewriteRuleDefinitionsQuery,
  rowPolicyDefinitionsQuery,
  triggerDefinitionsQuery,
} from './parts/triggers.ts';
import {
  castDefinitionsQuery,
  compositeTypeDefinitionsQuery,
  domainConstraintDefinitionsQuery,
  domainTypeDefinitionsQuery,
  enumTypeDefinitionsQuery,
  rangeTypeDefinitionsQuery,
} from './parts/types.ts';
import {
  columnDefaultDefinitionsQuery,
  materializedViewDefinitionsQuery,
  viewDefinitionsQuery,
} from './parts/views.ts';
import type { SchemaObjectDefinitionQuery } from './schema-object-definition.ts';

/** Queries for all objects that can be copied, one per kind. */
export const schemaObjectDefinitionQueries: readonly SchemaObjectDefinitionQuery[] = [
  namespaceDefinitionsQuery,
  extensionDefinitionsQuery,
  collationDefinitionsQuery,
  enumTypeDefinitionsQuery,
  compositeTypeDefinitionsQuery,
  domainTypeDefinitionsQuery,
  domainConstraintDefinitionsQuery,
  rangeTypeDefinitionsQuery,
  castDefinitionsQuery,
  functionDefinitionsQuery,
  aggregateDefinitionsQuery,
  sequenceDefinitionsQuery,
  sequenceOwnerDefinitionsQuery,
  tableDefinitionsQuery,
  columnSettingDefinitionsQuery,
  columnDefaultDefinitionsQuery,
  viewDefinitionsQuery,
  materializedViewDefinitionsQuery,
  checkConstraintDefinitionsQuery,
  constraintValidationsQuery,
  keyConstraintDefinitionsQuery,
  indexDefinitionsQuery,
  indexPartitionDefinitionsQuery,
  tableSettingDefinitionsQuery,
  extendedStatisticsQuery,
  triggerDefinitionsQuery,
  partitionTriggerDefinitionsQuery,
  rewriteRuleDefinitionsQuery,
  rowPolicyDefinitionsQuery,
  foreignKeyDefinitionsQuery,
  publicationDefinitionsQuery,
  commentDefinitionsQuery,
  eventTriggerDefinitionsQuery,
];
