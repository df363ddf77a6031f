import { z } from 'zod';
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

const LOGIN =
  'The login. Without `username` and `password` (or null) there is no AUTH; only for hosts with all addresses inside ' +
  'EGRESS_ALLOW_NETWORKS.';

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

/** The bounce mailbox of a provider, as it is given. */
export const bounceMailbox = BounceMailboxInput.nullish().meta(
  ofKind('smtp', 'The mailbox to which bounces come. Trunkline reads it about every minute.'),
);
