import { z } from 'zod';
import { STATUSES } from './findings.ts';
import { DKIM_SELECTORS_MAX } from './dkim/dkim.ts';
import { toDomain } from './names.ts';

const Status = z.enum(STATUSES).meta({
  description:
    '`good`; `warning`: works, and can be better; `bad`: receivers may refuse email; ' +
    '`unknown`: no answer from name servers, or DNS does not list it.',
});

const DnsRecord = z.strictObject({
  name: z.string(),
  type: z.enum(['TXT', 'CNAME', 'MX']),
  value: z.string(),
});

export const Finding = z.strictObject({
  status: Status,
  code: z.string().meta({ description: 'A stable name of what was found, such as `spf_several`.' }),
  summary: z.string().meta({ description: 'What was found, and what to do first.' }),
  advice: z.array(z.string()).meta({ description: 'What else to know and to do.' }),
  found: z.array(z.string()).meta({ description: 'The records that are published.' }),
  publish: DnsRecord.nullable().meta({
    description: 'The record to publish. It replaces all records of its kind.',
  }),
  publish_also: z.array(DnsRecord).meta({ description: 'Records to publish besides.' }),
});

const Dkim = Finding.extend({
  selector: z.string(),
  domain: z.string().meta({ description: 'The domain that signatures name (`d=`).' }),
});

const MailFrom = Finding.extend({
  domain: z.string().nullable().meta({
    description: "The domain whose SPF record receivers evaluate; null for the service's own.",
  }),
});

/** What a check found, without its time. */
export const Health = z.strictObject({
  domain: z.string().meta({ description: 'The domain of from_email.' }),
  organisation: z.string().meta({ description: 'The organizational domain (RFC 9989).' }),
  status: Status.meta({ description: 'The worst of all findings.' }),
  spf: Finding,
  dkim: z.array(Dkim),
  dmarc: Finding,
  alignment: Finding.meta({
    description: 'Whether receivers authenticate the domain that people see, as DMARC demands.',
  }),
  mail_from: MailFrom.meta({ description: 'The reverse-path, which SPF authenticates.' }),
  replies: Finding.meta({ description: 'Whether replies arrive: MX.' }),
});

const plain = (code: string, summary: string, found: string[] = []) => ({
  status: 'good' as const,
  code,
  summary,
  advice: [],
  found,
  publish: null,
  publish_also: [],
});

const EXAMPLE = {
  domain: 'example.com',
  organisation: 'example.com',
  status: 'bad' as const,
  spf: {
    ...plain('spf_missing', 'There is no SPF record at example.com.'),
    status: 'bad' as const,
    publish: {
      name: 'example.com',
      type: 'TXT' as const,
      value: 'v=spf1 include:spf.smtp2go.com -all',
    },
  },
  dkim: [
    {
      ...plain(
        'dkim_missing',
        'There is no DKIM key at s42._domainkey.example.com. Copy the record exactly as the email provider shows it.',
      ),
      status: 'bad' as const,
      publish: {
        name: 's42._domainkey.example.com',
        type: 'CNAME' as const,
        value: 'dkim.smtp2go.net',
      },
      selector: 's42',
      domain: 'example.com',
    },
  ],
  dmarc: plain('dmarc_ok', 'The record is published with p=reject.', [
    'v=DMARC1; p=reject; rua=mailto:dmarc@example.com',
  ]),
  alignment: {
    ...plain(
      'aligned_spf',
      'DMARC depends on SPF alone, for the reverse-path em42.example.com. Forwarded email then fails.',
    ),
    status: 'warning' as const,
    advice: ['Publish the DKIM record of the email provider.'],
  },
  mail_from: {
    ...plain('mail_from_ok', 'The reverse-path em42.example.com leads to SMTP2GO.', [
      'CNAME return.smtp2go.net',
    ]),
    domain: 'em42.example.com',
  },
  replies: plain('replies_ok', 'Replies go to mx.example.com.', ['10 mx.example.com']),
};

export const DomainHealth = Health.extend({ checked_at: z.iso.datetime() }).meta({
  id: 'DomainHealth',
  description: 'What receivers find out about the domain of a sender.',
  examples: [{ ...EXAMPLE, checked_at: '2026-01-31T12:00:00.000Z' }],
});
export type DomainHealthAnswer = z.output<typeof DomainHealth>;

