import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { FIRST_ID, timeOfId } from '../base/ids.ts';
import { listConditionRows } from './condition_queries.ts';
import { listCounted } from './conditions.ts';
import type { SegmentRow } from './record_queries.ts';
import { CAUSES } from './member_queries.ts';
import { KINDS, STATUSES } from './record_queries.ts';
import type { Told } from './read_queries.ts';
import { Definition } from './schema.ts';
import type { NewDefinition } from './schema.ts';
import { NAME_CHARS_MAX } from './value_schema.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';

const Timestamp = z.iso.datetime();
const NOW = '2026-01-31T12:00:05.000Z';
export const SHOWN_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const SHOWN_PROFILE_ID = '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03';

/** A definition for the documents: people on a plan who signed up lately. */
export const DEFINITION_SHOWN = {
  version: 1,
  include_suppressed: false,
  where: {
    kind: 'all',
    of: [
      { kind: 'trait', trait: 'first_name', test: { is: 'exists' } },
      {
        kind: 'event',
        event: 'user_signed_up',
        where: [{ property: 'plan', test: { is: 'equals', value: 'pro' } }],
        count: { is: 'at_least', value: 1 },
        within_days: 30,
      },
    ],
  },
} satisfies NewDefinition;

export const Name = z
  .string()
  .min(1, 'must not be empty')
  .max(NAME_CHARS_MAX, `at most ${NAME_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);

export const SEGMENT_SHOWN = {
  id: SHOWN_ID,
  name: 'New on Pro',
  kind: 'dynamic' as const,
  status: 'ready' as const,
  version: 1,
  definition: DEFINITION_SHOWN,
  progress: null,
  created_at: NOW,
  updated_at: NOW,
};

/** As it is when it was just made. */
export const NEW_SEGMENT_SHOWN = {
  ...SEGMENT_SHOWN,
  status: 'counting' as const,
  progress: { counted_until: null, examined: 0 },
};

export const Segment = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    kind: z.enum(KINDS).meta({
      description:
        'Members of a `dynamic` one follow from its definition, of a `static` one from lists.',
    }),
    status: z.enum(STATUSES).meta({
      description:
        '`counting`: what it asks of events is counted from the past, and its members are those of the version ' +
        'before. `filling`: everybody is looked at. `ready`: members are kept up to date, within seconds.',
    }),
    version: z.int().meta({ description: 'Counts up with each change, which has to name it.' }),
    definition: Definition.nullable(),
    progress: z
      .strictObject({
        counted_until: Timestamp.nullable().meta({
          description: 'Events that arrived until then are counted; null when all are.',
        }),
        examined: z.int().meta({ description: 'How many people were looked at.' }),
      })
      .nullable()
      .meta({ description: 'Null once it is ready.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Segment', examples: [SEGMENT_SHOWN] });

const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Until when what a segment asks of events is counted; null when all of it is. */
const findCountedUntil = async (scope: Scope, row: SegmentRow): Promise<Date | null> => {
  const asked = listCounted(row.definition === null ? [] : [row.definition]);
  const known = await listConditionRows(scope);
  const marks = asked.map(
    ({ conditionId }) =>
      known.find(({ condition_id }) => condition_id === conditionId)?.filled_to ?? FIRST_ID,
  );
  const least = marks.toSorted()[0];
  return least === undefined || least === MAX_ID ? null : timeOfId(least);
};

/** A segment as the API shows it. */
export const toSegment = async (
  scope: Scope,
  row: SegmentRow,
): Promise<z.input<typeof Segment>> => {
  const isReady = row.status === 'ready';
  const countedUntil = isReady ? null : await findCountedUntil(scope, row);
  const shown = {
    id: row.segment_id,
    name: row.name,
    kind: row.kind,
    status: row.status,
    version: row.version,
    definition: row.kind === 'static' ? null : row.definition,
    progress: isReady
      ? null
      : { counted_until: countedUntil?.toISOString() ?? null, examined: row.examined_count },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
  return shown;
};

export const Change = z
  .strictObject({
    entry: z.int().meta({ description: 'Counts up within the project.' }),
    profile_id: z.uuid(),
    change: z.enum(['entered', 'left']),
    cause: z.enum(CAUSES).meta({
      description:
        '`change`: the person, an event, or a static list changed. `time`: a number of days passed. `fill`: the ' +
        'definition of this segment, or of one that it uses, changed. `undo`: the undo of an identity link. ' +
        'The last two start and end no runs.',
    }),
    version: z.int().meta({ description: 'Of the segment, whose definition it was.' }),
    changed_at: Timestamp,
  })
  .meta({
    id: 'SegmentChange',
    examples: [
      {
        entry: 1,
        profile_id: SHOWN_PROFILE_ID,
        change: 'entered',
        cause: 'change',
        version: 1,
        changed_at: NOW,
      },
    ],
  });

/** A line of the history as the API shows it. */
export const toChange = (told: Told): z.input<typeof Change> => ({
  entry: told.entry,
  profile_id: told.profile_id,
  change: told.change,
  cause: told.cause,
  version: told.version,
  changed_at: told.changed_at.toISOString(),
});

export const Member = z
  .strictObject({ profile_id: z.uuid(), entered_at: Timestamp })
  .meta({ id: 'SegmentMember', examples: [{ profile_id: SHOWN_PROFILE_ID, entered_at: NOW }] });

/** Of an answer that comes from the members of other segments, too. */
export const UnreadySegments = z.array(z.uuid()).meta({
  description:
    'Segments that it asks about and that are not `ready`: their members, and so this answer, may change yet.',
});
