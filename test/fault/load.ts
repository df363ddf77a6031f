import { setTimeout as wait } from 'node:timers/promises';
import type { NewProject } from '../../src/projects/projects.ts';
import { Client } from './client.ts';
import { Decisions } from './decisions.ts';
import type { Journal, Role } from './journal.ts';
import type { Random } from './random.ts';
import type { Site } from './site.ts';
import { Story } from './story.ts';

const LANES = 6;
const PAUSE_MS = 120;
/** How long the last requests may go on asking when no new ones are made. */
const FINISH_MS = 60_000;
const ROLES: readonly Role[] = ['plain', 'plain', 'linked', 'linked', 'manual', 'told', 'erased'];
/** What the lanes begin with, so that however short a run is, each kind of story is told in it. */
const FIRST: readonly Role[] = ['linked', 'manual', 'told', 'erased'];

export type Load = { stop: () => Promise<void> };

/** People who do things, some at a time, until it is stopped; what they do follows from the seed. */
export const startLoad = (site: Site, journal: Journal, random: Random): Load => {
  const [stop, giveUp] = [new AbortController(), new AbortController()];
  const projects: NewProject[] = Object.values(site.projects);
  const lane = async (number: number, own: Random): Promise<void> => {
    const client = new Client(site, journal, own.fork(), giveUp.signal);
    for (let at = 0; !stop.signal.aborted; at += 1) {
      const project = own.pick(projects);
      const within = { client, journal, project, random: own.fork() };
      const { owner, relays, secrets } = site;
      const provider = relays.providers.calm;
      const decisions = new Decisions({ ...within, owner, provider, secrets });
      const isClockOff = () => performance.now() < site.clockOffUntil;
      const story = new Story({ ...within, decisions, isClockOff });
      const first = at === 0 ? FIRST[number] : undefined;
      const name = `${number}x${at}`;
      const steps = first ? story.plan(name, first, true) : story.plan(name, own.pick(ROLES));
      for (const step of steps) {
        await step();
        await wait(own.between(0, PAUSE_MS));
        if (giveUp.signal.aborted) return;
      }
    }
  };
  const lanes = Array.from({ length: LANES }, (_, number) => lane(number, random.fork()));
  return {
    stop: async () => {
      stop.abort();
      const timer = setTimeout(() => giveUp.abort(), FINISH_MS);
      await Promise.all(lanes);
      clearTimeout(timer);
    },
  };
};