/** A label, or several with dots, as they stand before `._domainkey` (RFC 6376 §3.1). */
const SELECTOR = /^(?=.{1,63}$)[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?$/i;

/** The name of a record holds its selector: people paste it whole. */
const toSelector = (text: string): string => text.trim().replace(/\._domainkey(?:\..*)?$/i, '');

const SelectorList = z
  .array(z.string().transform(toSelector))
  .max(DKIM_SELECTORS_MAX, `at most ${DKIM_SELECTORS_MAX} selectors`)
  .refine(
    (selectors) => selectors.every((selector) => SELECTOR.test(selector)),
    'must be names of selectors, such as s1',
  )
  .transform((selectors) => [...new Set(selectors)]);

const MailFromDomain = z.string().transform((text, context) => {
  const domain = toDomain(text);
  if (domain !== null) return domain;
  context.addIssue('must be a domain, such as bounce.example.com');
  return z.NEVER;
});

const describeSelectors =
  'The DKIM selectors that the email provider issued; without any the usual ones are tried.';
const describeMailFrom =
  'The domain of the reverse-path, if the email provider uses one of yours: a custom MAIL FROM domain of Amazon SES, ' +
  'or the return path of SMTP2GO.';

/** What one check looks for; what is left out is as it is stored. */
export const DomainQuery = z.strictObject({
  dkim_selectors: z
    .string()
    .transform((list) => list.split(',').filter((one) => one.trim() !== ''))
    .pipe(SelectorList)
    .optional()
    .meta({
      description: `${describeSelectors} Separated by commas. Left out: those that are stored.`,
    }),
  mail_from_domain: MailFromDomain.optional().meta({
    description: `${describeMailFrom} Left out: the one that is stored.`,
  }),
});

/** What this check and all later ones look for; what is left out stays. */
export const DomainCheckInput = z
  .strictObject({
    dkim_selectors: SelectorList.optional().meta({ description: describeSelectors }),
    mail_from_domain: MailFromDomain.nullish().meta({
      description: `${describeMailFrom} Null: the default of the email provider.`,
    }),
  })
  .meta({
    id: 'DomainCheckInput',
    description: 'What this and daily checks look for. Omitted fields stay.',
    examples: [{ dkim_selectors: ['s42'], mail_from_domain: 'em42.example.com' }, {}],
  });
export type DomainCheckInput = z.output<typeof DomainCheckInput>;

/** A finding as the history keeps it. */
export const Brief = z.strictObject({
  status: Status,
  code: z.string(),
  summary: z.string(),
  found: z.array(z.string()),
});
export type Brief = z.output<typeof Brief>;

export const FindingChange = z.strictObject({
  finding: z.string().meta({
    description: 'The name of a finding, or `dkim:` and a selector.',
  }),
  before: Brief.nullable().meta({ description: 'Null where there was none.' }),
  after: Brief.nullable().meta({ description: 'Null where it is no longer checked.' }),
});
export type FindingChange = z.output<typeof FindingChange>;

export const DomainHealthChange = z
  .strictObject({
    id: z.uuid(),
    changed_at: z.iso.datetime().meta({ description: 'When a check first saw it.' }),
    domain: z.string(),
    status: Status.meta({ description: 'The worst of all findings since then.' }),
    is_worse: z.boolean().meta({ description: 'Whether a finding got worse.' }),
    changes: z.array(FindingChange),
  })
  .meta({
    id: 'DomainHealthChange',
    description: 'What a check found that an earlier one did not.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        changed_at: '2026-01-31T12:00:00.000Z',
        domain: 'example.com',
        status: 'bad',
        is_worse: true,
        changes: [
          {
            finding: 'dkim:s1',
            before: {
              status: 'good',
              code: 'dkim_ok',
              summary: 'The key is published and has 2048 bits.',
              found: ['v=DKIM1; p=MIIB…'],
            },
            after: {
              status: 'bad',
              code: 'dkim_revoked',
              summary: 'The key is revoked: "p=" is empty. Publish a new key.',
              found: ['v=DKIM1; p='],
            },
          },
        ],
      },
    ],
  });
