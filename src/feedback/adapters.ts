import { readSesMessage } from './amazon_ses.ts';
import { generic } from './generic.ts';
import { mailgun } from './mailgun.ts';
import type { Adapter } from './notice.ts';
import { smtp2go } from './smtp2go.ts';

/** Amazon SES tells through topics of its notification service, which sends its JSON as text. */
const amazonSes = {
  proof: 'topic',
  about: 'amazon_ses',
  mediaTypes: null,
  read: ({ raw, receivedAt }) => readSesMessage(raw.toString('utf8'), receivedAt),
} as const satisfies Adapter;

/** Every dialect, by the slug of its webhook address. */
export const adapters = {
  smtp: generic,
  smtp2go,
  mailgun,
  'amazon-ses': amazonSes,
} satisfies Record<string, Adapter>;
export type Source = keyof typeof adapters;

export const SOURCES = Object.keys(adapters) as [Source, ...Source[]];

const ALIASES = new Map<string, Source>([['aws-ses', 'amazon-ses']]);

/** Every slug that an address may have. */
export const SLUGS: [string, ...string[]] = [...SOURCES, ...ALIASES.keys()];

/** Whose dialect a slug stands for, or null. */
export const sourceOf = (slug: string): Source | null =>
  SOURCES.find((source) => source === slug) ?? ALIASES.get(slug) ?? null;
