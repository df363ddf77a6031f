import { z } from 'zod';
import { EventName } from '../ingest/ingest.ts';
import { bounded, Filters, makeCondition, personLeaves } from '../segments/segments.ts';
import type { ConditionOf, PersonLeaf } from '../segments/segments.ts';
import { StepId } from './step_id.ts';

/** Only what a server key sent: a publishable key, which anyone can read in a page, can send any event. */
const ServerOnly = z
  .literal('server')
  .optional()
  .meta({
    description:
      'Only events that a server key sent count. Left out, events of browsers count, too: anyone who reads the ' +
      'publishable key in a page can send those.',
  });

/** An event of the person. */
export const EventMatch = z.strictObject({ event: EventName, where: Filters, source: ServerOnly });
export type EventMatch = z.output<typeof EventMatch>;

export const SEND_FACTS = [
  'queued',
  'accepted',
  'delivered',
  'bounced',
  'complained',
  'opened',
  'clicked',
  'stopped',
] as const;

const TriggerEvent = z
  .strictObject({ kind: z.literal('trigger'), where: Filters })
  .meta({ description: 'What the properties of the event are that began the run.' });
const EventSince = z
  .strictObject({ kind: z.literal('event_since'), ...EventMatch.shape })
  .meta({ description: 'Whether an event of the person occurred since the run began.' });
const OwnEmail = z
  .strictObject({
    kind: z.literal('email'),
    step: StepId.meta({ description: 'The step that sends the email.' }),
    became: z.enum(SEND_FACTS),
  })
  .meta({
    description:
      'What became of an email of this run. `opened` and `clicked` need a provider that reports them for the email ' +
      'by its id; a click counts as an open.',
  });

/** What only a run can be asked. */
const runLeaves = [TriggerEvent, EventSince, OwnEmail] as const;
export const RUN_KINDS = runLeaves.map(({ shape }) => shape.kind.value);
export type RunLeaf = z.output<(typeof runLeaves)[number]>;
export type ConditionLeaf = PersonLeaf | RunLeaf;
export type Condition = ConditionOf<ConditionLeaf>;

/** A condition of a step: the language of segments, and what only a run can be asked. */
export const Condition = bounded(
  makeCondition<ConditionLeaf>(
    [...personLeaves, ...runLeaves],
    'AutomationCondition',
    'What is asked of a person in a run.',
  ),
);
