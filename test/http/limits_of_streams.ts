import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'vitest';
import { sessionHashOf } from '../../src/admin/sessions.ts';
import { STREAMS_PER_SESSION_MAX, streamsOf } from '../../src/admin/streams.ts';
import { newId } from '../../src/base/ids.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { answerOf, openStream } from '../support/event_stream.ts';
import type { EventStream } from '../support/event_stream.ts';
import { cookieFor, makePerson } from '../support/people.ts';
import { until } from '../support/until.ts';

/** At the bound somebody may look on, one past it they are refused. */
export const limitsOfStreams = ({ api, database }: { api: TestApi; database: TestDatabase }) => {
  const makeViewer = () =>
    makePerson(database, { projectId: api.project.project_id, role: 'viewer' });

  /** Looks on so often and once more: that is refused. Each time with the cookie that it is given. */
  const lookOn = async (count: number, nextCookie: () => Promise<string>): Promise<void> => {
    const { project_id: projectId } = api.project;
    const opened: EventStream[] = [];
    for (let at = 0; at <= count; at += 1) {
      const cookie = await nextCookie();
      const stream = await openStream(api.url, 'events.latest', { input: { projectId }, cookie });
      opened.push(stream);
      expect((await answerOf(stream)).status).toBe(at < count ? 200 : 429);
    }
    for (const stream of opened) stream.close();
    streamsOf(database.deps).close();
    await until('nobody looks on', () => streamsOf(database.deps).count === 0);
  };

  /** Takes places for other people, as many with each sign-in as it may. */
  const take = async (count: number): Promise<void> => {
    const { personId } = await makeViewer();
    const sessions: Buffer[] = [];
    for (let at = 0; at < count; at += STREAMS_PER_SESSION_MAX) {
      const [, token = ''] = (await cookieFor(database, personId)).split(/[=.]/);
      sessions.push(sessionHashOf(database.deps, token));
    }
    for (let at = 0; at < count; at += 1)
      streamsOf(database.deps).open({
        session: sessions[Math.floor(at / STREAMS_PER_SESSION_MAX)] ?? Buffer.alloc(0),
        personId: newId(),
        projectId: api.project.project_id,
        answer: new ServerResponse(new IncomingMessage(new Socket())),
      });
  };

  return {
    'Streams of one session': async (value: number): Promise<void> => {
      const { cookie } = await makeViewer();
      await lookOn(value, async () => cookie);
    },
    'Streams of one person': async (value: number): Promise<void> => {
      const { personId } = await makeViewer();
      await lookOn(value, () => cookieFor(database, personId));
    },
    'Streams of everybody': async (value: number): Promise<void> => {
      await take(value - 1);
      await lookOn(1, async () => (await makeViewer()).cookie);
    },
  };
};
