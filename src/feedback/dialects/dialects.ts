import { amazonSes } from './amazon_ses/amazon_ses.ts';
import { brevo } from './brevo/brevo.ts';
import type { Dialect, SignatureCheck } from './dialect.ts';
import { mailgun } from './mailgun/mailgun.ts';
import { mailjet } from './mailjet/mailjet.ts';
import { postmark } from './postmark/postmark.ts';
import { resend } from './resend/resend.ts';
import { sendgrid } from './sendgrid/sendgrid.ts';
import { smtp } from './smtp/smtp.ts';
import { smtp2go } from './smtp2go/smtp2go.ts';
import { sparkpost } from './sparkpost/sparkpost.ts';

/** Every dialect, by the slug of its webhook URL. */
export const dialects = {
  smtp,
  smtp2go,
  mailgun,
  'amazon-ses': amazonSes,
  postmark,
  sendgrid,
  resend,
  brevo,
  mailjet,
  sparkpost,
} satisfies Record<string, Dialect>;
export type Source = keyof typeof dialects;

export const SOURCES = Object.keys(dialects) as [Source, ...Source[]];

/** Returns the dialect of a source. */
export const dialectOf = (source: Source): Dialect => dialects[source];

const ALIASES = new Map(
  SOURCES.flatMap((source) =>
    (dialectOf(source).aliases ?? []).map((alias) => [alias, source] as const),
  ),
);

/** Every slug that a webhook URL may have. */
export const SLUGS: [string, ...string[]] = [...SOURCES, ...ALIASES.keys()];

/** Returns the source that a slug names, or null. */
export const sourceOf = (slug: string): Source | null =>
  SOURCES.find((source) => source === slug) ?? ALIASES.get(slug) ?? null;

/** Returns the check of a dialect whose vendor signs with a key, or null. */
export const signatureOf = (source: Source): SignatureCheck | null => {
  const { verification } = dialectOf(source);
  return verification.kind === 'signature' ? verification : null;
};

/** The sources whose vendors sign with a key of the project's account. */
export const SIGNED_SOURCES = SOURCES.filter((source) => signatureOf(source) !== null) as [
  Source,
  ...Source[],
];
