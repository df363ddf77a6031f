import { z } from 'zod';
import { isDeeperThan } from '../base/json_depth.ts';
import type { Limit } from '../base/route.ts';
import { isStorable, isStorableJson, NOT_STORABLE } from '../base/text.ts';
import { EXAMINE_MS_MAX, MAIL_MS_MAX, WAITING_AUTHORS_OF_PROJECT_MAX } from './apart.ts';
import {
  LEVELS_MAX,
  PREHEADER_CHARS_MAX,
  RENDERED_CHARS_MAX,
  SUBJECT_CHARS_MAX,
  TEMPLATE_CHARS_MAX,
} from './limits.ts';
import { SampleRow } from './queries.ts';
import type { TemplateText } from './template_text.ts';

export const NAME_OF_TEMPLATE_CHARS_MAX = 200;
/** Of what becomes a line: with its Liquid it may be longer than the line. */
export const LINE_SOURCE_CHARS_MAX = 4_000;
export const SAMPLE_BYTES_MAX = 64 * 1024;
export const TEMPLATE_BODY_BYTES_MAX = 1024 * 1024;

const text = (charsMax: number) =>
  z.string().max(charsMax, `at most ${charsMax} characters`).refine(isStorable, NOT_STORABLE);

/** Before anybody looks into it: whatever is deep takes long to look at. */
const shallow = <Shape extends z.ZodType>(shape: Shape, levelsMax = LEVELS_MAX) =>
  z.preprocess((value, context) => {
    if (!isDeeperThan(value, levelsMax)) return value;
    context.addIssue({ code: 'custom', message: `at most ${LEVELS_MAX} levels deep` });
    return z.NEVER;
  }, shape) as unknown as Shape;

// `profile` and `event` are a level of their own.
const Sample = shallow(SampleRow, LEVELS_MAX + 1)
  .refine(
    (sample) => Buffer.byteLength(JSON.stringify(sample)) <= SAMPLE_BYTES_MAX,
    `at most ${SAMPLE_BYTES_MAX} bytes as JSON`,
  )
  .refine(isStorableJson, NOT_STORABLE)
  .meta({
    description:
      'Somebody to try the template on: `profile` and `event` as it sees them. A variable that is missing here is ' +
      'refused. Left out, one is made that has all that the template mentions. It is kept: invent somebody.',
  });

export const Name = text(NAME_OF_TEMPLATE_CHARS_MAX).min(1, 'must not be empty');

const parts = {
  subject: text(LINE_SOURCE_CHARS_MAX).meta({ description: 'Liquid; one line when rendered.' }),
  preheader: text(LINE_SOURCE_CHARS_MAX)
    .nullable()
    .optional()
    .meta({ description: 'Liquid; what inboxes show after the subject.' }),
  html: text(TEMPLATE_CHARS_MAX)
    .optional()
    .meta({ description: 'Liquid, escaped by default. Either this or `mjml`.' }),
  mjml: text(TEMPLATE_CHARS_MAX)
    .optional()
    .meta({ description: 'Made into HTML once, when it is saved.' }),
  text: text(TEMPLATE_CHARS_MAX)
    .nullable()
    .optional()
    .meta({ description: 'Liquid; derived from the HTML where there is none, or a blank one.' }),
  sample: Sample.nullable().optional(),
};

const hasOneBody = ({ html, mjml }: { html?: string | undefined; mjml?: string | undefined }) =>
  (html === undefined) !== (mjml === undefined);
const ONE_BODY = { message: 'either html or mjml', path: ['html'] };

const DRAFT_SHOWN = {
  name: 'Welcome',
  subject: 'Welcome, {{ profile.first_name | default: "there" }}',
  html: '<p>Good to have you.</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
};

const Draft = z
  .strictObject({ name: Name, ...parts })
  .refine(hasOneBody, ONE_BODY)
  .meta({ id: 'TemplateDraft', examples: [DRAFT_SHOWN] });
export type Draft = z.output<typeof Draft>;
export const NewTemplate = Draft;

/** A template as it was sent, with what was left out. */
export const toText = (name: string, given: Omit<Draft, 'name'>): TemplateText => {
  const { subject, preheader = null, text = null, sample = null, html = '', mjml } = given;
  const rest = { name, subject, preheader, text, sample };
  return mjml === undefined ? { ...rest, html } : { ...rest, mjml };
};

