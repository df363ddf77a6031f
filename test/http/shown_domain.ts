import { afterAll, beforeAll } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { startNameServer } from '../support/name_server.ts';
import type { NameServer } from '../support/name_server.ts';

/** A name server that knows example.com as the examples of the documents show it. */
export const shownDomain = (database: TestDatabase): void => {
  let server: NameServer;
  beforeAll(async () => {
    server = await startNameServer({
      'example.com': { MX: [[10, 'mx.example.com']] },
      'mx.example.com': { A: ['192.0.2.25'] },
      'em42.example.com': { CNAME: ['return.smtp2go.net'] },
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
      'spf.smtp2go.com': { TXT: ['v=spf1 ip4:203.0.113.0/24 -all'] },
    });
    const config = { ...database.deps.config, dnsServers: [server.address] };
    database.deps = { ...database.deps, config };
  });
  afterAll(() => server.close());
};
