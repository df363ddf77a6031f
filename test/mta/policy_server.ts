import { once } from 'node:events';
import type { Server } from 'node:net';
import { listenFor, portOf, SeenPairs } from './greylist.ts';
import type { Rules } from './relay.ts';

type Asked = Record<string, string>;

const readRequest = (text: string): Asked =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );

/**
 * Answers Postfix's policy requests (SMTPD_POLICY_README) in the words of policyd, which counts the messages of an
 * account, and of postgrey, which defers a sender and recipient that it sees for the first time.
 */
export class PolicyServer {
  rules: Pick<Rules, 'dailyMax' | 'pastDailyMax' | 'greySeconds'>;
  readonly #server: Server;
  readonly #pairs = new SeenPairs();
  readonly #taken = new Map<string, number>();

  private constructor(server: Server, rules: PolicyServer['rules']) {
    this.#server = server;
    this.rules = rules;
  }

  static async start(rules: PolicyServer['rules']): Promise<PolicyServer> {
    const server = await listenFor((socket) => {
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          socket.write(`action=${policies.#decide(readRequest(text.slice(0, end)))}\n\n`);
          text = text.slice(end + 2);
        }
      });
    });
    const policies: PolicyServer = new PolicyServer(server, rules);
    return policies;
  }

  get port(): number {
    return portOf(this.#server);
  }

  #decide({ sasl_username: account = '', sender = '', recipient = '' }: Asked): string {
    const { dailyMax, pastDailyMax, greySeconds } = this.rules;
    if (greySeconds !== null && this.#pairs.isNew(sender, recipient, greySeconds))
      return `DEFER_IF_PERMIT 4.2.0 Greylisted, see https://postgrey.schweikert.ch/help/${recipient}.html`;
    if (dailyMax === null) return 'DUNNO';
    const taken = (this.#taken.get(account) ?? 0) + 1;
    if (taken > dailyMax)
      return pastDailyMax === 'deny'
        ? 'REJECT Policy Rejection- Daily quota exceeded.'
        : 'DEFER Policy Rejection- Daily quota exceeded.';
    this.#taken.set(account, taken);
    return 'DUNNO';
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
