import { z } from 'zod';
import { EMAIL_CHARS_MAX, EmailAddress } from '../base/email_address.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import type { Limit } from '../base/route.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { importWork } from '../base/work_units.ts';
import { CHANGES, CHANGES_MAX, SUPPRESSION_REASONS } from './queries.ts';
import { CLEO, NOTE } from './shown.ts';

export const NOTE_CHARS_MAX = 500;
export const IMPORT_ADDRESSES_MAX = 1_000;
export const IMPORT_BYTES_MAX = 512 * 1024;

const Timestamp = z.iso.datetime();
const Note = z
  .string()
  .min(1)
  .max(NOTE_CHARS_MAX, `at most ${NOTE_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);

const NOW = '2026-01-31T12:00:05.000Z';
const email = 'bob@example.com';

export const Suppression = z
  .strictObject({
    email: z
      .string()
      .nullable()
      .meta({ description: 'The address; null once the person is erased.' }),
    reason: z.enum(SUPPRESSION_REASONS),
    source: z.string().meta({
      description: 'Who told us: a webhook, a person, an import, a provider that refused its mail.',
    }),
    created_at: Timestamp,
  })
  .meta({
    id: 'Suppression',
    description: 'An address that gets no mail of this project any more.',
    examples: [{ email, reason: 'hard_bounce', source: 'webhook/smtp', created_at: NOW }],
  });

export const Unsubscribe = z
  .strictObject({
    email: z
      .string()
      .nullable()
      .meta({ description: 'The address; null once the person is erased.' }),
    source: z.string().meta({ description: 'Who said so last: a link, a webhook, a person.' }),
    unsubscribed_at: Timestamp.meta({
      description: 'Since when, however often it was said since.',
    }),
  })
  .meta({
    id: 'Unsubscribe',
    description: 'An address that gets no marketing mail of this project any more.',
    examples: [{ email, source: 'link', unsubscribed_at: NOW }],
  });

const AddressChange = z.strictObject({
  change: z.enum(CHANGES),
  reason: z.enum(SUPPRESSION_REASONS).nullable(),
  source: z.string(),
  note: z.string().nullable().meta({ description: 'What was said about it.' }),
  import_id: z.uuid().nullable(),
  changed_at: Timestamp.meta({ description: 'Since when it counts.' }),
});

/** An address as the API shows it, with what was done about it. */
export const AddressState = z
  .strictObject({
    email: z.string().nullable(),
    suppressed: z
      .strictObject({
        reason: z.enum(SUPPRESSION_REASONS),
        source: z.string(),
        created_at: Timestamp,
      })
      .nullable()
      .meta({ description: 'Why it gets no mail at all; null when it may.' }),
    unsubscribed_at: Timestamp.nullable().meta({
      description: 'Since when it gets no marketing mail; null when it may.',
    }),
    history: z.array(AddressChange).meta({ description: 'Newest first.' }),
  })
  .meta({
    id: 'Address',
    description: 'How an address stands, and why.',
    examples: [
      {
        email,
        suppressed: { reason: 'manual', source: 'api', created_at: NOW },
        unsubscribed_at: null,
        history: [
          {
            change: 'suppressed',
            reason: 'manual',
            source: 'api',
            note: NOTE,
            import_id: null,
            changed_at: NOW,
          },
        ],
      },
    ],
  });

const aboutNote = { description: 'Why, for whoever looks later.' };

export const NewSuppression = z
  .strictObject({ email: EmailAddress, note: Note.optional().meta(aboutNote) })
  .meta({ examples: [{ email: CLEO, note: NOTE }] });

export const NewLift = z
  .strictObject({
    reason: Note.meta({ description: 'Why it is lifted.' }),
    lift_complaint: z.boolean().default(false).meta({
      description: 'Said a second time: lift it although the recipient complained.',
      default: false,
    }),
  })
  .meta({ examples: [{ reason: 'has a new mailbox', lift_complaint: false }] });

export const IMPORT_REASONS = [...SUPPRESSION_REASONS, 'unsubscribed'] as const;

const Reason = z.enum(IMPORT_REASONS).default('manual').meta({ default: 'manual' });

/** One address of a list. */
export const ImportItem = z.strictObject({ email: EmailAddress, reason: Reason });
export type ImportItem = z.output<typeof ImportItem>;

const aboutList = { description: 'Where the list comes from.' };

/** What cannot be read of a list holds up nobody, so anything may stand in it. */
const Listed = z.union([
  ImportItem,
  z.unknown().meta({
    description:
      'Anything else is named in `errors`, and the others are taken; with no others, it is refused.',
  }),
]);

export const NewImport = z
  .union(
    [
      z.strictObject({
        addresses: z
          .array(Listed)
          .min(1)
          .max(IMPORT_ADDRESSES_MAX, `at most ${IMPORT_ADDRESSES_MAX} addresses`),
        note: Note.optional().meta(aboutList),
      }),
      z.strictObject({
        csv: z.string().meta({
          description:
            'CSV (RFC 4180): the address in the column `email`, or the first; if you like, the reason in `reason`.',
        }),
        note: Note.optional().meta(aboutList),
      }),
    ],
    'must have either `addresses`, a list, or `csv`, a text; and no more than a `note` beside it',
  )
  .meta({
    examples: [
      {
        addresses: [{ email: 'bob@example.com', reason: 'unsubscribed' }],
        note: 'from the provider we had before',
      },
    ],
  });

/** The body of an import, and what it costs. */
export const importBody = {
  body: NewImport,
  bodyBytesMax: IMPORT_BYTES_MAX,
  workOf: (list: z.output<typeof NewImport>) => [
    importWork('csv' in list ? list.csv : list.addresses),
  ],
};

const Count = z.int().nonnegative();

const Unread = z.strictObject({
  line: Count.optional().meta({ description: 'The line of the CSV.' }),
  path: z.string().optional().meta({ description: 'The place in the JSON, as a JSON Pointer.' }),
  message: z.string(),
});
export type Unread = z.output<typeof Unread>;

export const Imported = z
  .strictObject({
    import_id: z.uuid().meta({ description: 'Takes the import back, if it was a mistake.' }),
    addresses: Count.meta({ description: 'Addresses of the list, each counted once.' }),
    errors: z
      .array(Unread)
      .meta({ description: `What of the list cannot be read, the first ${ISSUES_MAX}.` }),
  })
  .meta({
    examples: [{ import_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f', addresses: 1, errors: [] }],
  });

export const ImportUndone = z
  .strictObject({
    import_id: z.uuid(),
    released: Count.meta({
      description: 'Addresses of it that may get mail now: nobody else has said anything of them.',
    }),
  })
  .meta({ examples: [{ import_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f', released: 1 }] });

export const suppressionLimits: readonly Limit[] = [
  { name: 'Addresses in an import', value: IMPORT_ADDRESSES_MAX, unit: 'items', where: 'body' },
  { name: 'Body of an import', value: IMPORT_BYTES_MAX, unit: 'bytes', where: 'body' },
  { name: 'Note or reason of a change', value: NOTE_CHARS_MAX, unit: 'characters', where: 'body' },
  { name: 'Changes of an address', value: CHANGES_MAX, unit: 'items', where: '`history`' },
];

/** What names an address in a path. */
export const EmailParams = z.object({
  email: z
    .string()
    .min(1)
    .max(EMAIL_CHARS_MAX)
    .meta({
      description: 'The address.',
      examples: ['bob@example.com'],
    }),
});
