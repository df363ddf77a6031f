import { z } from 'zod';
import { EmailAddress } from '../base/email_address.ts';
import { isStorable, isUnseen } from '../base/text.ts';
import { REGION } from './cloud_region.ts';
import { findFaults } from './kind_fields.ts';
import { FAILURE_REASONS } from './outcome.ts';
import { PACE_SHOWN, PLAN_INPUT, PLAN_SHOWN, UNPACED } from './pace_schema.ts';
import { PROVIDER_KINDS, SMTP_SECURE } from './settings.ts';
import type { ProviderKind } from './settings.ts';

export const NAME_CHARS_MAX = 100;
const HOST = /^[A-Za-z\d_.:-]{1,253}$/;
const LOGIN_CHARS_MAX = 320;
const PASSWORD_CHARS_MAX = 1_000;
const API_KEY = /^api-[!-~]{1,196}$/;
const ACCESS_KEY_ID = /^\w{16,128}$/;
const SECRET_KEY = /^[!-~]{1,200}$/;

const line = (most: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(most, `at most ${most} characters`)
    .refine((text) => text === '' || !isUnseen(text), 'more than what nobody sees')
    .refine((text) => isStorable(text) && !/[\p{Cc}\u2028\u2029]/u.test(text), 'one line of text');

/** What turns the direction of text (Unicode UAX #9): a name with it may read as another's. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/;
const name = line(NAME_CHARS_MAX).refine(
  (text) => !TURNING.test(text),
  'must not turn the direction of text',
);

const ofKind = (kind: ProviderKind, description: string) => ({
  description: `Of \`${kind}\`. ${description}`,
});

const LOGIN =
  'The login. Without `username` and `password` (or null) there is no AUTH; only for hosts with all addresses inside ' +
  'EGRESS_ALLOW_NETWORKS.';

const settings = {
  smtp_host: z
    .string()
    .regex(HOST, 'a host name, such as smtp.example.com')
    .meta(ofKind('smtp', 'Host name of the relay.')),
  smtp_port: z.int().min(1).max(65_535).meta(ofKind('smtp', 'Often 587, 465, 2525 or 25.')),
  smtp_secure: z
    .enum(SMTP_SECURE)
    .meta(
      ofKind(
        'smtp',
        '`starttls` upgrades a plain connection, `ssl` is TLS from the first byte, `none` is for in-house relays only.',
      ),
    ),
  username: line(LOGIN_CHARS_MAX).nullish().meta(ofKind('smtp', LOGIN)),
  password: z
    .string()
    .min(1, 'must not be empty')
    .max(PASSWORD_CHARS_MAX, `at most ${PASSWORD_CHARS_MAX} characters`)
    .refine(isStorable, 'must be well-formed text without U+0000')
    .nullish()
    .meta(ofKind('smtp', 'Kept sealed, never answered.')),
  api_key: z
    .string()
    .regex(API_KEY, 'a key of the relay, which begins with "api-"')
    .meta(ofKind('relay_api', 'A key that may send. Kept sealed, never answered.')),
  region: z
    .string()
    .regex(REGION, 'a region, such as eu-west-1')
    .meta(ofKind('cloud_api', 'The region in which the sender is verified.')),
  access_key_id: z
    .string()
    .regex(ACCESS_KEY_ID, 'a key id: 16 to 128 letters, digits and _')
    .meta(ofKind('cloud_api', 'Of an identity that may do nothing but send.')),
  secret_access_key: z
    .string()
    .regex(SECRET_KEY, 'the secret of the key: visible characters, at most 200')
    .meta(ofKind('cloud_api', 'Kept sealed, never answered.')),
};

const common = {
  display_name: name.meta({ description: 'What the record is called in lists.' }),
  from_email: EmailAddress.meta({
    description:
      'The sender, under an identity that is verified at the provider. One record per address.',
  }),
  from_name: name.nullish().meta({ description: "The sender's name." }),
  reply_to: EmailAddress.nullish().meta({ description: 'Where answers go, if not to the sender.' }),
  ...PLAN_INPUT,
};

const provider = z.enum(PROVIDER_KINDS).meta({
  description:
    '`smtp`: any relay. `relay_api`: SMTP2GO over HTTPS. `cloud_api`: Amazon SES in one region.',
});

const FROM = { display_name: 'Onboarding', from_email: 'hello@example.com', from_name: 'Acme' };

/** A provider as it is made. */
export const ProviderInput = z
  .strictObject({ provider, ...common, ...z.object(settings).partial().shape })
  .superRefine((given, context) => {
    for (const { path, message } of findFaults(given))
      context.addIssue({ code: 'custom', path: [path.slice(1)], message });
  })
  .meta({
    id: 'ProviderInput',
    description: 'The common fields, and those of its kind: all of them, or all but a login.',
    examples: [
      { provider: 'relay_api', ...FROM, api_key: 'api-0123456789ABCDEF0123456789ABCDEF' },
      {
        provider: 'smtp',
        ...FROM,
        smtp_host: 'smtp.example.com',
        smtp_port: 587,
        smtp_secure: 'starttls',
        username: 'acme',
        password: 'a long password',
        rate_per_second: 10,
      },
      {
        provider: 'cloud_api',
        ...FROM,
        region: 'eu-west-1',
        access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      },
    ],
  });
export type ProviderInput = z.output<typeof ProviderInput>;

/** What is to be changed of a provider. What is left out stays, a secret too. */
export const ProviderChange = z
  .strictObject({ ...z.object(common).partial().shape, ...z.object(settings).partial().shape })
  .meta({
    id: 'ProviderChange',
    description:
      'What is to be changed. What is left out stays, a secret too; only a password is needed again for another ' +
      'host, port or encryption.',
    examples: [
      { display_name: 'Welcome mail', api_key: 'api-0123456789ABCDEF0123456789ABCDEF' },
      {
        smtp_host: 'smtp.example.com',
        smtp_port: 465,
        smtp_secure: 'ssl',
        username: 'acme',
        password: 'a long password',
      },
      { password: 'another password' },
      { rate_per_second: 2.5, ramp: { started_on: '2026-02-01', stages: [50, 500, 5_000] } },
      { region: 'eu-central-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE' },
      { secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    ],
  });
export type ProviderChange = z.output<typeof ProviderChange>;

const Timestamp = z.iso.datetime();
/** Stands for a secret in answers. No text, so that nobody sends it back for one. */
const Mask = z.strictObject({ set: z.literal(true) });
export const MASK: z.output<typeof Mask> = { set: true };

const Failure = {
  reason: z.string().meta({ description: 'The class of the failure.' }),
  cause: z.string(),
  fix: z.string(),
};

/** A provider as the API shows it. */
export const Provider = z
  .strictObject({
    id: z.uuid(),
    provider,
    display_name: z.string(),
    from_email: z.string(),
    from_name: z.string().nullable(),
    reply_to: z.string().nullable(),
    smtp_host: z.string().optional(),
    smtp_port: z.int().optional(),
    smtp_secure: z.enum(SMTP_SECURE).optional(),
    username: z.string().optional(),
    password: Mask.optional(),
    api_key: Mask.optional(),
    region: z.string().optional(),
    access_key_id: z.string().optional(),
    secret_access_key: Mask.optional(),
    ...PLAN_SHOWN,
    status: z.enum(['active', 'parked']).meta({
      description: '`parked`: nothing is sent until the record is saved again, or a test passes.',
    }),
    parked: z
      .strictObject({ ...Failure, reason: z.enum(FAILURE_REASONS) })
      .nullable()
      .meta({ description: 'Why it is parked.' }),
    pace: PACE_SHOWN,
    last_test: z
      .strictObject({ at: Timestamp, ok: z.boolean(), failure: z.strictObject(Failure).nullable() })
      .nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({
    id: 'Provider',
    description: 'A sender, and the e-mail provider it sends through.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        provider: 'relay_api',
        ...FROM,
        reply_to: null,
        api_key: MASK,
        rate_per_second: null,
        ramp: null,
        status: 'active',
        parked: null,
        pace: UNPACED,
        last_test: null,
        created_at: '2026-01-31T12:00:00.000Z',
        updated_at: '2026-01-31T12:00:00.000Z',
      },
    ],
  });
