import { z } from 'zod';
import type { Issue } from '../base/refusal.ts';
import { isStorable, isUnseen } from '../base/text.ts';
import { BounceMailboxInput } from './bounce_mailbox/bounce_mailbox.ts';
import { REGION } from './cloud_region.ts';
import { SMTP_SECURE } from './settings.ts';
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
/** A name that people read. */
export const name = line(NAME_CHARS_MAX).refine(
  (text) => !TURNING.test(text),
  'must not turn the direction of text',
);

const ofKind = (kind: ProviderKind, description: string) => ({
  description: `Of \`${kind}\`. ${description}`,
});

/** The fields that each kind of provider has besides the common ones. All of them are needed to make a record. */
export const KIND_FIELDS = {
  smtp: ['smtp_host', 'smtp_port', 'smtp_secure', 'username', 'password'],
  relay_api: ['api_key'],
  cloud_api: ['region', 'access_key_id', 'secret_access_key'],
} as const satisfies Record<ProviderKind, readonly string[]>;

/** The settings of each kind, as they are given. */
export const settings = {
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
  username: line(LOGIN_CHARS_MAX).meta(ofKind('smtp', 'The login.')),
  password: z
    .string()
    .min(1, 'must not be empty')
    .max(PASSWORD_CHARS_MAX, `at most ${PASSWORD_CHARS_MAX} characters`)
    .refine(isStorable, 'must be well-formed text without U+0000')
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

/** The bounce mailbox of a provider, as it is given. */
export const bounceMailbox = BounceMailboxInput.nullish().meta(
  ofKind('smtp', 'The mailbox to which bounces come. Trunkline reads it about every minute.'),
);

/** The fields that a kind of provider may have besides those that it needs. */
const OPTIONAL_FIELDS: Partial<Record<ProviderKind, readonly string[]>> = {
  smtp: ['bounce_mailbox'],
};

type Given = { provider: ProviderKind } & Partial<Record<string, unknown>>;

/** What of some fields a kind of provider does not have, and what it lacks of those that it needs. */
export const findStrangers = (given: Given, needed: readonly string[]): Issue[] => {
  const own: readonly string[] = [
    ...KIND_FIELDS[given.provider],
    ...(OPTIONAL_FIELDS[given.provider] ?? []),
  ];
  const strange = [...Object.keys(settings), 'bounce_mailbox'].filter(
    (name) => given[name] !== undefined && !own.includes(name),
  );
  const missing = needed.filter((name) => given[name] === undefined);
  return [
    ...strange.map((name) => ({
      path: `/${name}`,
      message: `not of a ${given.provider} provider`,
    })),
    ...missing.map((name) => ({ path: `/${name}`, message: `needed for ${given.provider}` })),
  ];
};
