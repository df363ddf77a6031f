import { z } from 'zod';
import { jsonObject } from '../base/json_object.ts';
import { CATEGORIES, ON_UNKNOWN } from '../delivery/delivery.ts';

export const STEPS_MAX = 100;
export const FILTERS_MAX = 20;
const STEP_ID = /^[a-z][a-z0-9_]{0,49}$/;

const StepId = z.string().regex(STEP_ID, 'lower case letters, digits and _, at most 50');
const Next = StepId.nullable();
const Scalar = z.union([z.string(), z.number(), z.boolean()]);

const EventTrigger = z.strictObject({
  kind: z.literal('event'),
  event: z.string(),
  /** The event's property equals the value; all of them must. */
  filters: z
    .array(z.strictObject({ property: z.string(), equals: Scalar }))
    .max(FILTERS_MAX)
    .default([]),
});
export type EventTrigger = z.output<typeof EventTrigger>;

const NAME_CHARS_MAX = 255;
const isName = (name: unknown): boolean =>
  typeof name === 'string' && name.length >= 1 && name.length <= NAME_CHARS_MAX;

/** Trait name → name of the event's property. */
const TraitsFromEvent = jsonObject<string>().refine(
  (names) => Object.entries(names).flat().every(isName),
  `names have 1 to ${NAME_CHARS_MAX} characters`,
);

/** Copies properties of the trigger event onto the profile as traits, where the event has them. */
const UpdateProfile = z.strictObject({
  kind: z.literal('update_profile'),
  traits_from_event: TraitsFromEvent,
  next: Next,
});

const SendEmail = z.strictObject({
  kind: z.literal('send_email'),
  provider_id: z.uuid(),
  template_id: z.uuid(),
  template_version: z.int().min(1),
  next: Next,
});

export const Step = z.discriminatedUnion('kind', [UpdateProfile, SendEmail]);
export type Step = z.output<typeof Step>;
export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

const PROTO = '__proto__';

/** By their ids. A zod record would leave one behind without a word. */
const Steps = jsonObject()
  .refine((steps) => !Object.hasOwn(steps, PROTO), `no step is called ${PROTO}`)
  .pipe(
    z
      .record(StepId, Step)
      .refine((steps) => Object.keys(steps).length <= STEPS_MAX, `at most ${STEPS_MAX} steps`),
  );

export const RE_ENTRY = ['once', 'every_time'] as const;

/** What an automation does: a trigger, and steps that name the one after them. */
export const Definition = z
  .strictObject({
    trigger: EventTrigger,
    settings: z.strictObject({
      re_entry: z.enum(RE_ENTRY).default('once'),
      category: z.enum(CATEGORIES).default('marketing'),
      /** What becomes of a send whose outcome stays unknown; sent again, it may arrive twice. */
      on_unknown: z.enum(ON_UNKNOWN).default('hold'),
    }),
    entry: StepId,
    steps: Steps,
  })
  .superRefine(({ entry, steps }, context) => {
    const named = [entry, ...Object.values(steps).map(({ next }) => next)];
    for (const id of named) {
      if (id !== null && !Object.hasOwn(steps, id)) {
        context.addIssue({ code: 'custom', path: ['steps'], message: `there is no step "${id}"` });
      }
    }
  });
export type Definition = z.output<typeof Definition>;
/** A definition as its author gives it: what has a default may be left out. */
export type NewDefinition = z.input<typeof Definition>;
