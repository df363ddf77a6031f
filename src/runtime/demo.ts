// `make demo`: the whole loop, step by step, against the running service or one that it starts.
import { newId } from '../base/ids.ts';
import { EXAMPLE_EVENT } from './example.ts';
import { findFacts, readHome } from './home.ts';
import type { DevFacts } from './home.ts';
import { startEverything } from './everything.ts';
import { isAnswering } from './is_answering.ts';
import { DemoClient, poll } from './demo_client.ts';
import { runCommand } from './run_command.ts';

type Step = { name: string; run: (client: DemoClient) => Promise<string> };

const person = `demo-${newId()}`;
const address = `${person}@example.test`;
const seen = { profileId: '', sendId: '', messageId: '' };

const signUp = async (client: DemoClient): Promise<string> => {
  const properties = { email: address, first_name: 'Demo' };
  const event = { event: EXAMPLE_EVENT, external_id: person, properties };
  const answer = await client.call('POST', '/v1/events', event);
  return (answer as { event_ids: string[] }).event_ids[0] ?? '';
};

type Send = { id: string; status: string; status_reason: string | null };

const findSend = async (client: DemoClient, status: string): Promise<Send | null> => {
  const { items } = await client.list<Send>(
    `/v1/sends?profile_id=${seen.profileId}&status=${status}`,
  );
  return items[0] ?? null;
};

const findPerson = async (client: DemoClient) => {
  const { items } = await client.list<{
    id: string;
    email: string | null;
    tags: string[];
    suppressed: boolean;
  }>(`/v1/profiles?external_id=${person}`);
  return items[0] ?? null;
};

const steps: Step[] = [
  { name: 'event', run: async (client) => `202, stored as event ${await signUp(client)}` },
  {
    name: 'profile',
    run: async (client) => {
      const found = await poll('a profile with the address', async () => {
        const profile = await findPerson(client);
        return profile?.email === address ? profile : null;
      });
      seen.profileId = found.id;
      const { items } = await client.list<{ event: string }>(`/v1/profiles/${found.id}/events`);
      if (items[0]?.event !== EXAMPLE_EVENT) throw new Error('the event is not on the timeline');
      return `profile ${found.id} has the event on its timeline`;
    },
  },
  {
    name: 'automation',
    run: async (client) => {
      const send = await poll('an accepted send', () => findSend(client, 'accepted'));
      seen.sendId = send.id;
      return `send ${send.id} was accepted by the provider`;
    },
  },
  {
    name: 'mail',
    run: async (client) => {
      const mail = await poll('the mail', () => client.findMail(address));
      seen.messageId = mail.message_id;
      return `"${mail.subject}" for ${mail.to.join(', ')} is in the mail catcher`;
    },
  },
  {
    name: 'bounce',
    run: async (client) => {
      const bounce = {
        event: 'hard_bounce',
        recipient: address,
        message_id: seen.messageId,
        enhanced_code: '5.1.1',
      };
      const answer = (await client.postBounce(bounce)) as { accepted: number };
      if (answer.accepted !== 1)
        throw new Error(`the bounce was not accepted: ${JSON.stringify(answer)}`);
      await poll('a bounced send', () => findSend(client, 'bounced'));
      return `signed in with the hook token and recorded on send ${seen.sendId}`;
    },
  },
  {
    name: 'suppression',
    run: async (client) => {
      const { items } = await client.list<{ email: string; reason: string }>('/v1/suppressions');
      const entry = items.find(({ email }) => email === address);
      const profile = await findPerson(client);
      if (!entry || !profile?.suppressed || !profile.tags.includes('hard_bounced')) {
        throw new Error(`${address} is not suppressed and tagged`);
      }
      return `${address} is suppressed (${entry.reason}); the profile is tagged hard_bounced`;
    },
  },
  {
    name: 'next mail',
    run: async (client) => {
      const eventId = await signUp(client);
      const refused = await poll('a refused send', () => findSend(client, 'suppressed'));
      if ((await client.countMails(address)) !== 1)
        throw new Error('a suppressed address was mailed');
      return `event ${eventId} made send ${refused.id}, refused: ${refused.status_reason}`;
    },
  },
];

const runSteps = async (facts: DevFacts): Promise<void> => {
  const client = new DemoClient(facts);
  for (const { name, run } of steps) {
    const startedAt = performance.now();
    const said = await run(client).catch((error: unknown) => {
      throw new Error(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    });
    const took = `${(performance.now() - startedAt).toFixed(0)} ms`;
    console.log(`  ✓ ${name.padEnd(12)} ${took.padStart(8)}  ${said}`);
  }
};

const main = async (): Promise<void> => {
  const home = readHome();
  const known = await findFacts(home);
  const isRunning = known !== null && (await isAnswering(known.base_url));
  const startedAt = performance.now();
  const own = isRunning ? null : await startEverything(home, () => {});
  const facts = own?.facts ?? known;
  if (!facts) throw new Error('nothing was started, and nothing runs');
  const took = `${(performance.now() - startedAt).toFixed(0)} ms`.padStart(8);
  console.log(
    `  ✓ ${'service'.padEnd(12)} ${took}  ${own ? 'started' : 'found'} at ${facts.base_url}`,
  );
  try {
    await runSteps(facts);
  } catch (error) {
    throw new Error(`  ✗ ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    await own?.stop();
  }
};

await runCommand(main);
