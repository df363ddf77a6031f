// A connection goes to the address that was checked for it, and is checked for anew the next time.
import { Resolver } from 'node:dns/promises';
import { beforeEach, expect, test } from 'vitest';
import { openHttps } from '../../src/base/https.ts';
import { preflightSmtp } from '../../src/providers/smtp.ts';
import { httpsSink } from '../support/https_sink.ts';
import { nameServer } from '../support/name_server.ts';
import type { Zone } from '../support/name_server.ts';
import { smtpSink } from '../support/smtp_sink.ts';

const HOST = 'rebound.example.test';
const hosts = [HOST];
const relay = smtpSink({ hosts });
const site = httpsSink({ hosts, usually: () => ({ status: 200, json: {} }) });
beforeEach(() => {
  relay.reset();
  site.reset();
});

type Ways = { allowNetworks: string[]; nameServers: Resolver };
const MORE = { ehloName: null, answerTimeoutMs: 10_000 };

/** Each opens one connection to the host, and says whether it did. */
const doors: Record<string, (ways: Ways) => Promise<boolean>> = {
  smtp: async (ways) => {
    const settings = { ...relay.settings, smtp_host: HOST };
    return (await preflightSmtp(settings, { ...ways, ...MORE })).kind === 'passed';
  },
  https: async (ways) => {
    const { port } = new URL(site.url);
    const opened = await openHttps(new URL(`https://${HOST}:${port}/`), ways);
    if (opened.kind !== 'connected') return false;
    // Who hangs up at once may never have been there for the other side.
    await expect.poll(() => site.connections).toBe((counted += 1));
    opened.connection.close();
    return true;
  },
};
let counted = 0;
const connections = (): number => relay.connections + site.connections;

test.each(Object.keys(doors))(
  'a name is asked for once for each connection, and closed as soon as it leads inside: %s',
  async (name) => {
    const zone: Zone = { [HOST]: { A: ['127.0.0.1'] } };
    const { address, asked } = await nameServer(zone);
    const nameServers = new Resolver({ timeout: 1_000, tries: 1 });
    nameServers.setServers([address]);
    const open = (allowNetworks: string[]) => doors[name]?.({ allowNetworks, nameServers });

    const before = connections();
    for (let time = 1; time <= 3; time += 1) {
      expect(await open(['127.0.0.0/8'])).toBe(true);
      // For IPv4 and for IPv6; whoever connects asks nobody again.
      expect(asked).toHaveLength(2 * time);
      expect(connections()).toBe(before + time);
    }
    // What it said a moment ago counts for nothing.
    zone[HOST] = { A: ['127.0.0.1', '10.0.0.1'] };
    expect(await open(['127.0.0.0/8'])).toBe(false);
    zone[HOST] = { A: ['127.0.0.1'] };
    expect(await open([])).toBe(false);
    expect([asked.length, connections()]).toEqual([10, before + 3]);
  },
);
