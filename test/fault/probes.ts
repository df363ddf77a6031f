import { setTimeout as wait } from 'node:timers/promises';
import { withClient } from '../../src/runtime/with_client.ts';
import { Client } from './client.ts';
import type { AskedEvent, Journal } from './journal.ts';
import { SIGN_UP } from './make_project.ts';
import type { Random } from './random.ts';
import type { Site } from './site.ts';

const LOOK_MS = 200;
/** After the last fault that came in its way: where they never cease, what is late is not lost. */
export const GIVE_UP_MS = 120_000;

/** Sign-ups that show when work goes on after a fault: from the request to the end of the send. */
export class Probes {
  readonly #site: Site;
  readonly #journal: Journal;
  readonly #client: Client;
  readonly #running: Promise<void>[] = [];
  #count = 0;

  constructor(site: Site, journal: Journal, random: Random) {
    this.#site = site;
    this.#journal = journal;
    this.#client = new Client(site, journal, random, new AbortController().signal);
  }

  /** When the last fault was over. */
  #faultAt = 0;

  /**
   * Starts one when a fault is over, through the relay that never behaves badly; tells how long it took, from the
   * last fault that came in its way, or null when its mail did not go out at all.
   */
  start(onDone: (ms: number | null) => void): void {
    this.#count += 1;
    this.#faultAt = performance.now();
    this.#running.push(
      this.#probe(`probe-${this.#count}`).then((endedAt) =>
        onDone(endedAt === null ? null : endedAt - Math.min(this.#faultAt, endedAt)),
      ),
    );
  }

  async finish(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #probe(person: string): Promise<number | null> {
    const { project_id: projectId, server_key: token } = this.#site.projects.calm;
    const op = crypto.randomUUID();
    const email = `${person}@people.test`;
    const event: AskedEvent = {
      projectId,
      op,
      event: SIGN_UP,
      external_id: person,
      anonymous_id: null,
      properties: { email, op },
      occurred_at: new Date().toISOString(),
      fate: 'unknown',
      event_id: null,
    };
    this.#journal.events.push(event);
    const { properties, occurred_at } = event;
    const body = { event: SIGN_UP, external_id: person, properties, occurred_at, message_id: op };
    const told = await this.#client.ask({ kind: 'probe', path: '/v1/events', token, body });
    if (told?.status === 202) event.fate = 'stored';
    return (await this.#untilSent(email)) ? performance.now() : null;
  }

  /** Whether it was handed over before this is given up. */
  async #untilSent(email: string): Promise<boolean> {
    const isSent = (): Promise<boolean> =>
      withClient(this.#site.url, async (client) => {
        const { rowCount } = await client.query(
          `select from delivery.sends where recipient = $1 and status in ('accepted', 'unknown')`,
          [email],
        );
        return rowCount !== 0;
      });
    while (!(await isSent().catch(() => false))) {
      if (performance.now() - this.#faultAt > GIVE_UP_MS) return false;
      await wait(LOOK_MS);
    }
    return true;
  }
}
