import { z } from 'zod';
import { EmailAddress } from '../base/email_address.ts';
import { AccountAnswer } from './account_answer.ts';
import { BounceMailbox } from './bounce_mailbox/bounce_mailbox.ts';
import { findFaults } from './kind_fields.ts';
import { FAILURE_REASONS } from './outcome.ts';
import { PACE_SHOWN, PLAN_INPUT, PLAN_SHOWN, UNPACED } from './pace_schema.ts';
import { PROVIDER_KINDS, SMTP_SECURE } from './settings.ts';
import { bounceMailbox, name, settings } from './settings_schema.ts';

export { NAME_CHARS_MAX } from './settings_schema.ts';

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
  .strictObject({
    provider,
    ...common,
    ...z.object(settings).partial().shape,
    bounce_mailbox: bounceMailbox,
  })
  .superRefine((given, context) => {
    if (given.bounce_mailbox && given.bounce_mailbox.password === undefined)
      context.addIssue({
        code: 'custom',
        path: ['bounce_mailbox', 'password'],
        message: 'needed for a new mailbox',
      });
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
  .strictObject({
    ...z.object(common).partial().shape,
    ...z.object(settings).partial().shape,
    bounce_mailbox: bounceMailbox,
  })
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
    bounce_mailbox: BounceMailbox.nullable().optional(),
    ...PLAN_SHOWN,
    status: z.enum(['active', 'parked']).meta({
      description: '`parked`: nothing is sent until the record is saved again, or a test passes.',
    }),
    parked: z
      .strictObject({
        ...Failure,
        reason: z.enum(FAILURE_REASONS),
        answer: AccountAnswer.nullable(),
      })
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
