import { setTimeout as wait } from 'node:timers/promises';
import type { DevFacts } from './home.ts';

const POLL_MS = 15;
const POLL_TIMEOUT_MS = 15_000;

/** Asks again until there is an answer; fails after 15 s, saying what never came. */
export const poll = async <T>(what: string, ask: () => Promise<T | null>): Promise<T> => {
  for (const giveUpAt = Date.now() + POLL_TIMEOUT_MS; Date.now() < giveUpAt; await wait(POLL_MS)) {
    const answer = await ask();
    if (answer !== null) return answer;
  }
  throw new Error(`${what} did not appear within ${POLL_TIMEOUT_MS / 1_000} s`);
};

export type Mail = { id: string; to: string[]; subject: string; message_id: string };

/** What the demo asks of the public doors, as any client would. */
export class DemoClient {
  readonly #facts: DevFacts;

  constructor(facts: DevFacts) {
    this.#facts = facts;
  }

  async #fetch(url: string, method: string, token: string, body?: object): Promise<unknown> {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  call(method: string, path: string, body?: object): Promise<unknown> {
    return this.#fetch(this.#facts.base_url + path, method, this.#facts.server_key, body);
  }

  async list<T>(path: string): Promise<{ items: T[] }> {
    return (await this.call('GET', path)) as { items: T[] };
  }

  /** Posts a notice as a relay would, with the project's hook token. */
  postBounce(notice: object): Promise<unknown> {
    const { base_url, project_id, hook_token } = this.#facts;
    return this.#fetch(`${base_url}/v1/webhooks/smtp/${project_id}`, 'POST', hook_token, notice);
  }

  async #listMails(address: string): Promise<Mail[]> {
    const response = await fetch(`${this.#facts.mail_url}/messages`);
    const mails = (await response.json()) as Mail[];
    return mails.filter(({ to }) => to.includes(address));
  }

  async findMail(address: string): Promise<Mail | null> {
    return (await this.#listMails(address))[0] ?? null;
  }

  async countMails(address: string): Promise<number> {
    return (await this.#listMails(address)).length;
  }
}
