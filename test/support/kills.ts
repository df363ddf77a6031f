import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../src/runtime/start_service.ts';
import type { testWorld } from './world.ts';

type World = Pick<ReturnType<typeof testWorld>, 'start'>;

/** Keeps two workers alive and kills one of them again and again, at moments that nobody chose. */
export const killAgainAndAgain = async (
  world: World,
  { kills, afterMs }: { kills: number; afterMs: [min: number, max: number] },
): Promise<void> => {
  const alive: Service[] = await Promise.all([world.start('worker'), world.start('worker')]);
  for (let kill = 0; kill < kills; kill += 1) {
    await wait(randomInt(...afterMs));
    const [doomed] = alive.splice(randomInt(2), 1);
    await doomed?.stop('SIGKILL');
    alive.push(await world.start('worker'));
  }
};
