import { z } from 'zod';
import { EmailAddress } from '../../base/email_address.ts';
import { BOUNCE_TOKEN_CHARS } from './bounce_token.ts';

const HOST = /^[A-Za-z\d_.:-]{1,253}$/;
const LOGIN_CHARS_MAX = 320;
const PASSWORD_CHARS_MAX = 1_000;
export const FOLDER_CHARS_MAX = 200;
/** RFC 5321 §4.5.3.1.1: a local part has 64 characters, and the token with its `+` takes most of them. */
export const VERP_LOCAL_CHARS_MAX = 64 - 1 - BOUNCE_TOKEN_CHARS;

export const MAILBOX_SECURE = ['starttls', 'ssl', 'none'] as const;
export const AFTER_READ = ['mark_seen', 'move', 'delete'] as const;

const IMAPS_PORT = 993;

const line = (charsMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charsMax, `at most ${charsMax} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'one line of text');

const fields = {
  host: z
    .string()
    .regex(HOST, 'a host name, such as imap.example.com')
    .meta({ description: 'Host name of the IMAP server.' }),
  port: z.int().min(1).max(65_535).default(IMAPS_PORT),
  secure: z.enum(MAILBOX_SECURE).default('ssl').meta({
    description:
      '`ssl` is TLS from the first byte, `starttls` upgrades a plain connection, `none` is for in-house servers only.',
  }),
  username: line(LOGIN_CHARS_MAX),
  folder: line(FOLDER_CHARS_MAX).default('INBOX'),
  bounce_address: EmailAddress.nullable().default(null).meta({
    description:
      'The envelope sender of emails through this provider: relays return bounces to it. Null: `from_email`.',
  }),
  verp: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Whether each email has an envelope sender of its own: `local+token@domain` of the bounce address. Its ' +
        `local part then has ${VERP_LOCAL_CHARS_MAX} characters at most.`,
    }),
  after_read: z.enum(AFTER_READ).default('mark_seen').meta({
    description:
      'What Trunkline does with a message that it has used. Messages that it cannot match stay as they are.',
  }),
  move_to: line(FOLDER_CHARS_MAX).nullable().default(null).meta({
    description: 'The folder for `move`.',
  }),
};

type Given = {
  folder: string;
  bounce_address: string | null;
  verp: boolean;
  after_read: (typeof AFTER_READ)[number];
  move_to: string | null;
};

const findIssue = (given: Given): { member: keyof Given; message: string } | null => {
  const { bounce_address: address, verp, after_read, move_to, folder } = given;
  if (verp && address === null)
    return { member: 'bounce_address', message: 'needed for verp: an address of this mailbox' };
  if (verp && address !== null && address.indexOf('@') > VERP_LOCAL_CHARS_MAX)
    return {
      member: 'bounce_address',
      message: `for verp, at most ${VERP_LOCAL_CHARS_MAX} characters before the @`,
    };
  if (after_read === 'move' && (move_to === null || move_to === folder))
    return { member: 'move_to', message: 'needed for move: another folder of the mailbox' };
  if (after_read !== 'move' && move_to !== null)
    return { member: 'move_to', message: 'only with after_read "move"' };
  return null;
};

const addIssue = (given: Given, context: z.core.$RefinementCtx): void => {
  const issue = findIssue(given);
  if (issue) context.addIssue({ code: 'custom', path: [issue.member], message: issue.message });
};

const password = z
  .string()
  .min(1, 'must not be empty')
  .max(PASSWORD_CHARS_MAX, `at most ${PASSWORD_CHARS_MAX} characters`)
  .refine((text) => !/[\0\r\n]/.test(text) && text.isWellFormed(), 'one line of text');

/** The bounce mailbox of a provider as a request sets it. */
export const BounceMailboxInput = z
  .strictObject({
    ...fields,
    password: password.optional().meta({
      description:
        'Kept sealed, never answered. Left out, the stored one stays: for the same host, port and encryption only.',
    }),
  })
  .superRefine(addIssue)
  .meta({ id: 'BounceMailboxInput' });
export type BounceMailboxInput = z.output<typeof BounceMailboxInput>;

const Timestamp = z.iso.datetime();

/** The bounce mailbox of a provider as the API shows it. */
export const BounceMailbox = z
  .strictObject({
    host: z.string(),
    port: z.int(),
    secure: z.enum(MAILBOX_SECURE),
    username: z.string(),
    password: z.strictObject({ set: z.literal(true) }),
    folder: z.string(),
    bounce_address: z.string().nullable(),
    verp: z.boolean(),
    after_read: z.enum(AFTER_READ),
    move_to: z.string().nullable(),
    status: z.enum(['active', 'stopped']).meta({
      description:
        '`stopped`: the server refused the login. Trunkline reads again once the record is saved or a test passes.',
    }),
    last_read_at: Timestamp.nullable().meta({ description: 'When the last reading succeeded.' }),
    message_count: z.int().meta({ description: 'Messages read since the record was saved.' }),
    report_count: z
      .int()
      .meta({ description: 'How many of them were reports about email of this project.' }),
    failure: z
      .strictObject({ reason: z.string(), cause: z.string(), fix: z.string(), at: Timestamp })
      .nullable()
      .meta({ description: 'Why the last reading failed; null after a success.' }),
  })
  .meta({ id: 'BounceMailbox' });
export type BounceMailbox = z.output<typeof BounceMailbox>;
