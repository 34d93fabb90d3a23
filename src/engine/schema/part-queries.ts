import { commentParts } from './parts/comments.ts';
import { checkParts, foreignKeyParts, keyConstraintParts, validationParts } from './parts/constraints.ts';
import { aggregateParts, functionParts } from './parts/functions.ts';
import { indexPartitionParts, indexParts, tableSettingParts } from './parts/indexes.ts';
import { collationParts, extensionParts, namespaceParts } from './parts/namespaces.ts';
import { publicationParts } from './parts/publications.ts';
import { sequenceOwnerParts, sequenceParts } from './parts/sequences.ts';
import { columnSettingParts, tableParts } from './parts/tables.ts';
import {
  eventTriggerParts,
  partitionTriggerParts,
  policyParts,
  ruleParts,
  statisticsParts,
  triggerParts,
} from './parts/triggers.ts';
import { castParts, compositeParts, domainCheckParts, domainParts, enumParts, rangeParts } from './parts/types.ts';
import { defaultParts, materializedViewParts, viewParts } from './parts/views.ts';
import type { PartQuery } from './schema-part.ts';

/** Queries for all objects that can be copied, one per kind. */
export const partQueries: readonly PartQuery[] = [
  namespaceParts,
  extensionParts,
  collationParts,
  enumParts,
  compositeParts,
  domainParts,
  domainCheckParts,
  rangeParts,
  castParts,
  functionParts,
  aggregateParts,
  sequenceParts,
  sequenceOwnerParts,
  tableParts,
  columnSettingParts,
  defaultParts,
  viewParts,
  materializedViewParts,
  checkParts,
  validationParts,
  keyConstraintParts,
  indexParts,
  indexPartitionParts,
  tableSettingParts,
  statisticsParts,
  triggerParts,
  partitionTriggerParts,
  ruleParts,
  policyParts,
  foreignKeyParts,
  publicationParts,
  commentParts,
  eventTriggerParts,
];