export const NewVersion = z
  .strictObject({
    after_version: z
      .int()
      .min(1)
      .meta({ description: 'The latest version that you have seen, and change.' }),
    name: Name.optional(),
    ...parts,
  })
  .refine(hasOneBody, ONE_BODY)
  .meta({
    id: 'NewTemplateVersion',
    examples: [{ after_version: 1, subject: DRAFT_SHOWN.subject, html: DRAFT_SHOWN.html }],
  });

const Event = z
  .strictObject({
    event: z.string().min(1).max(100, 'at most 100 characters'),
    properties: shallow(SampleRow.shape.event).default({}),
    occurred_at: z.iso.datetime({ offset: true }).optional(),
    source: z
      .enum(['browser', 'server'])
      .default('server')
      .meta({
        description:
          'Who sent it. What a browser sent is rendered without URLs and cut. ' +
          'An email to an unconfirmed address shows nothing else.',
      }),
  })
  .refine(
    (event) => Buffer.byteLength(JSON.stringify(event)) <= SAMPLE_BYTES_MAX,
    `at most ${SAMPLE_BYTES_MAX} bytes as JSON`,
  )
  .meta({ description: 'What happened. Left out, the sample’s.' });

const whom = {
  profile_id: z
    .union([z.uuid(), z.templateLiteral(['external_id:', z.string()])])
    .optional()
    .meta({
      description: 'Whose mail to show: the profile’s id, or `external_id:<your id>`.',
      examples: ['external_id:ann'],
    }),
  event: Event.optional(),
};

export const PreviewInput = z
  .strictObject({ version: z.int().min(1).optional(), ...whom })
  .meta({ id: 'TemplatePreviewOf', examples: [{ version: 1, profile_id: 'external_id:ann' }] });

export const DraftPreviewInput = z.strictObject({ template: Draft, ...whom }).meta({
  id: 'TemplatePreviewOfDraft',
  examples: [
    {
      template: { name: 'Welcome', subject: 'Welcome', html: 'Welcome' },
      profile_id: 'external_id:ann',
    },
  ],
});

export type Whom = Pick<z.output<typeof PreviewInput>, 'profile_id' | 'event'>;

/** What callers can run into. */
export const templateLimits: readonly Limit[] = [
  {
    name: 'Body or text of a template',
    value: TEMPLATE_CHARS_MAX,
    unit: 'characters',
    where: '`html`, `mjml`, the HTML that it makes, `text`',
  },
  {
    name: 'Subject or preheader of a template',
    value: LINE_SOURCE_CHARS_MAX,
    unit: 'characters',
    where: '`subject`, `preheader`, with their Liquid',
  },
  {
    name: 'Name of a template',
    value: NAME_OF_TEMPLATE_CHARS_MAX,
    unit: 'characters',
    where: '`name`',
  },
  {
    name: 'Sample of a template',
    value: SAMPLE_BYTES_MAX,
    unit: 'bytes',
    where: '`sample` as JSON',
  },
  {
    name: 'Nesting of what a template mentions',
    value: LEVELS_MAX,
    unit: 'levels',
    where:
      '`profile` and `event` of a sample, `properties` of an event, the variables of a template',
  },
  {
    name: 'Body of a request with a template',
    value: TEMPLATE_BODY_BYTES_MAX,
    unit: 'bytes',
    where: 'templates, their versions and previews',
  },
  {
    name: 'A rendered part',
    value: RENDERED_CHARS_MAX,
    unit: 'characters',
    where: 'HTML and text of a mail; past it the mail fails',
  },
  {
    name: 'A rendered subject',
    value: SUBJECT_CHARS_MAX,
    unit: 'characters',
    where: 'past it the mail fails',
  },
  {
    name: 'A rendered preheader',
    value: PREHEADER_CHARS_MAX,
    unit: 'characters',
    where: 'past it the mail fails',
  },
  {
    name: 'Time to render a mail',
    value: MAIL_MS_MAX,
    unit: 'milliseconds',
    where: 'all its parts; past it the mail fails',
  },
  {
    name: 'Time to look at a template',
    value: EXAMINE_MS_MAX,
    unit: 'milliseconds',
    where: 'when it is saved or shown',
  },
  {
    name: 'Templates of a project that wait to be saved or shown, per process',
    value: WAITING_AUTHORS_OF_PROJECT_MAX,
    unit: 'items',
    where: '503 past it',
  },
];
