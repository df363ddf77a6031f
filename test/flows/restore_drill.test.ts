// A backup is restored: nothing goes out until somebody says so, nothing goes out twice, and the erased stay erased.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { Service } from '../../src/runtime/start_service.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { askService } from '../support/ask_service.ts';
import { copyDatabase, dumpWith, findDump } from '../support/backup.ts';
import type { Make } from '../support/backup.ts';
import { runCommand } from '../support/run_command.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const FOLDER = mkdtempSync(join(tmpdir(), 'trunkline-drill-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

const major = async (): Promise<number> => {
  const client = new pg.Client({ connectionString: inject('serverUrl') });
  await client.connect();
  const { rows } = await client.query<{ major: number }>(
    `select current_setting('server_version_num')::integer / 10000 as major`,
  );
  await client.end();
  return rows[0]!.major;
};
const dumps = findDump(await major());
if (!dumps) console.log('The drill with pg_dump is left out: no pg_dump here knows this server.');

const isTo =
  (person: string) =>
  ({ to }: { to: string[] }): boolean =>
    to.includes(addressOf(person));

const openDrill = (world: World) => {
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(world.url, async (client) => (await client.query<Row>(text, values)).rows);
  const call = async (service: Service, method: string, path: string, body?: object) => {
    const asked = { key: world.project.server_key, body };
    const answer = await askService(service, method, path, asked);
    expect(answer.status).toBeLessThan(300);
    return answer.body as { items?: { id: string }[] };
  };
  const signUp = (service: Service, person: string) =>
    call(service, 'POST', '/v1/events', signUpOf(person));
  const mailsTo = (person: string): number =>
    world.sink.mails.filter(({ to }) => to[0] === addressOf(person)).length;
  const isMailed = (person: string) => until(`${person} is mailed`, () => mailsTo(person) === 1);
  const make = (command: string, ...args: string[]) => {
    const ran = runCommand('src/runtime/resume_sending.ts', [command, ...args], world.env);
    expect(ran.stderr).toBe('');
    return ran.stdout;
  };
  const ledger = (command: string) =>
    runCommand('src/runtime/erasures.ts', [command, join(FOLDER, 'ledger.jsonl')], world.env);
  return { ask, call, signUp, mailsTo, isMailed, make, ledger };
};

/** Runs stand before their mail for a day; whoever waits there is mailed when the day is over. */
const delayWelcome = `
  update automations.versions set definition = definition || jsonb_build_object(
    'entry', 'day', 'steps', definition -> 'steps' || jsonb_build_object(
      'day', jsonb_build_object('kind', 'delay', 'duration', 'P1D', 'next', definition -> 'entry')))`;

const A_DAY_PASSES = `
  update automations.runs set wake_at = wake_at - interval '1 day', waits_until = waits_until - interval '1 day'
  where status = 'active'`;

const kinds: [string, Make][] = [['a copy of the database', copyDatabase]];
if (dumps !== null) kinds.push(['pg_dump and pg_restore', dumpWith(dumps)]);

describe.each(kinds)('with %s', (_how, makeBackup) => {
  const world = testWorld();

  test(
    'nothing goes out until it is confirmed, nothing twice, and the erased stay erased',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const { ask, call, signUp, mailsTo, isMailed, make, ledger } = openDrill(world);

      // Before the backup: one is mailed, one waits for mail, one is waited for by a relay, one is not looked at yet.
      let service = await world.start('all');
      await signUp(service, 'mailed');
      await isMailed('mailed');
      world.sink.play('rcpt', { code: 451 }, { times: 1, when: isTo('queued') });
      await signUp(service, 'queued');
      await until('its relay was asked', async () => {
        const [row] = await ask<{ count: number }>(
          `select count(*)::integer as count from delivery.sends where attempt_count > 0 and status = 'queued'`,
        );
        return row!.count === 1;
      });
      await service.stop();
      await ask(delayWelcome);
      service = await world.start('all');
      await signUp(service, 'delayed');
      await until('somebody waits', async () => {
        const rows = await ask(`select from automations.runs where status = 'active'`);
        return rows.length === 1;
      });
      await service.stop();
      service = await world.start('api');
      await signUp(service, 'pending');
      await service.stop();
      const backup = await makeBackup(world.url);

      // After it: everybody is mailed, somebody new too, and one of them is erased.
      await ask(
        `update delivery.sends set due_at = now() - interval '1 ms' where status = 'queued'`,
      );
      service = await world.start('all');
      await until('the pending event is looked at', async () => {
        const rows = await ask(`select from automations.runs where status = 'active'`);
        return rows.length === 2;
      });
      await ask(A_DAY_PASSES);
      for (const person of ['queued', 'delayed', 'pending']) await isMailed(person);
      const { items } = await call(service, 'GET', '/v1/profiles?external_id=mailed');
      await call(service, 'POST', `/v1/profiles/${items![0]!.id}/erase`, {});
      await until('somebody is erased', async () => {
        const rows = await ask(`select from profiles.erasures where status = 'done'`);
        return rows.length === 1;
      });
      expect(ledger('export').status).toBe(0);
      await service.stop();

      await backup.restore();
      await ask(
        `update delivery.sends set due_at = now() - interval '1 ms' where status = 'queued'`,
      );
      service = await world.start('all');
      expect(ledger('replay').stdout).toContain('1 of 1 erasures');
      await until('the pending event is looked at again', async () => {
        const rows = await ask(`select from automations.runs where status = 'active'`);
        return rows.length === 2;
      });
      await ask(A_DAY_PASSES);
      const mails = world.sink.mails.length;
      await signUp(service, 'new');
      await until('somebody new waits', async () => {
        const rows = await ask(`select from automations.runs where status = 'active'`);
        return rows.length === 3;
      });
      expect(world.sink.mails).toHaveLength(mails);

      expect(make('resume')).toContain('1 sends that waited are unknown now');
      await until('whoever was overdue has left', async () => {
        const rows = await ask(`select from automations.runs where status = 'active'`);
        return rows.length === 1;
      });
      await ask(A_DAY_PASSES);
      await isMailed('new');
      for (const person of ['mailed', 'queued', 'delayed', 'pending'])
        expect([person, mailsTo(person)]).toEqual([person, 1]);
      const left = await ask(`select from identity.identities where value = 'mailed'`);
      expect(left).toEqual([]);
      expect(make('resume')).toBe('Sending is not held: there is nothing to resume.\n');
      await service.stop();
    },
  );
});
