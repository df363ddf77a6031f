import type { Limit } from '../base/route.ts';
import { IMPORT_PEOPLE_BYTES_MAX, IMPORT_PEOPLE_MAX } from './import_people.ts';
import { SEGMENTS_MAX } from './records.ts';
import * as schema from './schema.ts';
import * as values from './value_schema.ts';

/** What callers can run into. */
export const segmentLimits: readonly Limit[] = [
  {
    name: 'Segments of a project',
    value: SEGMENTS_MAX,
    unit: 'items',
    where: '`POST /v1/segments`',
  },
  { name: 'Name of a segment', value: values.NAME_CHARS_MAX, unit: 'characters', where: '`name`' },
  {
    name: 'Conditions of a segment',
    value: schema.CONDITIONS_MAX,
    unit: 'items',
    where: 'a definition, those that hold others included',
  },
  {
    name: 'Nesting of conditions',
    value: schema.DEPTH_MAX,
    unit: 'levels',
    where: '`all`, `any` and `not` in each other',
  },
  {
    name: 'Filters of a condition',
    value: values.FILTERS_MAX,
    unit: 'items',
    where: '`where` of an event',
  },
  { name: 'Values of a condition', value: values.ONE_OF_MAX, unit: 'items', where: '`one_of`' },
  {
    name: 'A text in a condition',
    value: values.VALUE_CHARS_MAX,
    unit: 'characters',
    where: '`value`, `values`',
  },
  {
    name: 'Window of a condition',
    value: values.WINDOW_DAYS_MAX,
    unit: 'days',
    where: '`within_days`, `within_last`, `within_next`',
  },
  {
    name: 'Days of an anniversary',
    value: values.ANNIVERSARY_DAYS_MAX,
    unit: 'days',
    where: '`anniversary`',
  },
  { name: 'Count of a condition', value: schema.COUNT_MAX, unit: 'items', where: '`count`' },
  {
    name: 'People in an import',
    value: IMPORT_PEOPLE_MAX,
    unit: 'items',
    where: '`POST /v1/segments/{id}/imports`',
  },
  {
    name: 'Body of an import of people',
    value: IMPORT_PEOPLE_BYTES_MAX,
    unit: 'bytes',
    where: '`POST /v1/segments/{id}/imports`',
  },
];
