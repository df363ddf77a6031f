import { z } from 'zod';
import type { Head, ListedVersion, Version } from './queries.ts';
import { SampleRow } from './queries.ts';
import { bytesOf, Warning } from './warnings.ts';
import type { RenderedDraft } from './render.ts';

const Timestamp = z.iso.datetime();
const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';

const listed = {
  id: z.uuid(),
  name: z.string(),
  version: z.int().meta({ description: 'The latest.' }),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
};
const LISTED_SHOWN = {
  id: ID,
  name: 'Welcome',
  version: 1,
  archived_at: null,
  created_at: NOW,
  updated_at: NOW,
};
export const ARCHIVED_SHOWN = { ...LISTED_SHOWN, archived_at: NOW };

export const Listed = z
  .strictObject(listed)
  .meta({ id: 'TemplateListed', examples: [LISTED_SHOWN] });

const said = {
  subject: z.string(),
  preheader: z.string().nullable(),
  html: z.string().meta({ description: 'As it was written, or as it was made of MJML.' }),
  mjml: z.string().nullable(),
  text: z.string().nullable().meta({ description: 'Null or blank: derived from the HTML.' }),
  sample: SampleRow.nullable().meta({
    description: 'Whom it was tried on; null of templates from before samples were kept.',
  }),
};
const SAID_SHOWN = {
  subject: 'Welcome',
  preheader: null,
  html: 'Welcome',
  mjml: null,
  text: null,
  sample: { profile: {}, event: {} },
};
export const Template = z.strictObject({ ...listed, ...said }).meta({
  id: 'Template',
  description: 'What a mail says, in its latest version.',
  examples: [{ ...LISTED_SHOWN, ...SAID_SHOWN }],
});

const found = {
  variables: z
    .array(z.string())
    .meta({ description: 'What it mentions: look for misspelt names.' }),
  warnings: z.array(Warning),
};
const SAVED_SHOWN = {
  ...LISTED_SHOWN,
  subject: 'Welcome, {{ profile.first_name | default: "there" }}',
  preheader: null,
  html: '<p>Good to have you.</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
  mjml: null,
  text: null,
  sample: {
    profile: { email: 'ann@example.com', first_name: 'first name' },
    event: { event: 'sample_happened', occurred_at: NOW },
  },
  variables: ['profile.first_name', 'unsubscribe_url'],
  warnings: [
    {
      warning: 'no_text_part' as const,
      message: 'There is no text of its own: the text part is derived from the HTML.',
    },
  ],
};
export const NEXT_SHOWN = { ...SAVED_SHOWN, version: 2 };
export const Saved = z.strictObject({ ...listed, ...said, ...found }).meta({
  id: 'TemplateSaved',
  description: 'A template as it was kept, and what to know of it.',
  examples: [SAVED_SHOWN],
});

export const VersionListed = z
  .strictObject({
    version: z.int(),
    name: z.string(),
    subject: z.string(),
    format: z.enum(['html', 'mjml']),
    created_at: Timestamp,
  })
  .meta({
    id: 'TemplateVersionListed',
    examples: [
      { version: 1, name: 'Welcome', subject: 'Welcome', format: 'html', created_at: NOW },
    ],
  });

export const VersionShown = z
  .strictObject({ version: z.int(), name: z.string(), ...said, created_at: Timestamp })
  .meta({
    id: 'TemplateVersion',
    description: 'What a template said once. It never changes.',
    examples: [{ version: 1, name: 'Welcome', ...SAID_SHOWN, created_at: NOW }],
  });

const PREVIEW_SHOWN = {
  subject: 'Welcome',
  preheader: '',
  html: 'Welcome',
  text: 'Welcome',
  html_bytes: 7,
  text_bytes: 7,
  warnings: [
    {
      warning: 'no_unsubscribe_link' as const,
      message:
        'The body has no {{ unsubscribe_url }}: marketing mail gets a small footer with the link.',
    },
    ...SAVED_SHOWN.warnings,
  ],
};
export const Preview = z
  .strictObject({
    subject: z.string(),
    preheader: z.string(),
    html: z.string(),
    text: z.string(),
    html_bytes: z.int(),
    text_bytes: z.int(),
    warnings: z.array(Warning),
  })
  .meta({
    id: 'TemplatePreview',
    description:
      'A mail as somebody would get it, but for its links for leaving, which lead nowhere. Its HTML is its author’s: ' +
      'show it in a sandboxed frame without scripts.',
    examples: [PREVIEW_SHOWN],
  });

export const toListed = (head: Head) => ({
  id: head.template_id,
  name: head.name,
  version: head.latest_version,
  archived_at: head.archived_at?.toISOString() ?? null,
  created_at: head.created_at.toISOString(),
  updated_at: head.updated_at.toISOString(),
});

const toSaid = ({ subject, preheader, html, mjml, text, sample }: Version) => ({
  subject,
  preheader,
  html,
  mjml,
  text,
  sample,
});

export const toTemplate = (head: Head, version: Version) => ({
  ...toListed(head),
  ...toSaid(version),
});

export const toVersionShown = (version: Version) => ({
  version: version.version,
  name: version.name,
  ...toSaid(version),
  created_at: version.created_at.toISOString(),
});

export const toVersionListed = ({ is_mjml, created_at, ...row }: ListedVersion) => ({
  ...row,
  format: is_mjml ? ('mjml' as const) : ('html' as const),
  created_at: created_at.toISOString(),
});

export const toPreview = (message: RenderedDraft, warnings: Warning[]) => ({
  subject: message.subject,
  preheader: message.preheader,
  html: message.html,
  text: message.text,
  html_bytes: bytesOf(message.html),
  text_bytes: bytesOf(message.text),
  warnings,
});
