// Domains on a name server of this machine, and what a check says of them.
import { generateKeyPairSync } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { checkDomain } from '../../../src/providers/domain_health/domain_health.ts';
import type {
  DnsRecord,
  DomainSubject,
  Finding,
} from '../../../src/providers/domain_health/domain_health.ts';
import type { DnsLimits } from '../../../src/providers/domain_health/dns.ts';
import { factsOf } from '../../../src/providers/domain_health/email_services.ts';
import type { Connection } from '../../../src/providers/domain_health/email_services.ts';
import { nameServer } from '../../support/name_server.ts';
import type { Records, Zone } from '../../support/name_server.ts';

export type { Records, Zone };

export const keyOf = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength })
    .publicKey.export({ format: 'der', type: 'spki' })
    .toString('base64');

export const KEY = `v=DKIM1; k=rsa; p=${keyOf(2048)}`;
export const DMARC = 'v=DMARC1; p=none; rua=mailto:reports@shop.test; fo=1';

/** A domain with everything published, which sends through Amazon SES. */
export const GOOD: Zone = {
  'shop.test': { TXT: ['v=spf1 include:amazonses.com -all'], MX: [[10, 'mx.shop.test']] },
  'mx.shop.test': { A: ['192.0.2.25'] },
  'amazonses.com': { TXT: ['v=spf1 ip4:199.255.192.0/22 ip4:54.240.0.0/18 -all'] },
  's1._domainkey.shop.test': { CNAME: ['token.dkim.amazonses.com'] },
  'token.dkim.amazonses.com': { TXT: [KEY] },
  '_dmarc.shop.test': { TXT: [DMARC] },
};

/** Amazon SES, whose reverse-path is its own. */
export const SES: Connection = { provider: 'cloud_api', region: 'eu-west-1' };
/** Google's relay, whose reverse-path is the sender's, so that SPF decides. */
export const GOOGLE: Connection = { provider: 'smtp', smtp_host: 'smtp-relay.gmail.com' };
/** A relay that nothing is known of. */
export const RELAY: Connection = { provider: 'smtp', smtp_host: 'relay.shop.test' };

/** What Google's customers include, as it is built: three records below it. */
export const GOOGLE_SPF: Zone = {
  '_spf.google.com': {
    TXT: ['v=spf1 include:_netblocks.google.com include:_netblocks2.google.com ~all'],
  },
  '_netblocks.google.com': { TXT: ['v=spf1 ip4:35.190.247.0/24 ip4:64.233.160.0/19 ~all'] },
  '_netblocks2.google.com': { TXT: ['v=spf1 ip6:2001:4860:4864::/56 ~all'] },
};

/** Silence takes as long; a busy machine answers within it. */
const ANSWER_MS_MAX = 1_000;

type Asked = Partial<Omit<DomainSubject, 'service'>> & {
  through?: Connection;
  limits?: Partial<DnsLimits>;
};

/** Checks hello@shop.test, or another sender, on a name server with the records of a good domain and some changes. */
export const checkWith = async (changes: Zone, asked: Asked = {}) => {
  const { through = SES, limits, ...subject } = asked;
  const server = await nameServer({ ...GOOD, ...changes });
  const reader = new Resolver({ timeout: ANSWER_MS_MAX, tries: 1 });
  reader.setServers([server.address]);
  const health = await checkDomain(
    reader,
    {
      fromEmail: 'Hello@SHOP.test',
      replyTo: null,
      service: factsOf(through),
      selectors: ['s1'],
      mailFromDomain: null,
      ...subject,
    },
    limits,
  );
  return { ...health, asked: server.asked };
};

/** Everything that a finding says, its records left out where there are none. */
export const said = ({ status, code, summary, advice, publish, publish_also }: Finding) => ({
  status,
  code,
  summary,
  ...(advice.length > 0 ? { advice } : {}),
  ...(publish ? { publish: inShort(publish) } : {}),
  ...(publish_also.length > 0 ? { also: publish_also.map(inShort) } : {}),
});

const inShort = ({ name, type, value }: DnsRecord): string => `${name} ${type} ${value}`;
