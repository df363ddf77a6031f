// The limits of what vendors post with their own signature or the webhook token, at the bound and
// one past it.
import { expect } from 'vitest';
import type { RefusalName } from '../../src/base/refusal.ts';
import { signAs } from '../feedback/told.ts';
import { svixSecret } from '../feedback/vendors/signed_posts.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer, Call, TestApi } from '../support/api.ts';

type Given = {
  post: (path: string, body: unknown, call?: Call) => Promise<Answer>;
  postSetting: (path: string, body: object) => Promise<Answer>;
  api: Pick<TestApi, 'project'>;
  bound: (
    sends: ((count: number) => Promise<Answer>)[],
    name?: RefusalName,
  ) => (value: number) => Promise<void>;
};

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
/** What a request may take until the server looks at its clock. */
const MARGIN_MS = 60_000;

export const limitsOfVendors = ({ post, postSetting, api, bound }: Given) => {
  const postTo = (slug: string, body: unknown, call: Call) =>
    post(`/v1/webhooks/${slug}/${api.project.project_id}`, body, call);
  const withToken = () => ({ key: api.project.hook_token });
  /** At the bound of its age a signature counts, a second past it not. */
  const age = async (ageMs: number, tell: (at: Date) => Promise<Answer>) => {
    const at = (ms: number) => new Date(Date.now() - ageMs - ms);
    expect((await tell(at(-MARGIN_MS))).status).toBe(200);
    expectRefusal(await tell(at(1_000)), 'invalid_signature');
  };
  return {
    'Age of a signed webhook': async (hours: number) => {
      await postSetting('/mailgun/signing-key', { signing_key: 'key' });
      await age(hours * HOUR_MS, (at) =>
        postTo('mailgun', { signature: signAs('key', { at }) }, withToken()),
      );
    },
    'Age of a webhook signed by Svix': async (minutes: number) => {
      const { key, sign } = svixSecret();
      await postSetting('/resend/signing-key', { signing_key: key });
      const raw = JSON.stringify({ type: 'domain.updated' });
      await age(minutes * MINUTE_MS, (at) =>
        postTo('resend', raw, { key: null, ...sign(raw, { at }) }),
      );
    },
    'Events in a webhook of a vendor': bound([
      (count) =>
        postTo(
          'sparkpost',
          Array.from({ length: count }, () => ({ msys: {} })),
          withToken(),
        ),
    ]),
    'Body of a webhook without the webhook token': async (bytes: number) => {
      const tell = (count: number) => postTo('mailgun', '{}'.padEnd(count), { key: null });
      expectRefusal(await tell(bytes), 'invalid_signature');
      expectRefusal(await tell(bytes + 1), 'body_too_large');
    },
  };
};
