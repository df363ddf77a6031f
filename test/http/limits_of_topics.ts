// The limits of Amazon SNS topics, at the bound and one past it.
import { expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { confirmationOf, signMessage } from '../feedback/sns_service.ts';
import type { SnsService } from '../feedback/sns_service.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer, TestApi } from '../support/api.ts';

type Given = { api: TestApi; sns: SnsService; startAfresh: () => Promise<void> };
type Limits = Record<string, (value: number) => Promise<void>>;

const HOUR_MS = 3_600_000;
/** What a request may take until the server looks at its clock. */
const MARGIN_MS = 60_000;

/** How each is tried, by its name in the documents. */
export const limitsOfTopics = ({ api, sns, startAfresh }: Given): Limits => {
  const ask = (account: number, name: string, given: { isTokened?: boolean; ageMs?: number }) => {
    const { project_id, hook_token } = api.project;
    const message = confirmationOf({
      TopicArn: `arn:aws:sns:eu-west-1:${String(account).padStart(12, '0')}:${name}`,
      Timestamp: new Date(Date.now() - (given.ageMs ?? 0)).toISOString(),
    });
    const token = given.isTokened === true ? `?token=${hook_token}` : '';
    const path = `/v1/webhooks/amazon-ses/${project_id}${token}`;
    return api.call('POST', path, { body: signMessage(message, sns.signer) });
  };
  const listPending = async (): Promise<{ id: string }[]> => {
    const { project_id, server_key: key } = api.project;
    const { body } = await api.call('GET', `/v1/projects/${project_id}/webhooks`, { key });
    return body.items.find(({ slug }: { slug: string }) => slug === 'amazon-ses').pending_topics;
  };
  const countPending = async () => (await listPending()).length;
  /** Topics ask without the token, one more than may wait: the last one is not listed. */
  const bound = async (value: number, accountOf: (at: number) => number): Promise<void> => {
    await startAfresh();
    for (let at = 0; at <= value; at += 1) {
      const answer: Answer = await ask(accountOf(at), `t-${at}`, {});
      expectRefusal(answer, 'topic_needs_approval');
      expect(await countPending()).toBe(Math.min(at + 1, value));
    }
    expect((await ask(accountOf(0), 'with-the-token', { isTokened: true })).status).toBe(200);
  };
  return {
    'Confirmed Amazon SNS topics': async (value) => {
      await startAfresh();
      for (let at = 0; at < value; at += 1)
        expect((await ask(1, `t-${at}`, { isTokened: true })).status).toBe(200);
      expectRefusal(await ask(1, 'past', { isTokened: true }), 'too_many_topics');
    },
    'Amazon SNS topics waiting for approval': (value) => bound(value, (at) => at + 1),
    'Amazon SNS topics of one AWS account, waiting or rejected': (value) => bound(value, () => 1),
    'Amazon SNS topics that one request rejects': async (value) => {
      await startAfresh();
      await ask(1, 'waits', {});
      const { project_id, server_key: key } = api.project;
      const path = `/v1/projects/${project_id}/webhooks/amazon-ses/reject-topics`;
      const [waiting] = await listPending();
      const reject = (count: number) => {
        const others = Array.from({ length: count - 1 }, newId);
        return api.call('POST', path, { key, body: { topic_ids: [waiting?.id, ...others] } });
      };
      expectRefusal(await reject(value + 1), 'invalid_request');
      expect(await countPending()).toBe(1);
      expect((await reject(value)).status).toBe(200);
      expect(await countPending()).toBe(0);
    },
    'Time to approve an Amazon SNS topic': async (value) => {
      await startAfresh();
      const young = await ask(1, 'young', { ageMs: value * HOUR_MS - MARGIN_MS });
      expectRefusal(young, 'topic_needs_approval');
      expect(await countPending()).toBe(1);
      const old = await ask(1, 'old', { ageMs: value * HOUR_MS + MARGIN_MS });
      expectRefusal(old, 'invalid_signature');
      expect(await countPending()).toBe(1);
    },
  };
};
